"""Broken JSON documents that are still JSON, mostly: a value swapped for a nasty one, a key dropped
or doubled, an element repeated, a number moved out of all bounds. Each is a function of its chance.
"""

from __future__ import annotations

import json
import random
from typing import Any

_NASTY: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    1,
    1 << 31,
    1 << 53,
    1 << 63,
    10**25,
    -(1 << 63),
    0.5,
    1e308,
    -0.0,
    "",
    "0",
    "orders-0",
    "orders-99999999",
    "orders-" + "9" * 25,
    "-3",
    "c0",
    "\x1b]0;title\x07",
    "‮",
    "=1+1",
    "::error::x",
    "##[error]x",
    "a" * 5_000,
    [],
    {},
    [[]],
    [0, 1],
    {"a": 1},
    "no such word",
)
_RAW = ("NaN", "Infinity", "-Infinity", '"\\ud800"', "1e400", "[" * 3_000, "{" * 40, "9" * 5_000)
_PLACES = 4_000


def wounded(text: str, chance: random.Random) -> bytes:
    """One to three wounds to the document, or to one of its lines."""
    lines = text.split("\n")
    is_lines = len(lines) > 2 and lines[0].endswith("}") and lines[1].startswith("{")
    at = chance.randrange(min(len(lines), 60)) if is_lines else 0
    source = lines[at] if is_lines else text
    try:
        document = json.loads(source)
    except ValueError:
        return text.encode()
    for _ in range(chance.choice((1, 1, 1, 2, 3))):
        document = _wound(document, chance)
    made = json.dumps(document, ensure_ascii=False)
    if chance.random() < 0.1:
        spots = [i for i, c in enumerate(made) if c in ":,["][:_PLACES]
        if spots:
            spot = chance.choice(spots) + 1
            made = made[:spot] + chance.choice(_RAW) + made[spot:]
    if chance.random() < 0.03:
        made = made[: chance.randrange(len(made) + 1)]
    if is_lines:
        made = "\n".join([*lines[:at], made, *lines[at + 1 :]])
    return made.encode("utf-8", "surrogatepass")


def _wound(document: Any, chance: random.Random) -> Any:
    """Walk down to a random place and hurt it."""
    if not isinstance(document, (dict, list)) or not document or chance.random() < 0.02:
        return chance.choice(_NASTY)
    if isinstance(document, dict):
        return _of_object(dict(document), chance)
    return _of_list(list(document), chance)


def _of_object(document: dict[str, Any], chance: random.Random) -> Any:
    key, what = chance.choice(list(document)), chance.random()
    if what < 0.08:
        del document[key]
    elif what < 0.12:
        document[str(chance.choice(_NASTY))] = document[key]
    else:
        document[key] = _wound(document[key], chance)
    return document


def _of_list(document: list[Any], chance: random.Random) -> Any:
    at, what = chance.randrange(len(document)), chance.random()
    if what < 0.05:
        del document[at]
    elif what < 0.1:
        document.insert(at, document[chance.randrange(len(document))])
    elif what < 0.13:
        document[at] = chance.choice(_NASTY)
    else:
        document[at] = _wound(document[at], chance)
    return document
