"""``python -m tests.histories``: see `tests.histories.runner`, which processes of its own import by name."""

import sys

from tests.histories.runner import main

if __name__ == "__main__":
    sys.exit(main())
