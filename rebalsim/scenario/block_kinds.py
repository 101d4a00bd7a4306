"""Blocks: the fields of one, reading it whole, and blocks laid over each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rebalsim.scenario.document import Mapping, Node, Scalar
from rebalsim.scenario.kind import BAD, Kind, Schema, shown
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.scalar_kinds import Text
from rebalsim.scenario.source import shorten
from rebalsim.words.lists import one_of
from rebalsim.words.nearest import nearest, or_nearest

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Field:
    """One key of a block: what may stand there, what it means, and where it goes in the domain."""

    name: str
    kind: Kind
    doc: str
    target: str = ""  # the attribute it sets; empty: resolve knows
    is_required: bool = False
    aliases: tuple[str, ...] = ()
    kafka: bool = False  # Kafka's own key
    default: str = ""  # for people, where no attribute's default says it
    example: str = ""


@dataclass(slots=True, eq=False)
class Written:
    """A block as written: what was read, and where each value stands."""

    node: Node
    section: Section
    values: dict[str, Any] = field(default_factory=dict)
    at: dict[str, Node] = field(default_factory=dict)
    is_bad: bool = False
    unset: dict[str, Node] = field(default_factory=dict)  # keys written as null, and where

    def get(self, name: str, default: Any = None) -> Any:
        return self.values.get(name, default)

    def __contains__(self, name: str) -> bool:
        return name in self.values


def _is_null(node: Node) -> bool:
    """Is it the word null (or ~), rather than nothing at all, which is more often an oversight?"""
    return isinstance(node, Scalar) and node.value is None and bool(node.text)


_MOST_UNKNOWN = 100  # unknown keys told in one block; whoever has more has given the wrong file


class Section(Kind):
    """A block of known keys. `shorthand` names the key that a bare value (no block) stands for."""

    def __init__(
        self,
        name: str,
        fields: Iterable[Field],
        doc: str = "",
        shorthand: str | Callable[[Node], str] = "",
        allows_nothing: bool = False,
        exactly_one: tuple[str, ...] = (),
        ignored: dict[str, str] | None = None,
        elsewhere: Callable[[str], str] | None = None,
        refused: dict[str, str] | None = None,
        after: Callable[[Written, Problems], None] | None = None,
        title: str = "",
        can_unset: Iterable[str] | bool = False,
        harmless: dict[str, str] | None = None,
    ) -> None:
        """`can_unset`: the keys that null takes back, as if no layer below had written them; True:
        all of them. Where `none` is a value of its own, null might mean that, and is refused.
        `harmless`: with this value a key that is refused says what is so anyway.
        """
        self.name = name
        self.title = title or name
        self.after = after
        self.fields: dict[str, Field] = {f.name: f for f in fields}
        wanted = self.fields if can_unset is True else set(can_unset or ())
        self.can_unset = frozenset(
            f.name
            for f in self.fields.values()
            if f.name in wanted and "none" not in getattr(f.kind, "options", ())
        )
        self.by_key: dict[str, Field] = {
            **self.fields,
            **{a: f for f in self.fields.values() for a in f.aliases},
        }
        self.doc = doc
        self.shorthand = shorthand
        self.allows_nothing = allows_nothing
        self.exactly_one = exactly_one
        self.ignored = ignored or {}
        self.refused = refused or {}
        self.harmless = harmless or {}
        self.elsewhere = elsewhere
        self.required = tuple(f.name for f in self.fields.values() if f.is_required)
        self.says = f"a block of settings with keys such as {one_of(list(self.fields)[:3])}"

    def expand(self, node: Node) -> Mapping | None:
        """The block that this node is, or stands for."""
        if isinstance(node, Mapping):
            return node
        if isinstance(node, Scalar) and node.value is None and not node.text:
            if not self.allows_nothing:
                return None
            return Mapping(node.source, node.line, node.column, node.width)
        key = self.shorthand(node) if callable(self.shorthand) else self.shorthand
        if not key:
            return None
        made = Mapping(node.source, node.line, node.column, node.width)
        made.put(Scalar(node.source, node.line, node.column, node.width, key, True), node)
        return made

    def _read(self, node: Node, out: Problems) -> Any:
        block = self.expand(node)
        if block is None:
            return self.wrong(
                node,
                out,
                f"{shown(node)} stands where {self.title} is a block of settings — "
                "write its keys below it, indented: "
                f"{', '.join(list(self.fields)[:4])}{' …' if len(self.fields) > 4 else ''}",
            )
        written = Written(block, self)
        meant, spelt = self._read_keys(block, written, out)
        self._miss(block, written, meant, out)
        if self.exactly_one:
            self._one_of_all(block, written, meant, spelt, out)
        if self.after:
            self.after(written, out)
        return written

    def _read_keys(
        self, block: Mapping, written: Written, out: Problems
    ) -> tuple[list[str], dict[str, str]]:
        """What is there, into `written`. Known keys that unknown ones were probably meant to be, and
        how each known one is spelt.
        """
        meant: list[str] = []
        spelt: dict[str, str] = {}
        for key, value in block.entries.items():
            f, at = self.by_key.get(key), block.keys[key]
            if f is None and len(meant) >= _MOST_UNKNOWN:
                what = f"There are more unknown keys in the {self.title} than these {_MOST_UNKNOWN}"
                out.add(at, f"{what} — mend them first")
                written.is_bad = True
                break
            if f is None:
                meant.append(self._unknown(block, key, out))
                written.is_bad = written.is_bad or key not in self.ignored
            elif f.name in written.at:
                out.add(at, f"'{key}' says the same as '{spelt[f.name]}' — keep one of the two")
            else:
                spelt[f.name] = key
                self._take(f, value, written, out)
        return meant, spelt

    def _take(self, f: Field, value: Node, written: Written, out: Problems) -> None:
        """Reads one key's value; null takes back what an outer block says."""
        if f.name in self.can_unset and _is_null(value):
            written.unset[f.name] = value
            return
        written.at[f.name] = value
        got = f.kind.read(value, out)
        if got is not BAD:
            written.values[f.name] = got
        if got is BAD or (isinstance(got, Written) and got.is_bad):
            written.is_bad = True

    def _miss(self, block: Mapping, written: Written, meant: list[str], out: Problems) -> None:
        """Required keys that are not there; one that an unknown key was meant to be was told of."""
        for name in self.required:
            if name in written.at:
                continue
            written.is_bad = True
            if name not in meant:
                wanted = self.fields[name].example or f"{name}: {self.fields[name].kind.says}"
                out.add(block, f"The {self.title} lacks '{name}' — write {wanted}")

    def _one_of_all(
        self,
        block: Mapping,
        written: Written,
        meant: list[str],
        spelt: dict[str, str],
        out: Problems,
    ) -> None:
        """Says what is missing where a block has none of the keys of which it needs one."""
        present = [n for n in self.exactly_one if n in written.at]
        written.is_bad = written.is_bad or len(present) != 1
        if len(present) > 1:
            out.add(
                block.keys[spelt[present[1]]],
                f"'{present[1]}' stands beside '{present[0]}' — one entry does one thing; "
                "put this into an entry of its own",
            )
        elif not present and not any(name in self.exactly_one for name in meant):
            out.add(
                block,
                f"The {self.title} does not say what happens — add one of "
                f"{', '.join(self.exactly_one[:6])} …",
            )

    def _unknown(self, block: Mapping, key: str, out: Problems) -> str:
        """Say that a key is unknown, and return the key that it was probably meant to be."""
        at = block.keys[key]
        if key in self.ignored:
            out.warn(at, f"'{key}' is Kafka's, but {self.ignored[key]} — leave it out")
        elif key in self.refused:
            entry = block.entries[key]
            if not isinstance(entry, Scalar) or entry.text != self.harmless.get(key):
                out.add(at, f"'{key}' {self.refused[key]}")
        else:
            hint = self.elsewhere(key) if self.elsewhere else ""
            out.add(
                at,
                f"'{shorten(key)}' is not a key of the {self.title} — "
                f"{hint or or_nearest(key, self.by_key)}",
            )
            return "" if hint else nearest(key, self.by_key)
        return ""

    def schema(self, defs: dict[str, Schema]) -> Schema:
        if self.name not in defs:
            defs[self.name] = {}  # a section that refers to itself finds this and ends
            properties: dict[str, Schema] = {}
            for key, f in self.by_key.items():
                properties[key] = self._described(key, f, defs)
            for key, why in self.ignored.items():
                properties[key] = {"description": f"Kafka's, but {why}.", "deprecated": True}
            block: Schema = {
                "type": "object",
                "properties": properties,
                "additionalProperties": False,
            }
            if self.doc:
                block["description"] = self.doc
            if self.required:
                block["required"] = [n for n in self.required if not self.fields[n].aliases]
                spelt = [
                    {"anyOf": [{"required": [k]} for k in (n, *self.fields[n].aliases)]}
                    for n in self.required
                    if self.fields[n].aliases
                ]
                if spelt:
                    block["allOf"] = spelt
            if self.exactly_one:
                block["oneOf"] = [{"required": [n]} for n in self.exactly_one]
            defs[self.name] = self._with_shorthand(block, defs)
        return {"$ref": f"#/$defs/{self.name.replace(' ', '%20')}"}

    def _described(self, key: str, f: Field, defs: dict[str, Schema]) -> Schema:
        described: Schema = dict(f.kind.schema(defs))
        text = f.doc if key == f.name else f"The same as {f.name}."
        if f.name in self.can_unset:
            described = {"anyOf": [described, {"type": "null"}]}
        if "$ref" in described:
            described = {"allOf": [described]}
        described["description"] = text + (" (Kafka's own key.)" if f.kafka else "")
        if f.default:
            described["default"] = f.default
        return described

    def shorthand_keys(self) -> tuple[str, ...]:
        if not self.shorthand:
            return ()
        return (
            (self.shorthand,)
            if isinstance(self.shorthand, str)
            else tuple(getattr(self.shorthand, "keys", ()))
        )

    def _with_shorthand(self, block: Schema, defs: dict[str, Schema]) -> Schema:
        forms = [block] + [self.fields[k].kind.schema(defs) for k in self.shorthand_keys()]
        if self.allows_nothing:
            forms.append({"type": "null"})
        return block if len(forms) == 1 else {"anyOf": forms}


class MapOf(Kind):
    """A block of free names, each with a value of one kind, in the file's order: {name: (value,
    key node)}.
    """

    def __init__(
        self, value: Kind, key: Text, what: str, least: int = 0, most: int = 10_000
    ) -> None:
        self.value, self.key, self.what, self.least, self.most = value, key, what, least, most
        self.says = f"a block of {what}: a name, a colon and its settings"

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Mapping):
            return self.wrong(node, out)
        if len(node.entries) < self.least:
            return self.wrong(node, out, f"There are no {self.what} here — name at least one")
        if len(node.entries) > self.most:
            return self.wrong(
                node, out, f"There are {len(node.entries)} {self.what} — write at most {self.most}"
            )
        read: dict[str, Any] = {}
        for key, at in node.keys.items():
            name = Scalar(at.source, at.line, at.column, at.width, at.text, True)
            is_named = self.key.read(name, out) is not BAD
            read[key] = self.value.read(node.entries[key], out) if is_named else BAD
        values = {key: value for key, value in read.items() if value is not BAD}
        return Named(node, values, len(values) < len(read))

    def schema(self, defs: dict[str, Schema]) -> Schema:
        made: Schema = {"type": "object", "additionalProperties": self.value.schema(defs)}
        if self.key.pattern:
            made["propertyNames"] = {"pattern": f"^(?:{self.key.pattern.pattern})$"}
        if self.least:
            made["minProperties"] = self.least
        return made


@dataclass(slots=True, eq=False)
class Named:
    """A block of free names as written."""

    node: Mapping
    values: dict[str, Any]
    is_bad: bool = False


def build(cls: type[T], written: Written | None, **more: Any) -> T:
    """The domain object that a block describes: each field that has a target sets it, the rest
    keeps the domain's default.
    """
    values: dict[str, Any] = {}
    if written is not None:
        fields = written.section.fields
        for name, value in written.values.items():
            target = fields[name].target
            if target:
                values[target] = value
    values.update(more)
    return cls(**values)


def merge(base: Written, over: Written | None) -> Written:
    """`over` laid upon `base`, block by block; what a --set option wrote or took back stays."""
    if over is None or (not over.values and not over.unset and not over.is_bad):
        return base
    values, at, unset = dict(base.values), dict(base.at), dict(base.unset)
    for name, node in over.unset.items():
        if not _stays(at.get(name), node):
            values.pop(name, None)
            at.pop(name, None)
            unset[name] = node
    for name, value in over.values.items():
        before = values.get(name)
        if isinstance(value, Written) and isinstance(before, Written):
            values[name] = merge(before, value)
            at[name] = over.at[name]
        elif not _stays(at.get(name) or unset.get(name), over.at[name]):
            values[name] = value
            at[name] = over.at[name]
            unset.pop(name, None)
    return Written(base.node, base.section, values, at, base.is_bad or over.is_bad, unset)


def _stays(below: Node | None, above: Node) -> bool:
    """Does what a --set option wrote below outlast what a file wrote above?"""
    return below is not None and below.source.is_override and not above.source.is_override
