"""The words that the language keeps for itself, and what names may look like."""

from __future__ import annotations

import re

from shared.rulebook.problems import TextError

KEYWORDS = frozenset({"and", "or", "not", "given"})
WINDOWS = frozenset({"avg", "min", "max", "sum"})
FUNCTIONS = WINDOWS | {"ago", "baseline", "deviation", "before_change"}

CHANGE_KINDS = {
    "prompt_template": "the first tokens of the prompt: instructions, tools, examples",
    "model_version": "the model or its version",
    "capacity": "PTUs or quota of the deployment",
    "sku": "the kind of deployment",
    "content_filter": "the content filter's configuration",
    "other": "anything else that alters behaviour",
}

OWN_NAMES = (
    "ChannelDown",
    "MonitorQueryFailing",
    "RuleFailing",
    "RulesBroken",
    "Unjudged",
    "WhileAway",
)
"""What the watchdog calls its own alerts and notices."""

NAME_PATTERN = "^[A-Za-z_][A-Za-z0-9_]*$"
_NAME = re.compile(NAME_PATTERN)


def check_name(name: str) -> str:
    """The name again; raises TextError where an expression could not mention it."""
    if name.casefold() in KEYWORDS | FUNCTIONS:
        cure = f"Choose another name, e.g. my_{name.casefold()}."
        raise TextError(f"{name} is a word of the language and cannot be a name", cure)
    if not _NAME.fullmatch(name):
        words = re.sub("[^A-Za-z0-9]+", "_", name).strip("_")
        example = f"my_{words}" if words[:1].isdigit() else words
        cure = "A name is letters, digits and _, and begins with no digit"
        raise TextError(f"{name!r} is no name", f"{cure}, e.g. {example or 'ttlt'}.")
    return name


def check_rule_name(name: str) -> str:
    """The name again; raises TextError where it would be taken for one of the watchdog's own."""
    if name.casefold() in {own.casefold() for own in OWN_NAMES}:
        cure = f"Choose another name, e.g. My{name}."
        raise TextError(f"{name} is what the watchdog calls a notice of its own", cure)
    return name
