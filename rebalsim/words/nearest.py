"""The word that was probably meant by one that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from rebalsim.words.lists import one_of

_MANY = 100
ALIKE = 0.6  # how much of a word must be the same, wherever words are compared


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that this one was probably meant to be, or nothing."""
    return _nearest(word[:80], tuple(known))


@lru_cache(maxsize=4096)
def _nearest(word: str, known: tuple[str, ...]) -> str:
    """Looked up once, for each variant of a story makes the same mistakes."""
    import difflib  # costs more than loading a story; only mistakes pay for it

    from rebalsim.words.synonyms import meant

    if word not in known and (said := meant(word, known)):
        return said
    candidates = list(known)
    if len(candidates) > _MANY:  # thousands of members: look only at those that begin alike
        start, size = word[:2], len(word)
        candidates = [c for c in candidates if c[:2] == start and abs(len(c) - size) <= 3][:_MANY]
    lowered = {c.lower(): c for c in candidates}
    word = word.lower()
    begun = [c for c in lowered if len(word) >= 3 and c.startswith(word)]
    if len(begun) == 1:
        return lowered[begun[0]]
    found = difflib.get_close_matches(word, lowered, 1, ALIKE)
    return lowered[found[0]] if found else ""


def or_nearest(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """The second half of a message: the nearest known word, or all of them when they are few."""
    candidates = list(known)
    near = nearest(word, candidates)
    if near:
        return f"did you mean '{near}'?"
    if otherwise:
        return otherwise
    if not candidates:
        return "there is none to name here"
    if len(candidates) <= 12:
        return "write " + one_of(candidates)
    return f"write one of {', '.join(candidates[:10])} …"


def several_nearest(word: str, known: Iterable[str], most: int) -> list[str]:
    """The known words that are most alike, the likeliest first."""
    import difflib

    return difflib.get_close_matches(word[:80], list(known), most, ALIKE)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?`, or nothing."""
    near = nearest(word, known)
    return f"did you mean '{near}'?" if near else ""


def nearest_metric(name: str) -> str:
    """The registered name that is meant by another word, or closest to a mistyped one; or empty."""
    from rebalsim.domain.metrics import METRICS

    return nearest(name, METRICS) or nearest(name.replace("-", "_").replace(".", "_"), METRICS)
