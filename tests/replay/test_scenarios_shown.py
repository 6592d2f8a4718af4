"""What a rule author sees: `tokenwatch test` in a process of its own, its table, its JUnit XML."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from replay.scenariojunit import write_junit
from replay.scenariospec import json_schema
from shared.rulebook.yamlfile import read_yaml
from tests.cli.process import Ended, called, tokenwatch
from tests.replay.written import ROOT, outcome, rule, rulebook

FOLDER = ROOT / "rules" / "tests"
PASSING = """
scenarios:
  - name: slow for a while
    rule: Slow
    series:
      requests: 20
      ttlt: 4s x5, 30s x5, 4s x10
    expect: {7m: fired, 13m: resolved}
"""
FAILING = """
  - name: slow too late & <odd>
    rule: Slow
    series:
      requests: 20
      ttlt: 4s x60, 30s x5, 4s x60
    expect: {30m: clear, 66m..70m: fired, always: clear}
"""


def proved(tmp_path: Path, scenarios: str, *arguments: str) -> Ended:
    """`tokenwatch test` of some scenarios over the rule Slow."""
    folder = tmp_path / "rules"
    rulebook(folder, rule())
    (folder / "tests").mkdir(exist_ok=True)
    (folder / "tests" / "slow.yaml").write_text(scenarios, encoding="utf-8")
    return ran(tmp_path, "rules", *arguments)


def ran(tmp_path: Path, *arguments: str) -> Ended:
    with chdir(tmp_path):
        return called("test", *arguments)


def test_the_command_explains_itself() -> None:
    """`--help` says what a scenario is for, and which exit codes there are."""
    shown = called("test", "--help").out
    assert "Exit code 0 when all pass, 1 when not, 2" in " ".join(shown.split())


def test_what_passes_is_one_line_and_a_summary(tmp_path: Path) -> None:
    """A scenario that passes is told in a line; the exit code is 0."""
    found = proved(tmp_path, PASSING)
    assert found.out.splitlines() == ["✓ Slow  slow for a while", "1 scenario, 1 passed"]
    assert (found.code, found.err) == (0, "")


TABLE = """\
✗ Slow  slow too late & <odd>  rules/tests/slow.yaml:10
  60m..64m was breach, expected clear
  62m told fired, which is not expected
  66m..70m did not tell fired
  68m told resolved, recovered, which is not expected

   minute     requests  ttlt  ttlt > 10 s  verdict    state      told                 expected
   0m..29m          20   4 s    4 s in 1m  clear      inactive
   30m              20   4 s    4 s in 1m  clear      inactive                        clear
   31m..59m         20   4 s    4 s in 1m  clear      inactive
✗  60m..61m         20  30 s   30 s in 1m  breach     pending                         clear
✗  62m              20  30 s   30 s in 1m  breach     firing     fired                clear
✗  63m..64m         20  30 s   30 s in 1m  breach     firing                          clear
   65m              20   4 s    4 s in 1m  clear      firing
✗  66m..67m         20   4 s    4 s in 1m  clear      firing                          fired (66m..70m)
✗  68m              20   4 s    4 s in 1m  clear      inactive   resolved, recovered  fired (66m..70m)
✗  69m..70m         20   4 s    4 s in 1m  clear      inactive                        fired (66m..70m)
   71m..124m        20   4 s    4 s in 1m  clear      inactive

2 scenarios, 1 passed, 1 failed
"""  # noqa: E501


def test_what_fails_is_shown_minute_by_minute(tmp_path: Path) -> None:
    """Series, what the rule saw, verdict, state, events and expectations stand side by side."""
    found = proved(tmp_path, PASSING + FAILING)
    assert found.code == 1
    assert found.out == "✓ Slow  slow for a while\n" + TABLE


def test_rows_that_tell_nothing_are_left_out(tmp_path: Path) -> None:
    """Of a long scenario only what is near an expectation, an event or a miss is shown."""
    text = """
  - name: up and down
    rule: Slow
    series:
      requests: 20
      ttlt: (4s x5, 9s x5) x12, 30s x3, (4s x5, 9s x5) x12
    expect: {125m: firing}
"""
    shown = proved(tmp_path, "scenarios:" + text).out.splitlines()
    assert sum("⋮" in line for line in shown) == 2
    assert len(shown) < 25


def test_one_column_has_what_varies_in_a_row(tmp_path: Path) -> None:
    """A ramp is shown from its first to its last value, no points as a dash, counts are bare."""
    text = """
  - name: rising
    rule: Slow
    series:
      requests: 2k x20
      ttlt: 1s..9s x10, _ x10
    expect: {9m: clear, 15m..end: clear}
"""
    shown = proved(tmp_path, "scenarios:" + text).out
    assert "0m..8m       2,000  1 s..8.1 s  1 s..8.1 s in 1m  clear" in shown
    assert "15m..19m     2,000           –           – in 1m  unknown, no data" in shown
    assert "15m..19m was unknown, no data, expected clear" in shown


def test_only_those_that_are_named_run(tmp_path: Path) -> None:
    """-k finds a part of a name or of a rule's name, without case; nothing found is exit code 2."""
    found = proved(tmp_path, PASSING + FAILING, "-k", "For A")
    assert found.out.splitlines()[-1] == "1 scenario, 1 passed"
    none = ran(tmp_path, "rules", "-k", "nothing")
    assert none.code == 2
    assert none.err.startswith("error: no scenario in rules/tests has 'nothing' in its name")


@pytest.mark.parametrize(
    ("scenarios", "words"),
    [
        ("scenarios: []\n", "no scenario in rules/tests"),
        (PASSING.replace("Slow", "Slo"), "rules/tests/slow.yaml:4:11: error: scenario 'slow for"),
    ],
)
def test_nothing_to_run_or_unreadable_is_exit_code_2(
    tmp_path: Path, scenarios: str, words: str
) -> None:
    """What is wrong is told on stderr, and nothing runs."""
    found = proved(tmp_path, scenarios)
    assert (found.code, found.out) == (2, "")
    assert words in found.err


def test_broken_rules_are_not_tested(tmp_path: Path) -> None:
    """Errors of the rules come first, with their places."""
    proved(tmp_path, PASSING)
    (tmp_path / "rules" / "bad.yaml").write_text("rules: [{name: Bad}]\n", encoding="utf-8")
    found = ran(tmp_path, "rules/tests/slow.yaml")
    assert found.code == 2
    assert "rules/bad.yaml:1:9: error: rule Bad has no when" in found.err
    assert found.err.splitlines()[-1] == "error: rules with errors cannot be tested"


def test_a_place_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A wrong path is exit code 2 with what to write."""
    found = ran(tmp_path, "nowhere.yaml")
    assert found.code == 2
    assert "there is no nowhere.yaml; name a file of scenarios" in found.err


def test_junit_xml_has_suites_cases_and_the_table(tmp_path: Path) -> None:
    """A suite a file, a case a scenario; a failure holds the misses and the table, escaped."""
    found = proved(tmp_path, PASSING + FAILING, "--junit", "out/junit.xml")
    assert found.code == 1
    root = ElementTree.parse(tmp_path / "out" / "junit.xml").getroot()
    counts = {"tests": "2", "failures": "1", "errors": "0"}
    assert root.tag == "testsuites"
    assert counts.items() <= root.attrib.items()
    (suite,) = root
    assert suite.attrib.items() >= {**counts, "name": "rules/tests/slow.yaml"}.items()
    good, bad = suite
    assert good.attrib.items() >= {"classname": "Slow", "name": "slow for a while"}.items()
    assert (len(good), bad.get("file"), bad.get("line")) == (0, "rules/tests/slow.yaml", "10")
    whole = sum(float(case.get("time", "")) for case in suite)
    assert whole == pytest.approx(float(suite.get("time", "")), abs=0.002)
    failure = bad.find("failure")
    assert failure is not None
    assert failure.get("message", "").startswith("60m..64m was breach, expected clear; 62m told")
    assert "✗  60m..61m" in (failure.text or "")


def test_junit_xml_names_what_cannot_be_read(tmp_path: Path) -> None:
    """Errors of a file are cases in error, so that a pull request shows them."""
    found = proved(tmp_path, PASSING.replace("Slow", "Slo"), "--junit", "junit.xml")
    assert found.code == 2
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    (case,) = suite
    assert suite.get("errors") == "1"
    error = case.find("error")
    assert error is not None
    assert "Did you mean Slow?" in (error.text or "")


def test_junit_xml_holds_no_character_that_xml_cannot(tmp_path: Path) -> None:
    """Control characters, which a quoted name may have, become question marks."""
    text = PASSING.replace("scenarios:\n", "").replace(
        "slow for a while", r'"a \0 \e \ud800 \uffff"'
    )
    text = text.replace(r"\ud800 ", "")
    found = outcome(tmp_path, text, rulebook(tmp_path, rule()))
    write_junit(tmp_path / "junit.xml", [(found, 0.5, "\x00 table")])
    (suite,) = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert suite[0].get("name") == "a ? ? ?"


def test_the_schema_of_scenarios_is_up_to_date() -> None:
    """rules/tests/schema.json is what `tokenwatch test --schema` prints."""
    stored = (FOLDER / "schema.json").read_text(encoding="utf-8")
    assert tokenwatch("test", "--schema").stdout == stored
    assert json.loads(stored) == json_schema()


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_shipped_files_fit_the_schema(path: Path) -> None:
    """An editor finds nothing wrong with the files that come with the product."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# yaml-language-server: $schema=schema.json\n")
    jsonschema.validate(read_yaml(path.name, text).tree, json_schema())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("rule:", "ruel:"),
        ("    rule: Slow\n", ""),
        ("expect: {7m", "changes: [{kind: prompt, at: 3m}]\n    expect: {7m"),
        ("requests: 20", "requests: [20]"),
        ("expect: {7m", "history: some\n    expect: {7m"),
    ],
)
def test_the_schema_finds_what_is_wrong(old: str, new: str) -> None:
    """Unknown keys, missing ones and values of the wrong kind are refused by an editor as well."""
    jsonschema.validate(read_yaml("x", PASSING).tree, json_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(read_yaml("x", PASSING.replace(old, new)).tree, json_schema())
