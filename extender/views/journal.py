"""Stories: what happened to each pod lately and what was decided about it, bounded in memory."""

from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass

from core.ids import PodUid

PODS = 20_000
LINES = 40


@dataclass(frozen=True, slots=True)
class StoryLine:
    """One thing that happened. ``at``: seconds since the epoch; ``times``: how often in a row."""

    at: float
    what: str
    detail: str
    times: int = 1


class Journal:
    """The last lines of the pods heard of last. The same line again only raises its count."""

    def __init__(self, *, pods: int = PODS, lines: int = LINES) -> None:
        self._pods = pods
        self._lines = lines
        self._stories: OrderedDict[PodUid, deque[StoryLine]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._stories)

    def note(self, uid: PodUid, what: str, detail: str = "", *, now: float) -> None:
        story = self._stories.get(uid)
        if story is None:
            story = self._stories[uid] = deque(maxlen=self._lines)
            if len(self._stories) > self._pods:
                self._stories.popitem(last=False)
        else:
            self._stories.move_to_end(uid)
        times = 1
        if story and (story[-1].what, story[-1].detail) == (what, detail):
            times = story.pop().times + 1
        story.append(StoryLine(now, what, detail, times))

    def story(self, uid: PodUid) -> Sequence[StoryLine]:
        """Oldest first; empty for a pod not heard of, or not any more."""
        return tuple(self._stories.get(uid, ()))
