"""Configurations from a file or from the ConfigMaps, which are applied one after the other."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from watchfiles import awatch

from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import ConfigMapData
from extender.kube.watch.feeds import ConfigMapSeen

Offer = tuple[ConfigMapData | None, ConfigMapData | None, Source]
"""Both ConfigMaps, and the one that changed."""


class Offers:
    """Documents and settings offered to one configuration. ``namespace``: of the ConfigMaps."""

    def __init__(self, configuration: LiveConfiguration, namespace: str) -> None:
        self._configuration = configuration
        self._namespace = namespace
        self._waiting: asyncio.Queue[Offer] = asyncio.Queue()
        #: Data of `yunikorn-configs` as last seen, whether or not it is in force. None while it is missing.
        self.keys: Mapping[str, str] | None = None

    async def follow_file(self, path: Path) -> None:
        """Apply a file now and after each change, until cancelled."""
        # The folder is watched, since editors and mounted ConfigMaps replace the file.
        await self._offer_file(path)
        async for _ in awatch(path.parent, step=100, stop_event=None):
            await self._offer_file(path)

    def offer(
        self, defaults: ConfigMapData | None, configs: ConfigMapData | None, last: ConfigMapSeen | None
    ) -> None:
        """Queue both ConfigMaps. ``last``: the one that changed."""
        self.keys = configs.data if configs is not None else None
        source = Source("ConfigMap", self._namespace, *((last.name, last.uid) if last else ("", "")))
        self._waiting.put_nowait((defaults, configs, source))

    async def take(self) -> None:
        """Apply queued configurations until cancelled."""
        # A large document is parsed in a thread, so that calls do not wait for it.
        while True:
            defaults, configs, source = await self._waiting.get()
            await asyncio.to_thread(self._configuration.prepare, defaults, configs)
            self._configuration.offer_config_maps(defaults, configs, source)

    async def _offer_file(self, path: Path) -> None:
        source = Source("File", "", str(path.name))
        try:
            text = await asyncio.to_thread(path.read_bytes)
        except OSError as error:
            self._configuration.refuse(source, f"{path.name}: {error.strerror}")
            return
        self._configuration.offer_file(text, source)
