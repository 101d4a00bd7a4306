"""A table of templates, looked up by the beginning of the message: most messages are none of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable

from rebalsim.worlds.logs.facts import Fact, FactKind

HEAD = 6  # characters by which templates are looked up
N = r"(-?\d{1,18})"
ID = r"(\S.{0,400}?)"
GROUP = r"(\S.{0,249}?)"
Told = tuple[Fact, ...]
Teller = Callable[[int, "re.Match[str]"], Told]
Template = tuple[str, Teller]
Table = dict[str, list[tuple["re.Pattern[str]", Teller]]]


def table(templates: Iterable[Template]) -> Table:
    """The templates by their first characters, which must be plain text (`\\(` and `\\[` too)."""
    found: Table = {}
    for pattern, teller in templates:
        head = re.sub(r"\\([\[\]().`-])", r"\1", pattern[: HEAD * 2])[:HEAD]
        found.setdefault(head, []).append((re.compile(pattern, re.DOTALL), teller))
    return found


def heads(templates: Iterable[Template]) -> dict[str, str]:
    """The first characters of the templates, and how all templates go on that begin so."""
    found: dict[str, str] = {}
    for pattern, _ in templates:
        literal = _literal(pattern)
        head = literal[:HEAD]
        found[head] = _shared(found[head], literal) if head in found else literal
    return found


def _shared(one: str, other: str) -> str:
    """What both begin with."""
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other))
    return "".join(a for a, _ in pairs)


def _literal(pattern: str) -> str:
    """The plain text that a pattern begins with."""
    text = re.sub(r"\\([\[\]().`-])", lambda m: chr(0xE000 + ord(m[1])), pattern)
    plain = re.match(r"[^\[\]().`?*+{\\|$]*", text)
    assert plain is not None
    follows = text[plain.end() : plain.end() + 1]
    kept = plain[0][:-1] if follows in ("?", "*", "{") else plain[0]
    return "".join(chr(ord(c) - 0xE000) if ord(c) >= 0xE000 else c for c in kept)


def told(templates: Table, at_us: int, message: str) -> Told | None:
    """What the message proves; None where it is none of the templates."""
    return told_within(templates, at_us, message, 0, len(message))


def told_within(templates: Table, at_us: int, text: str, begin: int, end: int) -> Told | None:
    """The same of a message that stands within a line."""
    head = begin + HEAD
    for pattern, teller in templates.get(text[begin : head if head < end else end], ()):
        if (found := pattern.match(text, begin, end)) is not None:
            return teller(at_us, found)
    return None


def one(what: FactKind, **groups: int | str) -> Teller:
    """A teller of one fact; a number is the match's group, a text stands for itself."""
    texts = {k: v for k, v in groups.items() if isinstance(v, str)}
    numbers = [
        (k, v, k in ("generation", "amount")) for k, v in groups.items() if isinstance(v, int)
    ]

    def teller(at_us: int, found: re.Match[str]) -> Told:
        fact = Fact(at_us, what, **texts)  # type: ignore[arg-type]
        for key, number, is_whole in numbers:
            text = found[number] or ""
            setattr(fact, key, (int(text) if text else -1) if is_whole else text)
        return (fact,)

    return teller


def nothing(at_us: int, found: re.Match[str]) -> Told:
    """Known, and proves nothing that matters."""
    return ()
