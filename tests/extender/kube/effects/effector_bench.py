"""An effector with a fake API server, for tests of effects that Paddock itself performs."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from core.ids import PodUid
from core.ledger import events as on
from core.ledger.effects import PostEvent, WakePod
from extender.kube.connection.client import ApiClient
from extender.kube.effects.bodies import WAKE_ANNOTATION
from extender.kube.effects.effector import Effector
from tests.extender.fake_api import FakeApi, Request
from tests.extender.reflector_bench import cancelled, until

PODS = "/api/v1/namespaces/default/pods"


class Bench:
    """An effector with a fake API server. Its pauses are skipped unless it is ``patient``."""

    def __init__(self, api: FakeApi, client: ApiClient) -> None:
        self.api = api
        self.leading = True
        self.patient = False
        self.calls = 0
        self.learned: list[on.Event] = []
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.reports: list[tuple[str, ...]] = []
        self.pauses: list[float] = []
        self.effector = Effector(
            client,
            learn=self.learned.append,
            may_act=lambda: self.leading,
            count=lambda effect, outcome: self.outcomes.update([(effect, outcome)]),
            report=lambda *said: self.reports.append(said),
            calls=lambda: self.calls,
            sleep=self._sleep,
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        await asyncio.sleep(seconds if self.patient else 0)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.effector.run())
        yield
        await cancelled(task)

    async def settled(self, outcomes: int) -> None:
        await until(lambda: self.outcomes.total() >= outcomes)

    def writes(self, method: str = "PATCH") -> list[Request]:
        return [each for each in self.api.requests if each.method == method]

    def token_of(self, name: str) -> str | None:
        pod = self.api.find(PODS, name)
        assert pod is not None
        token: str | None = pod["metadata"].get("annotations", {}).get(WAKE_ANNOTATION)
        return token


def wake(name: str = "p", token: str = "1", uid: str = "") -> WakePod:  # noqa: S107 - no secret
    return WakePod(PodUid(uid or f"uid-{name}"), "default", name, token)


def event(message: str = "why") -> PostEvent:
    return PostEvent("ConfigMap", "default", "yunikorn-configs", "uid-c", "ConfigurationRefused", message)
