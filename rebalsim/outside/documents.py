"""JSON from outside as values of checked kinds: how much there is of it is counted before anything
is built, numbers are finite and of a sane size, text is whole.

`parse_json` gives plain values; `Taker` takes them apart, so that a wrong one is said by its place:

    taker = Taker(document, "result.json")
    for event in taker.list("events"):
        at = event.whole("at_us", 0, LONGEST_US)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.rule import said
from rebalsim.outside.text import clipped

MOST_VALUES = 5_000_000  # some 500 MB of Python's objects
LARGEST = 1 << 62  # a whole number of more than this is nobody's measurement
_LONE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(text: str, name: str) -> Any:
    """The document in this text. InputError says what it is instead."""
    if text.count(",") + text.count("[") + text.count("{") > MOST_VALUES:
        raise InputError(
            f"{clipped(name)}: has more than {MOST_VALUES:,} values — is it the right file?"
        )
    try:
        document = json.loads(text, parse_constant=no_number, parse_int=_whole, parse_float=_real)
        whole_text(document, text)
    except UnicodeEncodeError:
        raise InputError(
            f"{clipped(name)}: has half a character (\\ud800 to \\udfff alone) in a text — write "
            "it whole"
        ) from None
    except (ValueError, RecursionError, MemoryError, OverflowError) as e:
        raise InputError(f"{clipped(name)}: is not JSON ({said(e)}) — was the file cut?") from None
    return document


def whole_text(document: Any, text: str) -> None:
    """UnicodeEncodeError where a text in the document holds half a character."""
    if _LONE.search(text):
        json.dumps(document, ensure_ascii=False).encode("utf-8")


def no_number(word: str) -> Any:
    """For json's parse_constant: Infinity and NaN are no numbers."""
    raise ValueError(f"{word} is no number")


def _whole(digits: str) -> int:
    if len(digits) > 20 or abs(int(digits)) > LARGEST:
        raise ValueError(f"{clipped(digits, 30)} is out of all bounds")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{clipped(digits, 30)} is out of all bounds")
    return number


class Taker:
    """A value of a document, with its place: asked for what it should be, or InputError."""

    __slots__ = ("name", "place", "value")

    def __init__(self, value: Any, name: str, place: str = "") -> None:
        self.value, self.name, self.place = value, name, place

    def fail(self, wanted: str) -> InputError:
        shown = clipped(json.dumps(self.value, ensure_ascii=False, default=str), 40)
        at = f" at {self.place}" if self.place else ""
        return InputError(f"{clipped(self.name)}: wants {wanted}{at}, not {shown}")

    def get(self, key: str) -> Taker:
        """What stands under the key; null where nothing does."""
        if type(self.value) is not dict:
            raise self.fail("an object")
        return Taker(self.value.get(key), self.name, f"{self.place}.{key}" if self.place else key)

    def list(self, key: str) -> Iterator[Taker]:
        """Each of the list under the key."""
        found = self.get(key)
        if type(found.value) is not list:
            raise found.fail("a list")
        for n, each in enumerate(found.value):
            yield Taker(each, self.name, f"{found.place}[{n}]")

    def whole(self, key: str, least: int = 0, most: int = LARGEST) -> int:
        """A whole number within these."""
        found = self.get(key)
        if type(found.value) is not int or not least <= found.value <= most:
            raise found.fail(f"a whole number from {least:,} to {most:,}")
        return found.value

    def number(self, key: str, least: float, most: float) -> float:
        """A number within these."""
        found = self.get(key)
        if type(found.value) not in (int, float) or not least <= found.value <= most:
            raise found.fail(f"a number from {least:g} to {most:g}")
        return float(found.value)

    def text(self, key: str) -> str:
        """A text."""
        found = self.get(key)
        if type(found.value) is not str:
            raise found.fail("a text")
        return found.value

    def flag(self, key: str) -> bool:
        """true or false."""
        found = self.get(key)
        if type(found.value) is not bool:
            raise found.fail("true or false")
        return found.value
