"""Which deployments something is about."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase

from shared.model import Account, Deployment


@dataclass(frozen=True)
class Scope:
    """Globs without case; a leading `!` leaves out. Empty means everything."""

    accounts: tuple[str, ...] = ()
    deployments: tuple[str, ...] = ()
    regions: tuple[str, ...] = ()

    def matches(self, account: Account, deployment: Deployment) -> bool:
        return (
            matches(self.accounts, account.name)
            and matches(self.deployments, deployment.name)
            and matches(self.regions, account.region)
        )


def matches(globs: tuple[str, ...], text: str) -> bool:
    """Whether a text fits globs without case: one of those that take in, none that leave out."""
    wanted = [glob for glob in globs if not glob.startswith("!")]
    unwanted = [glob[1:] for glob in globs if glob.startswith("!")]
    folded = text.casefold()
    return (not wanted or any(fnmatchcase(folded, g.casefold()) for g in wanted)) and not any(
        fnmatchcase(folded, g.casefold()) for g in unwanted
    )
