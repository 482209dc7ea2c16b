"""Stories of pods: recent events and decisions, bounded in memory (F-22)."""

from collections import OrderedDict
from collections.abc import Sequence
from sys import intern
from typing import Final

from core.ids import PodUid
from extender.views.story_line import StoryLine

PODS: Final = 20_000
"""Pods with a story."""

LINES: Final = 40
"""Lines of a story."""

BYTES: Final = 64 * 2**20
"""Bytes of all stories together. The stories with the oldest last line are dropped first."""

TEXT: Final = 1_000
"""Characters of a line. A longer one is cut."""

# Bytes of a story without lines, and of a line without characters, including references to it.
_STORY: Final = 400
_LINE: Final = 272
# Bytes of each character of a line with one that is not ASCII, at most.
_WIDE: Final = 4


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
        # Most texts are those of other lines as well, so equal texts share an object.
        what, detail = intern(what[:TEXT]), intern(detail[:TEXT]) if detail else ""
        story = self._stories.get(uid)
        if story is None:
            story = self._stories[uid] = []
            self._bytes += _STORY
        else:
            self._stories.move_to_end(uid)
        times, last = 1, story[-1] if story else None
        if last is not None and last.what == what and last.detail == detail:
            times = last.times + 1
            self._drop(story, -1)
        elif len(story) == self._lines:
            self._drop(story, 0)
        story.append(StoryLine(now, what, detail, times))
        self._bytes += _bytes_of(what, detail)
        if len(self._stories) > self._pods or self._bytes > self._limit:
            self._shorten()

    def story(self, uid: PodUid) -> Sequence[StoryLine]:
        """Lines of a pod's story, oldest first. Empty for an unknown pod."""
        return tuple(self._stories.get(uid, ()))

    def _drop(self, story: list[StoryLine], at: int) -> None:
        line = story.pop(at)
        self._bytes -= _bytes_of(line.what, line.detail)

    def _shorten(self) -> None:
        while len(self._stories) > 1 and (len(self._stories) > self._pods or self._bytes > self._limit):
            _, story = self._stories.popitem(last=False)
            self._bytes -= _STORY + sum(_bytes_of(line.what, line.detail) for line in story)


def _bytes_of(what: str, detail: str) -> int:
    """Memory of a line, at most."""
    wide = 1 if what.isascii() and detail.isascii() else _WIDE
    return _LINE + wide * (len(what) + len(detail))
