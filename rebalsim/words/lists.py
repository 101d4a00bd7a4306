"""Several names in a row, and how many there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized


def joined(names: Iterable[object], last: str = "and") -> str:
    """All of them: `a`, `a and b`, `a, b and c`. Of none, nothing."""
    told = [str(name) for name in names]
    return f"{', '.join(told[:-1])} {last} {told[-1]}" if len(told) > 1 else "".join(told)


def listed(names: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 7 more`."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return joined(names) or "nobody"


def one_of(names: Iterable[object]) -> str:
    """`a`, `a or b`, `a, b or c`."""
    return joined(names, "or")


def first_to_last(names: Sequence[str], most: int, counted: str = "") -> str:
    """`c0, c1 and c2`, or `c0 … c11 (12 consumers)` where they are more than `most`."""
    if len(names) <= most:
        return joined(names) or "nobody"
    return f"{names[0]} … {names[-1]} ({len(names)}{' ' + counted if counted else ''})"


def plural(number: int, one: str, many: str = "") -> str:
    """`1 partition`, `3 partitions`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def verb(who: Sized, one: str, several: str) -> str:
    """`is` or `are`, by how many there are."""
    return one if len(who) == 1 else several
