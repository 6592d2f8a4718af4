"""The triggers of the Functions app. Each body is one call; settings are read inside it, since an
exception while this file is imported shows up as an app without functions."""

import azure.functions as func

app = func.FunctionApp()


# Without monitor, the host keeps no record of the schedule: it would only make up for missed
# minutes, and the watermark in the state does that better.
@app.timer_trigger(arg_name="timer", schedule="%TOKENWATCH_SCHEDULE%", use_monitor=False)
def judge(timer: func.TimerRequest) -> None:  # noqa: ARG001  the binding wants it
    """Once a minute: judge what is settled, deliver what is to be told.

    The timer may come late, twice or not at all: the watermark in the state decides what is due.
    """
    from shared.deployed import run_tick

    run_tick()


@app.route(route="changes", methods=["POST"], auth_level=func.AuthLevel.FUNCTION)
def changes(req: func.HttpRequest) -> func.HttpResponse:
    """A pipeline records a change that it rolls out, so that what follows is put down to it."""
    from shared.deployed import record_change

    return record_change(req)


# Load balancers and monitors hold no keys; what it shows is no secret.
@app.route(route="health", methods=["GET"], auth_level=func.AuthLevel.ANONYMOUS)
def health(req: func.HttpRequest) -> func.HttpResponse:  # noqa: ARG001  the binding wants it
    """Whether every account is judged; 503 if not, for whoever watches the watchdog."""
    from shared.deployed import show_health

    return show_health()
