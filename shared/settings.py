"""Environment -> Settings. All errors at once, each with its cure; secrets never in a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from shared.clouds import CLOUDS, PUBLIC, Cloud
from shared.model import Account

_ACCOUNT = re.compile(
    r"/subscriptions/[^/]+/resourcegroups/[^/]+/providers/microsoft\.cognitiveservices/accounts/[^/]+"
)
_REGION = re.compile(r"[a-z0-9]+")
_NUMBER = re.compile(r"[0-9]{1,18}")
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
WEBHOOK = "TEAMS_WEBHOOK_"
CheckWebhook = Callable[[str, Collection[str]], str | None]
"""Says what is wrong with an address, given the hosts that are allowed."""


class SettingsError(Exception):
    """Settings that cannot be used; one problem a line."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class Settings:
    accounts: tuple[Account, ...]
    state: str = field(repr=False)
    """`table:...` or `sqlite:FILE`; may hold a connection string."""
    webhooks: Mapping[str, str] = field(repr=False)
    """Channel name in lower case -> secret webhook address."""
    rules: Path
    cloud: Cloud = PUBLIC
    metrics_endpoint: str = PUBLIC.metrics_endpoint
    resource_manager: str = PUBLIC.resource_manager
    docs_url: str = ""
    heartbeat: str = field(default="", repr=False)
    """Secret address that is told of each tick; empty for none."""
    tenant: str = ""
    build: int = 0


def read_settings(environment: Mapping[str, str], check_webhook: CheckWebhook) -> Settings:
    """The settings of an environment.

    Raises:
        SettingsError: naming every setting that is missing or wrong.
    """
    reader = _Reader(environment)
    cloud = reader.cloud()
    settings = Settings(
        accounts=reader.accounts(),
        state=reader.state(cloud),
        webhooks=reader.webhooks(check_webhook, cloud),
        rules=Path(environment.get("TOKENWATCH_RULES") or Path(__file__).parent.parent / "rules"),
        cloud=cloud,
        metrics_endpoint=reader.endpoint("TOKENWATCH_METRICS_ENDPOINT", cloud.metrics_endpoint),
        resource_manager=reader.endpoint("TOKENWATCH_RESOURCE_MANAGER", cloud.resource_manager),
        heartbeat=reader.endpoint("TOKENWATCH_HEARTBEAT_URL", ""),
        docs_url=reader.endpoint("TOKENWATCH_DOCS_URL", ""),
        tenant=environment.get("TOKENWATCH_TENANT", ""),
        build=reader.number("TOKENWATCH_BUILD"),
    )
    if reader.problems:
        raise SettingsError(reader.problems)
    return settings


class _Reader:
    def __init__(self, environment: Mapping[str, str]) -> None:
        self.environment = environment
        self.problems: list[str] = []

    def cloud(self) -> Cloud:
        """`public`, `usgovernment` or `china`."""
        name = self.environment.get("TOKENWATCH_CLOUD", "").strip().casefold() or PUBLIC.name
        if name not in CLOUDS:
            self.problems.append(f"TOKENWATCH_CLOUD: {name!r} is none of {', '.join(CLOUDS)}")
        return CLOUDS.get(name, PUBLIC)

    def accounts(self) -> tuple[Account, ...]:
        """`REGION=RESOURCE_ID`, separated by commas, semicolons or new lines."""
        name = "TOKENWATCH_ACCOUNTS"
        entries = [e for e in re.split(r"[,;\s]+", self.environment.get(name, "")) if e]
        found: dict[str, Account] = {}
        for entry in entries:
            region, _, resource = entry.partition("=")
            account = Account(resource.rstrip("/").casefold(), region.casefold())
            if not _ACCOUNT.fullmatch(account.id) or not _REGION.fullmatch(account.region):
                self.problems.append(
                    f"{name}: {entry!r} is not REGION=RESOURCE_ID, e.g. swedencentral="
                    "/subscriptions/SUB/resourceGroups/GROUP/providers/Microsoft.CognitiveServices/accounts/NAME"
                )
                continue
            other = found.setdefault(account.id, account)
            if other.region != account.region:
                self.problems.append(
                    f"{name}: {account.name} is given with two regions, {other.region} and "
                    f"{account.region}: keep the one in which it lies"
                )
        if not entries:
            self.problems.append(
                f"{name} is not set: list the accounts to watch as REGION=RESOURCE_ID, "
                "separated by commas"
            )
        return tuple(sorted(found.values(), key=lambda account: account.id))

    def state(self, cloud: Cloud) -> str:
        """Where state is kept: TOKENWATCH_STATE, else the Functions app's own storage account."""
        explicit = self.environment.get("TOKENWATCH_STATE")
        if explicit:
            return explicit
        service = self.environment.get("AzureWebJobsStorage__tableServiceUri")
        account = self.environment.get("AzureWebJobsStorage__accountName")
        if service or account:
            return f"table:{service or f'https://{account}{cloud.storage_suffix}'}"
        connection = self.environment.get("AzureWebJobsStorage")
        if connection:
            return f"table:{connection}"
        self.problems.append(
            "TOKENWATCH_STATE is not set: write table:https://ACCOUNT.table.core.windows.net, "
            "or sqlite:FILE for one machine"
        )
        return ""

    def webhooks(self, check: CheckWebhook, cloud: Cloud) -> dict[str, str]:
        """Every TEAMS_WEBHOOK_NAME; the channel `default` is required."""
        found: dict[str, str] = {}
        for name, address in self.environment.items():
            if name == WEBHOOK:
                self.problems.append(
                    f"{WEBHOOK} names no channel: write {WEBHOOK}DEFAULT, or {WEBHOOK}NAME for a "
                    "further channel"
                )
            elif name.startswith(WEBHOOK) and address:
                problem = check(address, cloud.webhook_hosts)
                channel = name.removeprefix(WEBHOOK).casefold()
                if channel in found:
                    problem = f"the channel {channel} is given twice: case does not count"
                if problem:
                    self.problems.append(f"{name}: {problem}")
                found[channel] = address
        if "default" not in found:
            self.problems.append(
                f"{WEBHOOK}DEFAULT is not set: in Teams, add the workflow `Send webhook alerts to "
                "a channel` and put its address there (app setting or Key Vault reference)"
            )
        return found

    def endpoint(self, name: str, default: str) -> str:
        """An https address; plain http only on loopback."""
        value = self.environment.get(name) or default
        parts = urlsplit(value.replace("{region}", "region"))
        plain = parts.scheme == "http" and parts.hostname in LOOPBACK
        if value and not (plain or (parts.scheme == "https" and parts.hostname)):
            self.problems.append(f"{name}: must be an https address (http only on loopback)")
        return value

    def number(self, name: str) -> int:
        """A number from 0 on, as large as state can hold."""
        text = self.environment.get(name, "").strip() or "0"
        if not _NUMBER.fullmatch(text):
            self.problems.append(
                f"{name}: {text!r} must be a whole number from 0 on, of at most 18 digits, such "
                "as a pipeline's run number"
            )
            return 0
        return int(text)
