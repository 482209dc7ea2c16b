"""``python -m tests.interfaces [--drop] [KIND…]``: record the interfaces as they are now.

Lines may be added. A removed or changed line is refused, with exit code 1. ``--drop`` records it
nevertheless. That is a breaking change, which belongs into the changelog.
"""

import argparse
import sys
from collections.abc import Sequence

from tests.interfaces.comparing import Breaking, record
from tests.interfaces.kinds import KINDS


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.interfaces", description=__doc__)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=f"one of {', '.join(KINDS)}; default: all")
    parser.add_argument("--drop", action="store_true", help="record lines that are gone or changed: breaking")
    options = parser.parse_args(arguments)
    if unknown := set(options.kinds) - set(KINDS):
        parser.error(f"there is no kind {', '.join(sorted(unknown))}")
    refused = False
    for kind in options.kinds or KINDS:
        try:
            changed = record(kind, KINDS[kind](), drop=options.drop)
        except Breaking as error:
            print(error, file=sys.stderr)
            refused = True
        else:
            print(f"{kind}:\n{changed}" if changed else f"{kind}: unchanged")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
