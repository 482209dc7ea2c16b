"""Work of answers that are made in steps."""

from collections.abc import Iterator
from itertools import islice

from tests.effort import effort


def most_of(steps: Iterator[object]) -> int:
    """Run all steps, and return the counted work of the largest one."""
    most = 0
    while True:
        taken: list[object] = []
        most = max(most, effort(lambda into=taken: into.extend(islice(steps, 1))))
        if not taken:
            return most
