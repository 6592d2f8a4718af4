"""A folder of rule files: all that is wrong at once, each at its place, and what still works."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.model import Account, Deployment
from shared.rulebook.catalogue import REPLACEMENTS, catalogue
from shared.rulebook.load import load
from shared.rulebook.problems import Mark
from shared.rulebook.rules import Hold
from tests.rulebook.files import RULE, SIGNALS, folder, only, the_rule, with_keys, with_signal


def test_a_short_rule_has_the_documented_defaults(tmp_path: Path) -> None:
    """Name, condition, severity, owner, summary and runbook are enough."""
    rule = the_rule(folder(tmp_path, own=RULE))
    assert (rule.shortest, rule.longest, rule.hold) == (5, 5, Hold(minutes=5))
    assert (rule.keep_firing, rule.mode, rule.needs, rule.until) == (10, "notify", None, None)
    assert rule.mark == Mark("rules/own.yaml", 2, 5)


@pytest.mark.parametrize(
    ("text", "hold"),
    [
        ("5m", Hold(minutes=5)),
        ("0", Hold()),
        ("1h", Hold(minutes=60)),
        ("3 of 5", Hold(breaches=3, among=5)),
        ("1 of 1", Hold(breaches=1, among=1)),
    ],
)
def test_how_long_a_breach_must_hold(tmp_path: Path, text: str, hold: Hold) -> None:
    """`for` is a duration, nothing at all, or n of m known minutes."""
    assert the_rule(folder(tmp_path, own=with_keys(f"for: {text}"))).hold == hold


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("for: 0 of 5", "n of m needs"),
        ("for: 6 of 5", "n of m needs"),
        ("for: 3 of 61", "n of m needs"),
        ("for: soon", "is no duration"),
        ("for: 5", "is no duration"),
        ("for: 90s", "not a whole number of minutes"),
        ("keep_firing_for: 5%", "is no duration"),
        ("over: 0m", "a window lasts from 1 to 60 minutes"),
        ("over: 61m", "a window lasts from 1 to 60 minutes"),
        ("over: 30m..10m", "a window grows from its shortest to its longest"),
        ("over: ..10m", "is no window"),
        ("over: 10m..30m", "a window that grows needs to know when it is long enough"),
        ("mode: watch", "mode of rule Slow: 'watch' is not notify or observe"),
        ("needs: requests", "needs of Slow: a value stands where a condition is wanted"),
        ("until: rate", "until of Slow: a value stands where a condition is wanted"),
        ("parameters: {limit: fast}", "is no number like"),
        ("parameters: {ttlt: 5s}", "parameter ttlt has the name of a signal"),
        ("scope: {accounts: acc}", "accounts of scope of rule Slow: must be a list"),
        ("scope: {deployment: [x]}", "unknown key 'deployment' in scope of rule Slow"),
    ],
)
def test_each_key_is_checked_at_its_place(tmp_path: Path, line: str, part: str) -> None:
    """A wrong value is named in the line that holds it."""
    problem = only(folder(tmp_path, own=with_keys(line)))
    assert part in problem.message
    assert problem.mark.line == 8


def test_all_errors_are_told_at_once_each_at_its_place(tmp_path: Path) -> None:
    """Every mistake of every file is told in one go, with its line, column and cure."""
    book = folder(
        tmp_path,
        a=with_keys("for: 5", "ovr: 5m", "needs: requests >= 5s", "until: tlt < 8s"),
        b="rules:\n  - name: low\n    when: rate < 95\n    severity: bad\n",
        c=with_signal("more: {metric: Latency, aggregation: average, unit: ms}").replace(
            SIGNALS, "signals:\n"
        ),
    )
    found = {
        (problem.mark.file, problem.mark.line, problem.mark.column): problem.message
        for problem in book.problems
    }
    assert {place: text.split(":")[0] for place, text in found.items()} == {
        ("rules/a.yaml", 8, 10): "Slow",
        ("rules/a.yaml", 9, 5): "unknown key 'ovr' in rule Slow",
        ("rules/a.yaml", 10, 12): "needs of Slow",
        ("rules/a.yaml", 11, 12): "until of Slow",
        ("rules/b.yaml", 2, 5): found["rules/b.yaml", 2, 5],
        ("rules/b.yaml", 2, 11): "name of rule low",
        ("rules/b.yaml", 3, 11): "when of this rule",
        ("rules/b.yaml", 4, 15): "severity of rule low",
        ("rules/c.yaml", 2, 18): "signal more",
    }
    assert {problem.message for problem in book.problems if problem.mark.line == 2} >= {
        "rule low has no owner",
        "rule low has no summary",
        "rule low has no runbook",
    }
    assert not book.rules


def test_an_error_inside_an_expression_has_its_own_column(tmp_path: Path) -> None:
    """The column of an expression's error is that of the word in the file."""
    rule = RULE.replace("when: ttlt > 10s", "when: requests > 1 and tlt > 10s")
    problem = only(folder(tmp_path, own=rule))
    assert problem.mark == Mark("rules/own.yaml", 3, 11 + len("requests > 1 and "))
    assert problem.cure == "Did you mean ttlt?"


def test_an_error_in_the_summary_has_its_own_column(tmp_path: Path) -> None:
    """What a summary cannot fill in is named where its braces stand."""
    problem = only(folder(tmp_path, own=RULE.replace("{ttlt}", "{tlt}")))
    assert problem.mark == Mark("rules/own.yaml", 6, 15 + len("Answers take {"))
    assert problem.message == "summary of Slow: unknown signal tlt"


def test_an_error_reads_like_a_compilers(tmp_path: Path) -> None:
    """A problem is shown as file, line, column, what is wrong, and below it the cure."""
    problem = only(folder(tmp_path, own=with_keys("ovr: 5m")))
    expected = "rules/own.yaml:8:5: error: unknown key 'ovr' in rule Slow\n    Did you mean over?"
    assert str(problem) == expected


@pytest.mark.parametrize("key", ["owner", "runbook", "severity", "summary", "when", "name"])
def test_what_every_rule_needs_is_asked_for(tmp_path: Path, key: str) -> None:
    """A rule without one of the six necessary keys, or with an empty one, is refused."""
    text = RULE.replace("  - name: Slow\n", "  - mode: notify\n    name: Slow\n")
    lines = [line for line in text.splitlines() if not line.strip().startswith(key)]
    book = folder(tmp_path, own="\n".join(lines))
    assert any(f"has no {key}" in problem.message for problem in book.errors)
    assert not book.rules


@pytest.mark.parametrize("key", ["owner", "runbook", "severity", "summary", "when"])
def test_an_empty_value_is_as_good_as_none(tmp_path: Path, key: str) -> None:
    """A key that is written but left empty is an error of its own line."""
    book = folder(tmp_path, own=with_keys(f"{key}:", without=key))
    assert any(f"{key} of rule Slow" in problem.message for problem in book.errors)
    assert not book.rules


def test_a_broken_file_costs_its_own_rules_only(tmp_path: Path) -> None:
    """The rules of whole files are judged although another file is no YAML at all."""
    other = RULE.replace("Slow", "Other")
    book = folder(tmp_path, good=RULE, bad=other + " oops:\n", worse="rules: [")
    assert [rule.name for rule in book.rules] == ["Slow"]
    assert {problem.mark.file for problem in book.errors} == {"rules/bad.yaml", "rules/worse.yaml"}


def test_a_broken_rule_costs_itself_only(tmp_path: Path) -> None:
    """The other rules of a file are judged although one is wrong."""
    second = RULE.replace("rules:\n", "").replace("Slow", "Other").replace("10s", "10")
    book = folder(tmp_path, own=RULE + second)
    assert [rule.name for rule in book.rules] == ["Slow"]
    assert only(book).mark.line == 9


def test_a_broken_signal_costs_what_needs_it_only(tmp_path: Path) -> None:
    """A wrong signal takes along the formulas and rules over it, and nothing else."""
    signals = SIGNALS.replace("GeneratedTokens", "GeneratedToken") + (
        "  each: {formula: tokens / ok, unit: tokens/request}\n"
        "  more: {formula: each * 2, unit: tokens/request}\n"
    )
    book = folder(tmp_path, signals=signals, own=RULE)
    assert only(book).cure == "Did you mean GeneratedTokens?"
    assert set(book.signals) == {"requests", "ok", "ttlt", "rate", "hits"}
    assert [rule.name for rule in book.rules] == ["Slow"]


@pytest.mark.parametrize(
    "broken", ["signals: [", "\x07", "signals: [a]\n", "signal:\n  x: {unit: ms}\n", "signals: x\n"]
)
def test_signals_in_a_broken_file_are_not_called_unknown(tmp_path: Path, broken: str) -> None:
    """While a file cannot be read its own error is told, and not that its signals are unknown."""
    rule = with_keys("needs: requests >= 5", "until: ttlt < 8s")
    problem = only(folder(tmp_path, signals=broken, own=rule))
    assert problem.mark.file == "rules/signals.yaml"
    assert problem.cure


def test_a_rule_in_a_broken_file_is_not_called_missing(tmp_path: Path) -> None:
    """While a file cannot be read, `unless` may name a rule that is in it."""
    book = folder(tmp_path, own=with_keys("unless: [Other]"), other="rules: [")
    assert only(book).mark.file == "rules/other.yaml"
    assert [rule.unless for rule in book.rules] == [("Other",)]
    assert [rule.name for rule in book.judged] == ["Slow"]


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    """A file that is not UTF-8, or a folder called like one, costs itself only."""
    folder(tmp_path, own=RULE)
    (tmp_path / "rules" / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "rules" / "folder.yaml").mkdir()
    book = load(tmp_path / "rules")
    assert [rule.name for rule in book.rules] == ["Slow"]
    assert {problem.mark.file for problem in book.errors} == {
        "rules/bytes.yaml",
        "rules/folder.yaml",
    }


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("rule:\n  - name: A\n", "unknown key 'rule'"),
        ("- name: A\n", "a rule file is a mapping"),
        ("rules: Slow\n", "rules must be a list"),
        ("rules: {name: Slow}\n", "rules must be a list"),
        ("signals: [ttlt]\n", "signals must be a mapping"),
        ("rules: [Slow]\n", "rule number 1 must be a mapping"),
        ("signals: {x: y}\n", "signal x must be a mapping"),
    ],
)
def test_a_file_of_the_wrong_shape_is_named(tmp_path: Path, text: str, part: str) -> None:
    """A file holds signals and rules, each in its shape, and nothing else."""
    assert part in only(folder(tmp_path, own=text)).message


def test_empty_sections_are_no_errors(tmp_path: Path) -> None:
    """A file may hold empty sections or nothing at all."""
    assert not folder(tmp_path, own=RULE, one="rules:\nsignals:\n", none="# later\n").problems


def test_a_rule_that_is_defined_twice_is_refused(tmp_path: Path) -> None:
    """The second rule of a name is named with the place of the first, which counts."""
    book = folder(tmp_path, a=RULE, b=RULE.replace("10s", "20s"))
    problem = only(book)
    assert problem.mark == Mark("rules/b.yaml", 2, 11)
    assert problem.message == "rule Slow is defined twice"
    assert problem.cure == "The first stands in rules/a.yaml, line 2."
    assert len(book.rules) == 1


def test_a_signal_that_is_defined_twice_is_refused(tmp_path: Path) -> None:
    """The second signal of a name is named with the place of the first."""
    again = "signals:\n  ttlt: {metric: AzureOpenAITTLTInMS, aggregation: maximum, unit: ms}\n"
    problem = only(folder(tmp_path, zz=again))
    assert (problem.mark.file, problem.mark.line) == ("rules/zz.yaml", 2)
    assert problem.cure == "The first stands in rules/signals.yaml, line 4."


def test_a_rulebook_without_traffic_judges_nothing(tmp_path: Path) -> None:
    """Without the signal `requests` an idle deployment cannot be told from a silent metric."""
    signals = "signals:\n  ttlt: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: ms}\n"
    book = folder(tmp_path, signals=signals, own=RULE)
    assert "no signal requests" in only(book).message
    assert not book.rules


@pytest.mark.parametrize(
    ("line", "part", "cure"),
    [
        ("x: {unit: ms}", "needs either a metric or a formula", "Write one of the two."),
        ("x: {metric: AzureOpenAITTLTInMS, formula: ok, unit: ms}", "either a metric or",
         "Write one of the two."),
        ("x: {metric: AzureOpenAITTLTInM, aggregation: average, unit: ms}",
         "unknown metric AzureOpenAITTLTInM", "Did you mean AzureOpenAITTLTInMS?"),
        ("x: {metric: AzureOpenAITTLTInMS, unit: ms}", "does not offer no aggregation",
         "It has: minimum, maximum, average."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: mean, unit: ms}",
         "'mean' is not one of average, total, maximum or minimum",
         "Write average, total, maximum or minimum."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: s}",
         "is not measured in s", "Write unit: ms."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: requests}",
         "is not measured in requests", "Write unit: ms."),
        ("x: {metric: GeneratedTokens, aggregation: total, unit: '%'}", "is not measured in %",
         "Write unit: tokens."),
        ("x: {metric: GeneratedTokens, aggregation: total, unit: 10s}", "'10s' is no unit",
         "Use ms, s, %, 1, a count (calls, events, images, pages, requests, tokens), or a rate "
         "such as tokens/request."),
        ("x: {metric: GeneratedTokens, aggregation: total, weight: ok, unit: tokens}",
         "total values are not weighted", "Leave it out."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: okk, unit: ms}",
         "okk is no total to weigh by", "Did you mean ok?"),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: hits, unit: ms}",
         "hits is no total to weigh by", "Weigh by a total, e.g. weight: successful_requests."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: rate, unit: ms}",
         "rate is no total to weigh by", "Weigh by a total, e.g. weight: successful_requests."),
        ("x: {metric: AzureOpenAITTLTInMS, aggregation: average, unit: ms, "
         'where: {StatusCode: "429"}}', "has no dimension StatusCode",
         "It has: Region, ModelDeploymentName, ModelName, ModelVersion, ServiceTierRequest, "
         "ServiceTierResponse."),
        ("x: {formula: tokens / ok, unit: tokens}", "the formula gives tokens/request, not tokens",
         "Declare unit: tokens/request."),
        ("x: {formula: ok / requests, unit: ms}", "the formula gives a bare number, not ms",
         'Declare unit: 1, or unit: "%".'),
        ("x: {formula: ok / request, unit: '%'}", "unknown signal request",
         "Did you mean requests?"),
        ("x: {formula: ok > 5, unit: 1}", "a condition stands where a value is wanted",
         "Leave the comparison out."),
        ("x: {formula: 'max(ok, 5m)', unit: requests}", "a formula is of signals, numbers and",
         "Use functions in the rule instead."),
        ("x: {formula: baseline(ttlt), unit: ms}", "a formula is of signals, numbers and",
         "Use functions in the rule instead."),
        ("x: {formula: ok, aggregation: total, unit: requests}",
         "a formula has no aggregation", "Leave it out; its signals have it."),
        ("x: {formula: ok, weight: ok, unit: requests}", "a formula has no weight",
         "Leave it out; its signals have it."),
        ("x: {formula: x + ok, unit: requests}", "the formula of x leads back to x",
         "Make one of the formulas of a circle from metrics."),
        ("x: {metric: ModelRequests, aggregation: total, unit: requests, unitt: x}",
         "unknown key 'unitt'", "Did you mean unit?"),
        ("x: {metric: GeneratedTokens, aggregation: total}", "has no unit",
         "The unit of its values, e.g. unit: ms."),
    ],
)  # fmt: skip
def test_each_signal_is_checked(tmp_path: Path, line: str, part: str, cure: str) -> None:
    """A signal names a metric that exists, as it exists, or a formula that makes sense."""
    problem = only(folder(tmp_path, signals=with_signal(line), own=RULE))
    assert part in problem.message
    assert problem.cure == cure
    assert problem.mark.line == 8


def test_formulas_that_lead_back_to_themselves_are_all_named(tmp_path: Path) -> None:
    """Every formula of a circle is named, and none of them is used."""
    circle = (
        "  a: {formula: b + 1, unit: requests}\n"
        "  b: {formula: c + 1, unit: requests}\n"
        "  c: {formula: a + ok, unit: requests}\n"
        "  d: {formula: a + ok, unit: requests}\n"
    )
    book = folder(tmp_path, signals=SIGNALS + circle, own=RULE)
    assert [problem.mark.line for problem in book.errors] == [8, 9, 10]
    assert not {"a", "b", "c", "d"} & set(book.signals)
    assert [rule.name for rule in book.rules] == ["Slow"]


def test_both_families_of_metrics_in_one_signal_are_refused(tmp_path: Path) -> None:
    """The two families count the same traffic, so a signal takes one; a rulebook may hold both."""
    newer = "new: {metric: ModelRequests, aggregation: total, unit: requests}"
    signals = with_signal(newer) + "  x: {formula: ok / new, unit: 1}\n"
    problem = only(folder(tmp_path, signals=signals))
    assert "mixes metrics of both families" in problem.message
    assert problem.mark.line == 9


def test_an_average_is_not_weighed_by_the_other_family(tmp_path: Path) -> None:
    """A weight is part of its signal, so it comes from the same family."""
    signals = (
        with_signal("new: {metric: ModelRequests, aggregation: total, unit: requests}")
        + "  x: {metric: AzureOpenAITTLTInMS, aggregation: average, weight: new, unit: ms}\n"
    )
    assert "mixes metrics of both families" in only(folder(tmp_path, signals=signals)).message


@pytest.mark.parametrize(
    ("when", "until", "reachable"),
    [
        ("ttlt > 10s", "ttlt < 8s", True),
        ("ttlt > 10s", "ttlt < 12s", True),
        ("ttlt > 10s", "ttlt > 12s", False),
        ("ttlt > 10s", "ttlt >= 12s", False),
        ("ttlt > 10s", "ttlt > 8s", True),
        ("rate < 95%", "rate >= 97%", True),
        ("rate < 95%", "rate < 90%", False),
        ("rate <= 95%", "rate < 95%", False),
        ("requests != 5", "requests == 5", True),
        ("requests == 0", "requests > 0", True),
    ],
)
def test_an_end_that_can_never_be_reached_is_refused(
    tmp_path: Path, when: str, until: str, reachable: bool
) -> None:
    """An `until` inside `when` would let no alert end."""
    text = with_keys(f"when: {when}", f"until: {until}", without="when")
    found = [p for p in folder(tmp_path, own=text).errors if "never be reached" in p.message]
    assert bool(found) is not reachable
    assert all(problem.mark.line == 8 for problem in found)


def test_what_depends_on_the_length_of_a_window_has_no_normal(tmp_path: Path) -> None:
    """A total grows with its window, so only quotients and averages have a baseline."""
    rule = with_keys("when: tokens > 2 * baseline(tokens)", without="when")
    assert "depends on the length of the window" in only(folder(tmp_path, own=rule)).message


@pytest.mark.parametrize(("name", "right"), [("requests", True), ("lost", True), ("ttlt", False)])
def test_only_totals_are_added_up(tmp_path: Path, name: str, right: bool) -> None:
    """sum() is of totals and of formulas that are totals, never of averages."""
    compared = "1s" if name == "ttlt" else "5"
    rule = with_keys(f"when: sum({name}, 15m) > {compared}", without="when")
    signals = with_signal("lost: {formula: requests - ok, unit: requests}")
    book = folder(tmp_path, signals=signals, own=rule)
    assert [p.message for p in book.problems] == (
        [] if right else [f"Slow: sum({name}) adds up values that are no totals"]
    )


def test_overrides_set_only_parameters_that_exist_in_their_unit(tmp_path: Path) -> None:
    """An override names a parameter of the rule and keeps to its unit."""
    book = folder(
        tmp_path,
        own=with_keys(
            "when: ttlt > limit",
            "parameters: {limit: 10s}",
            "overrides:",
            "  - {scope: {deployments: [a]}, parameters: {limt: 20s}}",
            "  - {scope: {deployments: [b]}, parameters: {limit: 5%}}",
            "  - {scope: {deployments: [c]}, parameters: {limit: slow}}",
            "  - {scope: {deployments: [d]}, parameters: {limit: 2m}}",
            without="when",
        ),
    )
    assert [(p.mark.line, p.message.split(": ", 1)[1], p.cure) for p in book.problems] == [
        (10, "the rule has no parameter limt", "Did you mean limit?"),
        (11, "limit is not measured in %", "Give it the unit that it has in the rule: 10s."),
        (
            12,
            "'slow' is no number like 5, 95%, 250ms, 10s, 15m, 1d, 2k or 1M",
            "Write a number with its unit, e.g. 10s.",
        ),
    ]


def test_the_last_override_that_covers_a_deployment_counts(tmp_path: Path) -> None:
    """Overrides are read from top to bottom and the last one that fits wins."""
    rule = the_rule(
        folder(
            tmp_path,
            own=with_keys(
                "when: ttlt > limit",
                "parameters: {limit: 10s}",
                "overrides:",
                "  - {scope: {deployments: [GPT*]}, parameters: {limit: 20s}}",
                "  - {scope: {accounts: [team-*], regions: ['!westus']}, parameters: {limit: 30s}}",
                without="when",
            ),
        )
    )

    def limit(account: str, region: str, name: str) -> float:
        place = Account(f"/subscriptions/s/accounts/{account}", region)
        return rule.parameter("limit", place, Deployment(place.id, name))

    assert limit("other", "westus", "chat") == 10_000
    assert limit("other", "westus", "gpt-4o") == 20_000
    assert limit("team-a", "eastus", "gpt-4o") == 30_000
    assert limit("team-a", "westus", "gpt-4o") == 20_000


def test_a17_an_aggregation_that_a_metric_does_not_have_is_refused(tmp_path: Path) -> None:
    """A total of percents or milliseconds is refused, with the aggregations that exist."""
    for metric, unit in (("AzureOpenAITTLTInMS", "ms"), ("AzureOpenAIAvailabilityRate", '"%"')):
        place = tmp_path / metric
        place.mkdir()
        line = f"x: {{metric: {metric}, aggregation: total, unit: {unit}}}"
        problem = only(folder(place, signals=with_signal(line)))
        assert problem.message == f"signal x: {metric} does not offer total"
        assert problem.cure == "It has: minimum, maximum, average."
        assert not problem.warning


@pytest.mark.parametrize("when", ["hits > 75%", "hits >= 75%", "requests >= 5 and hits > 75%"])
def test_a17_a_cache_rule_that_fires_while_the_cache_works_is_warned_of(
    tmp_path: Path, when: str
) -> None:
    """A rule that fires above 75 % of cache hits points the wrong way: a warning, no error."""
    book = folder(tmp_path, own=with_keys(f"when: {when}", without="when"))
    problem = only(book)
    assert problem.message == "Slow: it fires while hits is good (high)"
    assert problem.warning
    assert [rule.name for rule in book.rules] == ["Slow"]


@pytest.mark.parametrize(
    ("when", "warned"),
    [("rate > 99%", True), ("rate < 95%", False), ("ttlt < 1s", True), ("hits < 20%", False)],
)
def test_rules_that_point_the_wrong_way_are_warned_of(
    tmp_path: Path, when: str, warned: bool
) -> None:
    """What is good when high or low, by its metric or as declared, is not alarmed of when good."""
    book = folder(tmp_path, own=with_keys(f"when: {when}", without="when"))
    assert [problem.warning for problem in book.problems] == [True] * warned


def test_a24_a_rule_on_the_legacy_latency_is_refused(tmp_path: Path) -> None:
    """`Latency` measures something else, so it is refused and the right metric named."""
    line = "x: {metric: Latency, aggregation: average, unit: ms}"
    problem = only(folder(tmp_path, signals=with_signal(line), own=RULE))
    assert problem.message.startswith("signal x: Latency is not to be used for Azure OpenAI")
    assert problem.cure == "Use AzureOpenAITTLTInMS."
    assert problem.mark == Mark("rules/signals.yaml", 8, 15)


@pytest.mark.parametrize("metric", REPLACEMENTS)
def test_a24_every_metric_that_misleads_is_refused_with_its_replacement(
    tmp_path: Path, metric: str
) -> None:
    """No metric that misleads for Azure OpenAI gets into a rule, and each names a real one."""
    line = f"x: {{metric: {metric}, aggregation: total, unit: requests}}"
    problem = only(folder(tmp_path, signals=with_signal(line)))
    assert problem.cure == f"Use {REPLACEMENTS[metric]}."
    replacement = REPLACEMENTS[metric].split(",")[0].split(" ")[0]
    assert replacement in catalogue()
    assert replacement not in REPLACEMENTS


def test_metrics_of_projects_are_refused(tmp_path: Path) -> None:
    """What belongs to another kind of resource is not read yet, and said so."""
    name = next(metric.name for metric in catalogue().values() if metric.family == "Agents")
    line = f"x: {{metric: {name}, aggregation: total, unit: requests}}"
    book = folder(tmp_path, signals=with_signal(line))
    assert any("a metric of projects" in problem.message for problem in book.errors)


def test_a_runbook_that_is_not_written_is_warned_of(tmp_path: Path) -> None:
    """Where docs stand beside the rules, every runbook has to be among them."""
    (tmp_path / "docs" / "runbooks").mkdir(parents=True)
    problem = only(folder(tmp_path, own=RULE))
    assert problem.warning
    assert problem.message == "Slow: there is no page docs/runbooks/slow.md"
    (tmp_path / "docs" / "runbooks" / "slow.md").write_text("# Slow\n", encoding="utf-8")
    assert not load(tmp_path / "rules").problems


def test_a_summary_may_ask_more_than_the_condition(tmp_path: Path) -> None:
    """What only the summary compares with is fetched and fitted as well, but not waited for."""
    rule = the_rule(
        folder(
            tmp_path,
            own=RULE.replace("{ttlt}", "{ttlt}, yesterday {ago(ttlt, 1d)}, else {baseline(ttlt)}"),
        )
    )
    assert rule.fits == ()
    assert [node.signal for node in rule.asked] == ["ttlt"]
