"""Lines of an answer that is read while it arrives."""


class Lines:
    """Splits bytes into complete lines, without empty ones and without line ends.

    ``unfinished``: bytes of the line that has begun.
    """

    def __init__(self) -> None:
        self.unfinished = 0
        self._begun: list[bytes] = []

    def take(self, chunk: bytes) -> list[bytes]:
        """Return the lines that a chunk completes."""
        *whole, rest = chunk.split(b"\n")
        if whole and self._begun:
            whole[0] = b"".join((*self._begun, whole[0]))
            self._begun, self.unfinished = [], 0
        if rest:
            self._begun.append(rest)
            self.unfinished += len(rest)
        return [line for line in whole if line]
