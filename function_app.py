"""The triggers of the Functions app. Each body is one call; settings are read inside it, since an
exception while this file is imported shows up as an app without functions."""

import azure.functions as func

app = func.FunctionApp()


@app.timer_trigger(arg_name="timer", schedule="%TOKENWATCH_SCHEDULE%", use_monitor=False)
def judge(timer: func.TimerRequest) -> None:  # noqa: ARG001  the binding wants it
    """Once a minute: judge what is settled, deliver what is to be told.

    The timer may come late, twice or not at all: the watermark in the state decides what is due.
    """
    from shared.deployed import run_tick

    run_tick()
