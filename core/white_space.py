"""White space as YuniKorn sees it: Unicode's property, without the separators U+001C to U+001F (C8, V1).

Python's own ``strip`` and ``split`` take those four for white space too.
"""

import re
from typing import Final

WHITE_SPACE: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
_BETWEEN: Final = re.compile(f"[{WHITE_SPACE}]+")


def trimmed(text: str) -> str:
    """``text`` without white space at its ends."""
    return text.strip(WHITE_SPACE)


def has_more_fields(text: str, most: int) -> bool:
    """True if white space divides ``text`` into more than ``most`` fields."""
    inside = trimmed(text)
    return bool(inside) and len(_BETWEEN.split(inside, maxsplit=most)) > most
