"""Contents of ``/readyz``: conditions of readiness, and notes for operators."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from extender.configuration.reload import LiveConfiguration
from extender.http.access.own_tls import OwnTls
from extender.kube.connection.rights import MissingRights
from extender.kube.leadership import Leadership
from extender.kube.watch.feeds import ConfigMapFeed, Feeds
from extender.kube.watch.stale import heard
from extender.telemetry.series.watches import Staleness, stale_text, staleness
from extender.wire.kinds import DAEMON_SETS


@dataclass(frozen=True, slots=True)
class Readiness:
    """Readiness. ``configured``: set once there is a document; ``synced``: set once the cluster was read."""

    configuration: LiveConfiguration
    config_maps: ConfigMapFeed
    feeds: Feeds
    leadership: Leadership
    configured: asyncio.Event
    synced: asyncio.Event
    #: Notes about the ports with a login.
    door_notes: Callable[[], Mapping[str, str]]
    #: Why what administrators ordered is not known; empty if it is, or does not count.
    actions_problem: Callable[[], str]
    missing_rights: MissingRights
    #: Own certificates of the verbs' port; None if there are none.
    own_tls: OwnTls | None = None
    #: Time of the start on the monotonic clock.
    started: float = field(default_factory=time.monotonic)

    def checks(self) -> Mapping[str, str]:
        """Return the conditions, each with the reason why it does not hold, or empty."""
        unsynced = [each for each in self.feeds.followed if not each.synced.is_set()]
        named = (f"{each.kind} ({each.error})" if each.error else each.kind for each in unsynced)
        waiting = f"waiting for {', '.join(named) or 'the first round'}"
        return {
            "configured": "" if self.configured.is_set() else self._not_configured(),
            "synced": "" if self.synced.is_set() else waiting,
            "actions": self.actions_problem(),
            **(self.own_tls.checks() if self.own_tls else {}),
        }

    def notes(self) -> Mapping[str, str]:
        """Return further lines for ``?verbose``."""
        return {
            "configuration": self.configuration.checksum,
            "configuration missing": self.configuration.missing,
            "configuration not readable": self.config_maps.error,
            "last configuration error": self.configuration.error,
            "keys not read": ", ".join(self.configuration.unread),
            "edits ignored": "since hot refresh is off" if self.configuration.ignored else "",
            "DaemonSets not listed": self.feeds.of(DAEMON_SETS).error,
            "stale watches": stale_text(self.watches(), now=time.time()),
            "leading": str(self.leadership.held).lower(),
            "lease": self.leadership.problem,
            "rights missing": "; ".join(map(str, self.missing_rights.current())),
            **(self.own_tls.notes() if self.own_tls else {}),
            **self.door_notes(),
        }

    def watches(self) -> list[Staleness]:
        """Return the age of each watch's last message."""
        now = time.monotonic()
        return [
            staleness(each.kind, each.error, each.at, began=self.started, now=now)
            for each in heard(self.feeds, self.config_maps)
        ]

    def _not_configured(self) -> str:
        error = self.config_maps.error
        return self.configuration.missing or f"no configuration yet{f' ({error})' if error else ''}"
