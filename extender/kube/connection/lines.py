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
        lines: list[bytes] = []
        begin = 0
        # `bytes.split` compares each byte, which takes three times as long as `find` with lines of 4 KB.
        while (end := chunk.find(b"\n", begin)) >= 0:
            line = chunk[begin:end]
            begin = end + 1
            if self._begun:
                line = b"".join((*self._begun, line))
                self._begun, self.unfinished = [], 0
            if line:
                lines.append(line)
        if begin < len(chunk):
            rest = chunk[begin:]
            self._begun.append(rest)
            self.unfinished += len(rest)
        return lines
