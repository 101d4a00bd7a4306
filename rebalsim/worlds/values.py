"""A value that says where it comes from and how sure it is: the coin that the whole room pays in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

STATED = "stated"
DEFAULT = "default"
INFERRED = "inferred"
UNKNOWN = "unknown"


class Text(str):
    """A scalar as it stands in a file, with its place. Everything in a tree is text: what `no` or
    `010` means is for the reader of the key to say, not for YAML.
    """

    __slots__ = ("file", "line", "plain")
    file: str
    line: int
    plain: bool

    def __new__(cls, text: str, file: str = "", line: int = 0, plain: bool = True) -> Text:
        made = super().__new__(cls, text)
        made.file, made.line, made.plain = file, line, plain
        return made


Tree = Any  # dict[Text, Tree] | list[Tree] | Text | None


def place(text: object) -> str:
    """`file:line` of a scalar (the file alone where its reader counts no lines), or nothing where it
    was made up.
    """
    if isinstance(text, Text) and text.file:
        return f"{text.file}:{text.line}" if text.line else text.file
    return ""


def place_in(tree: Tree) -> str:
    """The place of the first scalar in a tree."""
    if isinstance(tree, dict):
        return next((p for k, v in tree.items() if (p := place(k) or place_in(v))), "")
    if isinstance(tree, list):
        return next((p for v in tree if (p := place_in(v))), "")
    return place(tree)


def like(text: str, model: object) -> Text:
    """A text that was made from another one, at its place."""
    if isinstance(model, Text):
        return Text(text, model.file, model.line, model.plain)
    return Text(text)


@dataclass(frozen=True, slots=True)
class Value:
    """A value, how sure it is (stated, default, inferred, unknown), and where it comes from."""

    value: Any
    sure: str
    source: str = ""

    @property
    def known(self) -> bool:
        return self.sure != UNKNOWN and self.value is not None


def stated(value: Any, source: object = "") -> Value:
    return Value(value, STATED, _source(source))


def default(value: Any, source: object = "") -> Value:
    return Value(value, DEFAULT, _source(source))


def inferred(value: Any, source: object = "") -> Value:
    return Value(value, INFERRED, _source(source))


def unknown(source: object = "") -> Value:
    return Value(None, UNKNOWN, _source(source))


def _source(source: object) -> str:
    return place(source) if isinstance(source, Text) else str(source)


@dataclass(slots=True)
class Hurt:
    """Something in the files that will hurt: what, why, and where it stands."""

    what: str
    why: str
    where: str = ""
