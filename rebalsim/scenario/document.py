"""Text → a tree of values that know their place. Strict: what two YAML readers could read
differently is a problem, not a guess.

The tree is built from PyYAML's *events* (libyaml's parser where it is compiled in, the same
marks without it), not from its nodes: events do not recurse, so depth, aliases and size are
bounded before anything is expanded, and scalars are resolved by our own rules (YAML 1.2's core,
minus every spelling that YAML 1.1 reads otherwise). Keys are always text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from rebalsim.domain.errors import Problem
from rebalsim.scenario.source import LINE_BREAK, Source, shorten
from rebalsim.scenario.syntax_errors import syntax_problem

MAX_BYTES = 1_048_576  # a story of a megabyte is a mistake
MAX_DEPTH = 32  # the deepest sensible story has nine levels
MAX_NODES = 100_000  # after aliases are expanded
MAX_ALIASES = 1_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffe\U00010000-\U0010ffff]")

Plain = bool | int | float | str | None


class Node:
    """A value with its place. `kind`, `value_read` and `found` remember how it was last read, so
    unchanged parts are read once.
    """

    __slots__ = (
        "column",
        "found",
        "kind",
        "line",
        "print_",
        "size",
        "source",
        "value_read",
        "width",
    )

    def __init__(self, source: Source, line: int, column: int, width: int) -> None:
        self.source = source
        self.line = line
        self.column = column
        self.width = width
        self.size = 1
        self.kind: Any = None
        self.value_read: Any = None
        self.found: list[Problem] = []
        self.print_: str | None = None

    def problem(self, message: str, is_warning: bool = False) -> Problem:
        return self.source.problem(self.line, self.column, message, self.width, is_warning)


class Scalar(Node):
    """Text, a number, true, false or nothing. `trap` says why this spelling is refused."""

    __slots__ = ("is_quoted", "text", "trap", "value")

    def __init__(
        self, source: Source, line: int, column: int, width: int, text: str, is_quoted: bool
    ) -> None:
        super().__init__(source, line, column, width)
        self.text = text
        self.is_quoted = is_quoted
        self.value: Plain
        self.trap: str
        if is_quoted:
            self.value, self.trap = text, ""
        else:
            self.value, self.trap = plain(text)


class Sequence(Node):
    __slots__ = ("items",)

    def __init__(
        self,
        source: Source,
        line: int,
        column: int,
        width: int = 1,
        items: list[Node] | None = None,
    ) -> None:
        super().__init__(source, line, column, width)
        self.items: list[Node] = [] if items is None else items


class Mapping(Node):
    __slots__ = ("entries", "keys")

    def __init__(self, source: Source, line: int, column: int, width: int = 1) -> None:
        super().__init__(source, line, column, width)
        self.entries: dict[str, Node] = {}
        self.keys: dict[str, Scalar] = {}

    def put(self, key: Scalar, value: Node) -> None:
        self.entries[key.text] = value
        self.keys[key.text] = key


# ------------------------------------------------------------------------------------ plain scalars

_NULLS = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_FLAGS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NORWAY = {"yes": "true", "no": "false", "on": "true", "off": "false"}  # y and n: nobody does
_INT = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"-?(0|[1-9][0-9]{0,17})\.[0-9]{1,17}")
_LONGEST_NUMBER = 64
_NUMBERISH = re.compile(r"[-+.]?[0-9]")
_TRAPS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9]*)?"), "sexagesimal"),
    (re.compile(r"[-+]?0[0-9]+(\.[0-9]*)?"), "octal"),
    (re.compile(r"[-+]?0[xob][0-9a-fA-F_]+"), "base"),
    (re.compile(r"[-+]?([0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)[eE][-+]?[0-9]+"), "exponent"),
    (re.compile(r"[-+]?[0-9][0-9_]*_[0-9_]*(\.[0-9_]*)?"), "underscore"),
    (re.compile(r"\+[0-9]+(\.[0-9]*)?"), "plus"),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.)"), "dot"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt\s].*)?"), "date"),
    (re.compile(r"-?[0-9]{19,}(\.[0-9]*)?|-?[0-9]+\.[0-9]{18,}"), "long"),
)


def plain(text: str) -> tuple[Plain, str]:
    """An unquoted scalar's value, and what is wrong with its spelling if readers of YAML
    disagree about it.
    """
    if text in _NULLS:
        return None, ""
    if text in _FLAGS:
        return _FLAGS[text], ""
    if len(text) > _LONGEST_NUMBER:  # no number, and its pattern need not be tried
        return text, _trap("long", text) if text.isdigit() else ""
    first = text[0]
    if first in "yYnNoO" and len(text) < 4 and text.lower() in _NORWAY:
        return text, (
            f"{text} is {_NORWAY[text.lower()]} for some readers of YAML and text for others"
            f' — write {_NORWAY[text.lower()]}, or "{text}" for the word'
        )
    if first in "0123456789-+.":
        if _INT.fullmatch(text):
            return int(text), ""
        if _FLOAT.fullmatch(text):
            return float(text), ""
        if _NUMBERISH.match(text):
            for pattern, name in _TRAPS:
                if pattern.fullmatch(text):
                    return text, _trap(name, text)
        if text.lower() in (".inf", "-.inf", "+.inf", ".nan"):
            return text, f"{text} is no number to work with — write a finite one"
    return text, ""


def _trap(name: str, text: str) -> str:
    """Why the text is not what it looks like in YAML, and what to write instead."""
    told = _TRAPS_TOLD.get(name)
    if told is None:
        return f"{shorten(text)} has more digits than any setting needs — write a smaller number"
    return f"{shorten(text)} {told(text, text.replace('_', ''))}"


def _sexagesimal(text: str, bare: str) -> str:
    parts = text.lstrip("+-").split(":")
    units = ("h", "m", "s")[-len(parts) :]
    timed = "".join(f"{p.lstrip('0')}{u}" for p, u in zip(parts, units) if p.strip("0."))
    clock = timed if len(parts) <= 3 else "1h30m"
    return (
        f"is a number in base 60 for some readers of YAML (1:30 is 90) — write {clock or '0s'}, or "
        f'"{shorten(text)}" for text'
    )


def _octal(text: str, bare: str) -> str:
    return (
        "is octal for some readers of YAML (010 is 8) — write "
        f'{shorten(bare.lstrip("+").lstrip("0") or "0")}, or "{shorten(text)}" for text'
    )


def _base(text: str, bare: str) -> str:
    try:
        said = shorten(str(int(bare, 0)))
    except ValueError:
        said = "it in decimal"
    return (
        f'is a number for some readers of YAML only — write {said}, or "{shorten(text)}" for text'
    )


def _exponent(text: str, bare: str) -> str:
    try:
        value = float(bare)
        is_whole = value == int(value) and abs(value) < 1e15
        said = f"{value:.0f}" if is_whole else f"{value:f}"[:20]
    except (OverflowError, ValueError):
        said = "it out"
    return f"is text for some readers of YAML and a number for others — write {said}"


def _underscore(text: str, bare: str) -> str:
    return (
        f"is a number for some readers of YAML only — write {shorten(bare)}, or "
        f'"{shorten(text)}" for text'
    )


def _dot(text: str, bare: str) -> str:
    filled = f"0{bare}" if bare.startswith(".") else f"{bare}0" if bare.endswith(".") else bare
    return f"is text for some readers of YAML — write {shorten(filled)}"


# what a text looks like → what is said of it, and of it without underscores
_TRAPS_TOLD: dict[str, Callable[[str, str], str]] = {
    "sexagesimal": _sexagesimal,
    "octal": _octal,
    "base": _base,
    "exponent": _exponent,
    "underscore": _underscore,
    "plus": lambda text, _: f"has a sign it does not need — write {shorten(text[1:])}",
    "dot": _dot,
    "date": lambda text, _: (
        f'is a date for some readers of YAML — write "{shorten(text)}" for text'
    ),
}


def decode(raw: bytes, name: str) -> tuple[str, list[Problem]]:
    """The file's bytes as text, or why they are not text that YAML allows."""
    if len(raw) > MAX_BYTES:
        return "", [
            Problem(
                name,
                1,
                1,
                f"The file has more than the {MAX_BYTES:,} bytes that a scenario may have — is "
                "this the right file?",
            )
        ]
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "", [Problem(name, 1, 1, "The file is UTF-16 — save it as UTF-8")]
    raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        before = raw[: e.start].decode("utf-8", "replace")
        lines = LINE_BREAK.split(before)
        where = Source(name, raw.decode("utf-8", "replace"))
        return "", [
            where.problem(
                len(lines),
                len(lines[-1]) + 1,
                f"Byte 0x{raw[e.start]:02x} is not UTF-8 — save the file as UTF-8",
            )
        ]
    bad = _FORBIDDEN.search(text)
    if bad:
        lines = LINE_BREAK.split(text[: bad.start()])
        what = f"The control character U+{ord(bad.group()):04X} must not stand in YAML — remove it"
        return "", [Source(name, text).problem(len(lines), len(lines[-1]) + 1, what)]
    return text, []


class _Stop(Exception):
    """Reading cannot go on: what was found so far is all there is to say."""


class _Open:
    """A container that is being filled."""

    __slots__ = ("anchor", "is_shadowed", "key", "node", "wants_key")

    def __init__(self, node: Sequence | Mapping, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: Scalar | None = None
        self.wants_key = isinstance(node, Mapping)
        self.is_shadowed = False  # the value to come belongs to a key that cannot be kept


def parse(text: str, source: Source) -> tuple[Node | None, list[Problem]]:
    """The one document in the text as a tree, and the problems of its form. No tree, if it
    cannot be read to the end.
    """
    builder = _Builder(source)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as e:
        builder.problems.append(syntax_problem(e, source))
        return None, builder.problems
    except yaml.YAMLError as e:
        builder.problems.append(
            source.problem(
                1, 1, f"This is not YAML: {shorten(str(e))} — save the file as plain UTF-8 text"
            )
        )
        return None, builder.problems
    except _Stop:
        return None, builder.problems
    if builder.root is None and not builder.problems:
        builder.problems.append(
            source.problem(
                1, 1, "The file is empty — `rebalsim init` writes a scenario to start from"
            )
        )
    return builder.root, builder.problems


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


class _Builder:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.root: Node | None = None
        self.open: list[_Open] = []
        self.anchors: dict[str, Node] = {}
        self.aliases = 0
        self.nodes = 0
        self.documents = 0

    def _say(self, event: Any, message: str, width: int = 1) -> None:
        mark = event.start_mark
        self.problems.append(self.source.problem(mark.line + 1, mark.column + 1, message, width))

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._tag(event)
            mark, end = event.start_mark, event.end_mark
            width = end.column - mark.column if end.line == mark.line else 1
            is_quoted = bool(event.style)  # libyaml says '' for plain, the Python scanner None
            self._place(
                Scalar(
                    self.source,
                    mark.line + 1,
                    mark.column + 1,
                    max(1, width),
                    event.value,
                    is_quoted,
                ),
                event.anchor,
                event,
            )
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._tag(event)
            if len(self.open) >= MAX_DEPTH:
                self._say(
                    event,
                    f"This is nested more than {MAX_DEPTH} levels deep — no scenario needs that",
                )
                raise _Stop
            mark = event.start_mark
            made = (Mapping if kind is yaml.MappingStartEvent else Sequence)(
                self.source, mark.line + 1, mark.column + 1
            )
            self.open.append(_Open(made, event.anchor))
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            done = self.open.pop()
            self._place(done.node, done.anchor, event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent:
            self.documents += 1
            if self.documents > 1:
                self._say(
                    event,
                    "A second document begins here — one file holds one scenario; move this to a "
                    "file of its own",
                    3,
                )
                raise _Stop

    def _tag(self, event: Any) -> None:
        if event.tag is not None:
            mark = event.start_mark
            line = self.source.lines[mark.line] if mark.line < len(self.source.lines) else ""
            written = re.match(r"\S+", line[mark.column :])
            tag = written.group() if written and "!" in written.group() else event.tag
            self._say(
                event,
                f"The tag {shorten(tag)} means nothing in a scenario — leave it out",
                len(tag),
            )

    def _alias(self, event: Any) -> None:
        self.aliases += 1
        found = self.anchors.get(event.anchor)
        if found is None:
            name, mark = shorten(event.anchor), event.start_mark
            self._say(
                event,
                f"*{name} stands for nothing so far (an anchor comes before its aliases and never "
                f"holds itself) — write &{name} at the value it means",
                len(event.anchor) + 1,
            )
            found = Scalar(self.source, mark.line + 1, mark.column + 1, 1, "", False)
            if self.open and self.open[-1].wants_key:
                raise _Stop
        if self.aliases > MAX_ALIASES:
            self._say(event, f"There are more than {MAX_ALIASES} aliases — use templates: instead")
            raise _Stop
        self._place(found, None, event, is_alias=True)

    def _place(self, node: Node, anchor: str | None, event: Any, is_alias: bool = False) -> None:
        self.nodes += node.size if is_alias else 1
        if self.nodes > MAX_NODES:
            self._say(
                event,
                f"With its aliases written out this file has more than {MAX_NODES:,} values — "
                "use fewer, or templates:",
            )
            raise _Stop
        if anchor is not None:
            self.anchors[anchor] = node
        if not self.open:
            self.root = node
            return
        top = self.open[-1]
        top.node.size += node.size
        if isinstance(top.node, Sequence):
            top.node.items.append(node)
        elif top.wants_key:
            top.wants_key = False
            self._key(top, node)
        else:
            top.wants_key = True
            if top.key is not None and not top.is_shadowed:
                top.node.put(top.key, node)
            top.is_shadowed = False

    def _key(self, top: _Open, node: Node) -> None:
        assert isinstance(top.node, Mapping)
        wrong = ""
        if not isinstance(node, Scalar):
            wrong = "A list or a block cannot be a key — write a name before the colon"
        else:
            top.key = node
            if node.text == "<<" and not node.is_quoted:
                wrong = (
                    "Merge keys (<<) are not YAML any more — put the common part under templates:"
                )
            elif node.text in top.node.entries:
                wrong = (
                    f"'{shorten(node.text)}' stands here a second time (first on line "
                    f"{top.node.keys[node.text].line}) — keep one of the two"
                )
        if wrong:
            self.problems.append(node.problem(wrong))
            top.is_shadowed = True
