"""The rules as they were at some commit, from git, without touching the working tree."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 60


class RefError(Exception):
    """The rules of a reference cannot be had; the text says what to do."""


@contextmanager
def rules_at(reference: str, rules: Path) -> Iterator[Path]:
    """A folder with the files that `rules` held at the reference, for the length of a `with`.

    Raises:
        RefError: no repository, no such reference, or no rules there.
    """
    if reference.startswith("-") or not reference.strip():
        raise RefError(f"--against {reference!r} is no branch, tag or commit")
    if not shutil.which("git"):
        raise RefError("--against needs git, which is not installed")
    if not rules.is_dir():
        raise RefError(f"there is no folder {rules}")
    top = Path(_git(rules, "rev-parse", "--show-toplevel").strip())
    inside = rules.resolve().relative_to(top.resolve()).as_posix()
    commit = _commit(top, reference)
    with tempfile.TemporaryDirectory(prefix="tokenwatch-") as place:
        folder = Path(place) / rules.resolve().name
        folder.mkdir()
        _copy(top, commit, inside, folder)
        if not any(folder.iterdir()):
            raise RefError(f"there are no rules in {inside} at {reference}")
        yield folder


def _commit(top: Path, reference: str) -> str:
    """The commit that a reference names; 40 digits, so that no later command reads more into it."""
    try:
        asked = f"{reference}^{{commit}}"
        return _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", asked).strip()
    except RefError:
        raise RefError(
            f"git knows no {reference!r} here: name a branch, tag or commit that is fetched (in a "
            "pipeline, check out with full history)"
        ) from None


def _copy(top: Path, commit: str, inside: str, folder: Path) -> None:
    """The files right in the folder; links and folders in it hold no rules."""
    tree = f"{commit}:" + ("" if inside == "." else inside)
    try:
        listed = _git(top, "ls-tree", "-z", tree)
    except RefError:
        return
    for entry in filter(None, listed.split("\0")):
        about, name = entry.split("\t", 1)
        mode, kind, blob = about.split(" ")
        if kind == "blob" and mode.startswith("100") and name.endswith(".yaml"):
            content = _git(top, "cat-file", "blob", blob)
            (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))


def _git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    try:
        done = subprocess.run(  # noqa: S603 - no shell, and the reference cannot be an option
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RefError(f"git does not answer: {error}") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        first = said[0] if said else f"exit code {done.returncode}"
        raise RefError(f"{folder}: git says: {first}")
    return done.stdout.decode("utf-8", "surrogateescape")
