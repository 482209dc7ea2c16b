"""Take exceptions that are not needed any more out of the lists (`python -m tests.language.shrink`)."""

from tests.language.breaches import shrink
from tests.language.findings import every_breach

if __name__ == "__main__":
    shrink(every_breach())
