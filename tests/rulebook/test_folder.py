"""Which files of the folder count, and what is said of the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.rulebook.load import load
from tests.rulebook.files import RULE, SIGNALS, folder, only, write


@pytest.mark.parametrize("name", ["routes.yaml", "notes.txt", "mine.yml"])
def test_a_folder_without_rule_files_is_an_error(tmp_path: Path, name: str) -> None:
    """A wrong folder is no empty rulebook; routes and silences are no rules."""
    (tmp_path / name).write_text("routes: []\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match="no rule files"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError, match="no rule files"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("rules", ["rules: []\n", "rules:\n", "# rules: later\n"])
def test_a_folder_of_signals_alone_is_an_error(tmp_path: Path, rules: str) -> None:
    """Files without a rule would be judged as good for ever, so they are none."""
    with pytest.raises(FileNotFoundError, match=r"no rules in .*, only signals or nothing: list"):
        folder(tmp_path, own=rules)


def test_files_that_would_hold_the_rules_are_named(tmp_path: Path) -> None:
    """Where there are no rules, the files that are passed over are the likely reason."""
    with pytest.raises(FileNotFoundError, match=r"only signals or nothing \(own.yml: not read\)"):
        write(tmp_path, {"signals.yaml": SIGNALS, "own.yml": RULE})
    with pytest.raises(FileNotFoundError, match=r"no rule files .* \(rules/own.yml, rules/signals"):
        load(tmp_path)


def test_what_is_broken_is_told_though_no_rule_is_left(tmp_path: Path) -> None:
    """Files with errors are no empty folder: their errors are told."""
    assert "not YAML" in only(folder(tmp_path, own="rules: [")).message


def test_a_rule_that_is_broken_is_no_missing_rule(tmp_path: Path) -> None:
    """A rule that cannot be used is told of, and not taken for none."""
    assert only(folder(tmp_path, own=RULE.replace("10s", "10"))).message


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("more.yml", "Rename it to more.yaml."),
        ("more.YAML", "Rename it to more.yaml."),
        ("routes.yml", "Rename it to routes.yaml."),
        ("team/more.yaml", "Move it up: files in folders below are not read."),
        ("team/a/more.yml", "Move it up: files in folders below are not read."),
    ],
)
def test_a_file_that_is_not_read_is_warned_of(tmp_path: Path, name: str, cure: str) -> None:
    """A file with another ending or in a folder below is named, with where it should be."""
    problem = only(write(tmp_path, {"signals.yaml": SIGNALS, "own.yaml": RULE, name: RULE}))
    assert (problem.message, problem.cure, problem.warning) == ("this file is not read", cure, True)
    assert problem.mark.file == f"rules/{name}"


@pytest.mark.parametrize("name", ["tests/one.yaml", "tests/a/two.yml", ".git/a.yaml", "notes.txt"])
def test_scenarios_and_what_is_hidden_are_passed_over_silently(tmp_path: Path, name: str) -> None:
    """The folder tests/ holds scenarios and no rules."""
    files = {"signals.yaml": SIGNALS, "own.yaml": RULE, name: "x"}
    assert not write(tmp_path, files).problems


def test_of_many_files_that_are_not_read_some_are_named(tmp_path: Path) -> None:
    """A folder that is no folder of rules is not listed in full."""
    files = {f"other/{n}.yaml": "" for n in range(50)}
    assert len(write(tmp_path, {"signals.yaml": SIGNALS, "own.yaml": RULE, **files}).problems) == 10
