"""Any text as a key of Table Storage, and back.

Table Storage forbids `/ \\ # ?` and control characters, and `%` and quotes are known to break
clients and proxies. So everything but letters, digits and `._:-` becomes `~` and two hexadecimal
digits a byte. SQLite uses the same form, so both stores sort and limit keys alike.
"""

from __future__ import annotations

import re

from shared.state.store import TooLarge

MAX_KEY = 512
"""Characters of an escaped key; Azure counts 1 KiB of UTF-16."""

_UNSAFE = re.compile(r"[^A-Za-z0-9._:-]")
_ESCAPED = re.compile(r"(?:~[0-9a-f]{2})+")


def escape(key: str) -> str:
    """The form in which a key is stored. Raises TooLarge if it is too long."""
    escaped = bound(key)
    if len(escaped) > MAX_KEY:
        raise TooLarge(
            f"key {key[:60]!r}... has {len(escaped)} characters once escaped, and at most "
            f"{MAX_KEY} are allowed: use a shorter name, or a hash of it"
        )
    return escaped


def bound(key: str) -> str:
    """The stored form of a key that only bounds a range, so it may be of any length."""
    return _UNSAFE.sub(_escape_character, key)


def unescape(stored: str) -> str:
    """The key that `escape` made this of."""
    return _ESCAPED.sub(_unescape_run, stored)


def _escape_character(match: re.Match[str]) -> str:
    # Python holds bytes of file names that are not UTF-8 as lone surrogates; let them pass.
    return "".join(f"~{byte:02x}" for byte in match[0].encode("utf-8", "surrogatepass"))


def _unescape_run(match: re.Match[str]) -> str:
    data = bytes.fromhex(match[0].replace("~", ""))
    # A row that someone else wrote may hold anything; showing it beats failing on it.
    return data.decode("utf-8", "surrogatepass" if _is_text(data) else "replace")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True
