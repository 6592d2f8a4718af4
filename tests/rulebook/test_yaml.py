"""YAML as rule files may use it: text only, every value at its place, nothing that explodes."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.rulebook.problems import Mark
from shared.rulebook.yamlfile import MAX_BYTES, MAX_DEPTH, MAX_NODES, YamlError, read_yaml


def refusal(text: str) -> YamlError:
    with pytest.raises(YamlError) as caught:
        read_yaml("f.yaml", text)
    return caught.value


@pytest.mark.parametrize(
    "scalar",
    ["off", "on", "yes", "no", "22:00", "1e3", "null", "~", "true", "010", "0x1F", "1_000",
     "2026-12-01", ".inf", "5%", "3 of 5", "0", "<<"],
)  # fmt: skip
def test_scalars_stay_the_text_that_was_written(scalar: str) -> None:
    """No word or number turns into something else than its letters, as value and as key."""
    tree = read_yaml("f.yaml", f"{scalar}: {scalar}\nlist: [{scalar}]\n").tree
    assert tree == {scalar: scalar, "list": [scalar]}


def test_empty_values_and_files_are_empty() -> None:
    """Nothing written is empty text, and an empty file is an empty mapping."""
    assert read_yaml("f.yaml", "a:\n").tree == {"a": ""}
    assert read_yaml("f.yaml", "").tree == {}
    assert read_yaml("f.yaml", "# only a comment\n").tree == {}


def test_quotes_and_folds_are_taken_off() -> None:
    """Quoted and folded text is the text that they stand for."""
    text = "a: \"x: y\"\nb: 'it''s'\nc: >-\n  one\n  two\n"
    assert read_yaml("f.yaml", text).tree == {"a": "x: y", "b": "it's", "c": "one two"}


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("when: ! ttlt > 3s", 7),
        ("when: !not ttlt > 3s", 7),
        ("when: !", 7),
        ("deployments: [!*batch*]", 15),
        ("scope: !x {deployments: [a]}", 8),
        ("!x when: a", 1),
    ],
)
def test_a_sign_that_yaml_takes_for_a_tag_is_refused(text: str, column: int) -> None:
    """YAML would drop an unquoted ! with its word, and so turn a condition into its opposite."""
    problem = refusal(f"rules:\n  {text}\n").problem
    assert problem.mark == Mark("f.yaml", 2, column + 2)
    assert problem.message.endswith("as a tag, which YAML would drop")
    assert "Quote a value" in problem.cure
    assert "write `not`" in problem.cure


@pytest.mark.parametrize(
    "text", ["a: !!python/object/apply:os.getcwd []", "a: !!int 5", "a: !!str 5", "a: !<tag:x> b"]
)
def test_tags_are_refused(text: str) -> None:
    """A tag makes neither an object nor a number: it is refused where it stands."""
    problem = refusal(text).problem
    assert (problem.mark.column, problem.message) == (4, "a tag stands here")
    assert problem.cure == "Leave the tag out: every value is text."


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("a: *batch*", "Quote a value that begins with *."),
        ("a: [*]", "Quote a value that begins with *."),
        ("a: &b* c", "Quote a value that begins with &."),
        ("a: %x", "Quote a value that begins with %."),
        ("a: @x", "Quote a value that begins with @."),
        ("a: `x`", "Quote a value that begins with `."),
        ("a: {ttlt} is high", "Quote a value that begins with {, [ or a quote."),
        ("a: b: c", "Quote a value that holds `: `, or mend the indentation."),
        ("a:\n\tb: c", "Indent with spaces; YAML takes no tabs."),
    ],
)
def test_values_that_yaml_reads_in_its_own_way_are_to_be_quoted(text: str, cure: str) -> None:
    """What stumbles over a sign of YAML is answered with the quotes that it needs."""
    assert refusal(text).problem.cure == cure


def test_a_key_that_stands_twice_is_refused_at_its_place() -> None:
    """The second of two equal keys is named with its place and that of the first."""
    problem = refusal("rules:\n  - name: A\n    when: x\n    name: B\n").problem
    assert problem.mark == Mark("f.yaml", 4, 5)
    assert "'name' stands here twice" in problem.message
    assert problem.cure == "The first is in line 2; keep one."


def test_a_merged_key_is_no_merge() -> None:
    """`<<` is a key like any other, so it cannot smuggle in values."""
    tree = read_yaml("f.yaml", "a: &x {k: v}\nb: {<<: *x}\n").tree
    assert tree == {"a": {"k": "v"}, "b": {"<<": {"k": "v"}}}


def test_an_alias_is_a_copy() -> None:
    """An alias stands for the value it names."""
    assert read_yaml("f.yaml", "a: &x [1, 2]\nb: *x\n").tree == {"a": ["1", "2"], "b": ["1", "2"]}


def test_an_alias_bomb_is_refused_quickly() -> None:
    """Aliases of aliases that stand for billions of values are refused before they unfold."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 12)]
    begun = time.monotonic()
    assert "too many values" in refusal("\n".join(lines)).problem.message
    assert time.monotonic() - begun < 2


def test_an_alias_of_itself_is_refused() -> None:
    """A value that holds itself is refused instead of followed for ever."""
    assert "too many values" in refusal("a: &a [1, *a]\n").problem.message
    assert "too many values" in refusal("a: &a {b: {c: *a}}\n").problem.message


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 2_000])
def test_deep_nesting_is_refused(depth: int) -> None:
    """Lists in lists beyond the limit are refused, however many they are."""
    assert "nested too deeply" in refusal("[" * depth + "]" * depth).problem.message
    assert read_yaml("f.yaml", "[" * MAX_DEPTH + "]" * MAX_DEPTH).tree


def test_a_huge_file_is_refused() -> None:
    """A file beyond the limit is refused unread, with what to do."""
    problem = refusal("a: " + "x" * MAX_BYTES).problem
    assert (problem.message, problem.cure) == ("more than 256 KiB", "Split it into several files.")


def test_many_values_are_refused() -> None:
    """A small file with more values than anyone would write is refused."""
    assert "too many values" in refusal("[" + "1," * (MAX_NODES + 1) + "]").problem.message


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\n b: 2\n", 2),
        ("a: [1, 2\nb: 3\n", 2),
        ("a: *nobody\n", 1),
        ("a: 'never ends\n", 2),
        ("a: 1\n---\nb: 2\n", 2),
        ("\ta: 1\n", 1),
        ("a: @x\n", 1),
    ],
)
def test_syntax_errors_have_a_place(text: str, line: int) -> None:
    """What is no YAML is refused with the line to look at."""
    problem = refusal(text).problem
    assert problem.message.startswith("not YAML: ")
    assert problem.mark.line == line


def test_what_cannot_be_printed_is_refused() -> None:
    """Control characters are no YAML."""
    assert "not YAML" in refusal("a: \x07\n").problem.message


def test_keys_must_be_text() -> None:
    """A list or a mapping cannot be a key."""
    assert refusal("? [a]\n: b\n").problem.message == "a key must be plain text"


def test_every_key_and_value_has_its_place() -> None:
    """Lines and columns count from 1; that of quoted text is its first letter."""
    document = read_yaml("f.yaml", "rules:\n  - name: A\n    when: \"x > 1\"\n  - {name: 'B'}\n")
    assert document.key("rules") == Mark("f.yaml", 1, 1)
    assert document.value("rules", 0) == Mark("f.yaml", 2, 5)
    assert document.key("rules", 0, "when") == Mark("f.yaml", 3, 5)
    assert document.value("rules", 0, "when") == Mark("f.yaml", 3, 12)
    assert document.value("rules", 1, "name") == Mark("f.yaml", 4, 13)


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("a: one two", 1, 8),
        ("a: 'one two'", 1, 9),
        ("a: &x one two", 1, 11),
        ("a: >-\n    one\n    two", 3, 5),
        ("a: |  # so\n\n  one\n    two", 4, 5),
        ("a: one\n  two", 2, 3),
        ('a: "one\n  two"', 2, 3),
    ],
)
def test_a_place_inside_a_text_is_that_in_the_file(text: str, line: int, column: int) -> None:
    """A word has its line and column in the file, though the text is folded or quoted."""
    document = read_yaml("f.yaml", f"{text}\n")
    assert isinstance(document.tree, dict)
    value = document.tree["a"]
    assert isinstance(value, str)
    assert document.inside(("a",), value, value.index("two")) == Mark("f.yaml", line, column)


def test_a_place_behind_an_escape_is_counted_from_the_beginning() -> None:
    """Where quotes hide another spelling, a place is as near as it can be told."""
    document = read_yaml("f.yaml", "a: 'it''s so'\n")
    assert document.inside(("a",), "it's so", 5) == Mark("f.yaml", 1, 10)


def test_what_is_missing_has_the_place_of_what_is_around_it() -> None:
    """A missing value is looked for in the nearest thing that exists."""
    document = read_yaml("f.yaml", "rules:\n  - name: A\n")
    assert document.value("rules", 0, "owner") == Mark("f.yaml", 2, 5)
    assert document.value("signals", "x") == Mark("f.yaml", 1, 1)


@settings(deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Reading YAML raises YamlError and nothing else."""
    try:
        read_yaml("f.yaml", text)
    except YamlError as error:
        assert error.problem.mark.line >= 1


@settings(deadline=None)
@given(st.lists(st.sampled_from(["a", ":", "- ", "\n", "  ", "[", "]", "{", "}", "&x ", "*x", "|",
                                 ">", "'", '"', "?", "!", "%", "#", ",", "---", "<<", "\t"]),
                max_size=40))  # fmt: skip
def test_any_yaml_signs_are_read_or_refused(parts: list[str]) -> None:
    """The signs of YAML in any order are read or refused."""
    try:
        read_yaml("f.yaml", "".join(parts))
    except YamlError:
        return
