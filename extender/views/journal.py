"""Stories of pods: recent events and decisions, bounded in memory (F-22)."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache

from core.ids import PodUid
from extender.views.story_line import StoryLine

PODS = 20_000
"""Pods with a story."""

LINES = 40
"""Lines of a story."""

BYTES = 64 * 2**20
"""Bytes of all stories together. The stories with the oldest last line are dropped first."""

TEXT = 1_000
"""Characters of a line. A longer one is cut."""

# Bytes of a story without lines, and of a line without characters, including references to it.
_STORY, _LINE = 400, 272
# Bytes of each character of a line with one that is not ASCII, at most.
_WIDE = 4
# Most lines have texts that occurred before. Equal texts share an object.
_SHARED = 4096


class Journal:
    """The latest lines of the pods with the latest news. A repeated line only raises its count.

    ``limit``: bytes of all stories. The story of the latest line always stays.
    """

    def __init__(self, *, pods: int = PODS, lines: int = LINES, limit: int = BYTES) -> None:
        self._pods = pods
        self._lines = lines
        self._limit = limit
        self._bytes = 0
        self._stories: OrderedDict[PodUid, list[StoryLine]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._stories)

    @property
    def bytes(self) -> int:
        """Memory of all stories, at most."""
        return self._bytes

    def note(self, uid: PodUid, what: str, detail: str = "", *, now: float) -> None:
        """Add a line to a pod's story. ``now``: seconds since the epoch."""
        what, detail = _shared(what[:TEXT]), _shared(detail[:TEXT]) if detail else ""
        story = self._stories.get(uid)
        if story is None:
            story = self._stories[uid] = []
            self._bytes += _STORY
        else:
            self._stories.move_to_end(uid)
        times = 1
        if story and (story[-1].what, story[-1].detail) == (what, detail):
            times = story[-1].times + 1
            self._drop(story, -1)
        elif len(story) == self._lines:
            self._drop(story, 0)
        line = StoryLine(now, what, detail, times)
        story.append(line)
        self._bytes += _bytes_of(line)
        if len(self._stories) > self._pods or self._bytes > self._limit:
            self._shorten()

    def story(self, uid: PodUid) -> Sequence[StoryLine]:
        """Lines of a pod's story, oldest first. Empty for an unknown pod."""
        return tuple(self._stories.get(uid, ()))

    def _drop(self, story: list[StoryLine], at: int) -> None:
        self._bytes -= _bytes_of(story.pop(at))

    def _shorten(self) -> None:
        while len(self._stories) > 1 and (len(self._stories) > self._pods or self._bytes > self._limit):
            _, story = self._stories.popitem(last=False)
            self._bytes -= _STORY + sum(_bytes_of(line) for line in story)


def _bytes_of(line: StoryLine) -> int:
    """Memory of a line, at most."""
    wide = 1 if line.what.isascii() and line.detail.isascii() else _WIDE
    return _LINE + wide * (len(line.what) + len(line.detail))


@lru_cache(_SHARED)
def _shared(text: str) -> str:
    """Shared object for equal recent texts."""
    return text
