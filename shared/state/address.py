"""Takes apart the setting that says where the table is. Imports no Azure package."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

TABLE = "tokenwatch"
TABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]{2,62}")


def split_table(target: str) -> tuple[str, str]:
    """A connection string or endpoint without its /TABLENAME, and that name or the usual one."""
    head, slash, name = target.rpartition("/")
    # A slash may also belong to an address, an account key or a signature further in.
    if not slash or not name or ";" in name or "=" in name:
        return target.rstrip("/"), TABLE
    address = re.search(r"https?:/[^;]*$", head)
    if address and _ends_in_account(address[0]):
        return target, TABLE
    return head, name


def _ends_in_account(address: str) -> bool:
    """Whether what follows the address is still the account, not a table.

    It is the host after `https:/`, and the first part of the path on this machine.
    """
    if address in ("http:/", "https:/"):
        return True
    parts = urlsplit(address)
    return is_loopback(parts.hostname or "") and parts.path == ""


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
