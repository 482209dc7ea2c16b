"""Ways for Prometheus to scrape Paddock: on loopback, and at the REST port over TLS with a token.

Over TLS, Prometheus is a service account to which the shipped ClusterRole `paddock-metrics` is bound, and
nothing else.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from e2e.cluster.client import Cluster
from e2e.programs.paddock import PaddockProcess
from e2e.programs.processes import free_port
from e2e.stands.front_door import NAME, account, serving, trusted
from e2e.stands.stand import Stand, Tree


@dataclass
class Scraping:
    """Addresses at which replicas are scraped, and what Prometheus needs for that."""

    cluster: Cluster
    folder: Path
    ports: dict[str, int] = field(default_factory=lambda: {"rest": free_port()})

    def stand(self, queues: Tree, *, lease: str = "") -> Stand:
        """Stand whose replicas are scraped so. It runs as the account of Paddock."""
        config = "sidecar/scheduler-config-plain.yaml"
        return Stand(
            self.cluster, queues, config=config, user="paddock", lease=lease, arguments=self.arguments
        )

    def arguments(self, number: int) -> Sequence[str]:
        """Flags of a replica. Replicas have the same port, at another address of loopback each."""
        return serving(f"127.0.0.{number + 1}", self.ports)

    def address_of(self, _paddock: PaddockProcess, number: int) -> str:
        """Where its metrics are."""
        return f"127.0.0.{number + 1}:{self.ports['rest']}"

    async def further(self) -> dict[str, Any]:
        """Members of the job: a token in a file, the authority in a file, and the name to verify."""
        token, authority = self.folder / "token", self.folder / "ca.crt"
        scraper = await account(self.cluster, "prometheus", role="paddock-metrics")
        await asyncio.to_thread(token.write_text, scraper)
        await asyncio.to_thread(authority.write_text, await trusted(self.cluster))
        return {
            "scheme": "https",
            "authorization": {"type": "Bearer", "credentials_file": str(token)},
            "tls_config": {"ca_file": str(authority), "server_name": NAME},
        }


class OnLoopback(Scraping):
    """Scraping at the admin port, without a login."""

    def arguments(self, number: int) -> Sequence[str]:
        return ()

    def address_of(self, paddock: PaddockProcess, _number: int) -> str:
        return f"127.0.0.1:{paddock.admin_port}"

    async def further(self) -> dict[str, Any]:
        return {}
