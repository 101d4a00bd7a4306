"""`--set PATH=VALUE`: any setting by its path, without touching the file. The result shares every
untouched part with the original.

Kafka's keys contain dots, so a path is walked with the table at hand: at each block the longest
known key wins. Free names (topics, members, groups) are looked up in the file. Lists are entered
by number or, in the script, by an action's id.
"""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.action_language import ACTION
from rebalsim.scenario.config_language import _BROKER_NAMES, CLIENT_NAMES
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, parse
from rebalsim.scenario.kinds import Kind, ListOf, MapOf, Section
from rebalsim.scenario.language import SCENARIO
from rebalsim.scenario.member_language import GROUP, LISTED_MEMBER, MEMBER, Members
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.replay_language import OVERLAY, Replay, is_unnamed, name_of
from rebalsim.scenario.source import Source, shorten
from rebalsim.scenario.topic_language import RateKind
from rebalsim.words.nearest import nearest, or_nearest

Value = str | int | float | bool | None | list[Any] | tuple[Any, ...] | dict[str, Any]
Override = str | tuple[str, Value]


def override(root: Mapping, one: Override, out: Problems) -> Mapping:
    """The tree with one setting replaced or added; unchanged, with a problem, where the path
    leads nowhere.
    """
    if isinstance(one, str):
        path, equals, text = one.partition("=")
        source = Source("--set", one, label="--set", is_override=True)
        if not equals or not path.strip():
            write = "write --set PATH=VALUE, as in --set group.members=5"
            what = f"'{shorten(one)}' sets nothing — {write}"
            out.items.append(source.problem(1, 1, what, len(one)))
            return root
        value, found = _parsed(text, source, len(path) + 2)
        if found or value is None:
            out.items.extend(found)
            return root
    else:
        path, given = one
        source = Source("--set", f"{path}={given}", label="--set", is_override=True)
        value = _node_of(given, source)
    return put(root, path.strip(), value, source, out)


def put(root: Mapping, path: str, value: Node, source: Source, out: Problems) -> Mapping:
    if path == "replay":
        value = _with_own(root.entries.get("replay"), value)
    path = _whole(root, path)
    walker = _Walker(path, value, source, out)
    made = walker.into(root, SCENARIO, path)
    return made if isinstance(made, Mapping) else root


def _whole(root: Mapping, path: str) -> str:
    """A short path made whole: one of Kafka's keys alone, or a part of the group's block, where
    there is one group.
    """
    if _longest(path, SCENARIO.by_key) and path not in _BROKER_NAMES:
        return path
    if path in CLIENT_NAMES and "groups" not in root.entries:
        return f"group.config.{path}"
    if path in _BROKER_NAMES:
        return f"cluster.config.{path}"
    is_of_group = _longest(path, GROUP.by_key) and "groups" not in root.entries
    return f"group.{path}" if is_of_group else path


def _with_own(written: Node | None, wanted: Node) -> Node:
    """A list of variants in which those that the file defines may stand by their names alone."""
    own: dict[str, Node] = {}
    for block in written.items if isinstance(written, Sequence) else [written]:
        if isinstance(block, Mapping) and is_unnamed(block):
            own[name_of(block)] = block
        elif isinstance(block, Mapping):
            for name, key in block.keys.items():
                own[name] = one = Mapping(block.source, key.line, key.column, key.width)
                one.put(key, block.entries[name])
    items = wanted.items if isinstance(wanted, Sequence) else [wanted]
    if isinstance(wanted, Mapping) or not any(
        isinstance(item, Scalar) and item.text in own for item in items
    ):
        return wanted
    found = [own.get(item.text, item) if isinstance(item, Scalar) else item for item in items]
    return Sequence(wanted.source, wanted.line, wanted.column, wanted.width, found)


def _parsed(text: str, source: Source, column: int) -> tuple[Node | None, list[Any]]:
    """The value behind the equals sign: YAML on one line."""
    if (
        not any(c in text for c in "[]{}\"'#&*!|>%@`\n\t")
        and ": " not in text
        and not text.endswith(":")
        and not text.startswith("- ")
    ):
        return Scalar(source, 1, column, max(1, len(text)), text.strip(), False), []
    node, found = parse(text, source)
    moved = [source.problem(1, column + p.column - 1, p.message, p.width) for p in found]
    if node is not None:
        _shift(node, column - 1)
    return node, moved


def _shift(node: Node, by: int) -> None:
    node.column += by
    if isinstance(node, Mapping):
        for key in node.keys.values():
            key.column += by
        for value in node.entries.values():
            _shift(value, by)
    elif isinstance(node, Sequence):
        for item in node.items:
            _shift(item, by)


def _node_of(value: Value, source: Source) -> Node:
    """A Python value as a node, as if it had been written in the file."""
    if isinstance(value, dict):
        made = Mapping(source, 1, 1)
        for key, inner in value.items():
            made.put(Scalar(source, 1, 1, 1, str(key), True), _node_of(inner, source))
        return made
    if isinstance(value, (list, tuple)):
        return Sequence(source, 1, 1, 1, [_node_of(item, source) for item in value])
    if isinstance(value, bool) or value is None:
        return Scalar(source, 1, 1, 1, {True: "true", False: "false", None: "null"}[value], False)
    if isinstance(value, float):
        text = (
            str(int(value))
            if value == int(value) and abs(value) < 1e15
            else f"{value:.9f}".rstrip("0")
        )
        return Scalar(source, 1, 1, 1, text, False)
    return Scalar(source, 1, 1, 1, str(value), False)


class _Walker:
    def __init__(self, path: str, value: Node, source: Source, out: Problems) -> None:
        self.path = path
        self.value = value
        self.source = source
        self.out = out

    def fail(self, rest: str, message: str) -> None:
        column = self.path.rfind(rest) + 1 if rest else 1
        self.out.items.append(self.source.problem(1, max(1, column), message, max(1, len(rest))))

    def into(self, node: Node | None, kind: Kind, rest: str) -> Node | None:
        """The node with what `rest` names below it replaced; None with a problem noted."""
        if not rest:
            return self.value
        if isinstance(kind, Section):
            return self._block(node, kind, rest)
        if isinstance(kind, MapOf):
            return self._named(node, kind.value, rest, kind.what)
        if isinstance(kind, ListOf):
            return self._listed(node, kind.item, rest)
        if isinstance(kind, Members):
            if isinstance(node, Sequence):
                return self._listed(node, LISTED_MEMBER, rest)
            return self._named(node, MEMBER, rest, "members")
        if isinstance(kind, Replay):
            return self._variant(node, rest)
        if isinstance(kind, RateKind) and isinstance(node, Sequence):
            from rebalsim.scenario.topic_language import RATE_STEP

            return self._listed(node, RATE_STEP, rest)
        inner = getattr(kind, "inner", None)
        if isinstance(inner, Kind):
            return self.into(node, inner, rest)
        if isinstance(node, Mapping):
            key = _longest(rest, node.entries) or rest
            return self._put(
                node,
                key,
                self.value
                if key == rest
                else self.into(node.entries.get(key), _ANYTHING, rest[len(key) + 1 :]),
            )
        if isinstance(node, Sequence):
            return self._listed(node, _ANYTHING, rest)
        self.fail(
            rest,
            f"The path '{shorten(self.path)}' goes on where there is a single value — write it "
            f"without .{shorten(rest)}",
        )
        return None

    def _variant(self, node: Node | None, rest: str) -> Node | None:
        """Among variants that are listed: the item that has the name which `rest` begins with."""
        for place, item in enumerate(node.items if isinstance(node, Sequence) else ()):
            if not isinstance(item, Mapping):
                continue
            named = _as_named(item) if is_unnamed(item) else item
            names = {name_of(item): None} if is_unnamed(item) else item.entries
            if _longest(rest, names):
                changed = self._named(named, OVERLAY, rest, "variants")
                assert isinstance(node, Sequence)
                return None if changed is None else self._with_item(node, place, changed)
        return self._named(node, OVERLAY, rest, "variants of one's own")

    def _block(self, node: Node | None, section: Section, rest: str) -> Node | None:
        key = _longest(rest, section.by_key)
        if not key:
            first = rest.split(".")[0]
            near = nearest(first, section.by_key) or nearest(rest, section.by_key)
            hint = f"did you mean '{near}'?" if near else or_nearest(first, section.by_key)
            if section.elsewhere and (
                better := section.elsewhere(rest) or section.elsewhere(first)
            ):
                hint = better
            self.fail(rest, f"'{shorten(rest)}' is not a key of the {section.title} — {hint}")
            return None
        block = self._opened(node, section)
        field = section.by_key[key]
        spelt = next(
            (k for k in (field.name, *field.aliases) if block is not None and k in block.entries),
            field.name,
        )
        below = block.entries.get(spelt) if block is not None else None
        changed = self.into(below, field.kind, rest[len(key) + 1 :])
        return None if changed is None else self._put(block, spelt, changed)

    def _opened(self, node: Node | None, section: Section) -> Mapping | None:
        return None if node is None else section.expand(node)

    def _named(self, node: Node | None, kind: Kind, rest: str, what: str) -> Node | None:
        if node is not None and not isinstance(node, Mapping):
            self.fail(
                rest,
                f"'{shorten(rest)}' names one of the {what}, but the file does not list them by "
                "name — give them settings by overrides:",
            )
            return None
        known = node.entries if node is not None else {}
        key = _longest(rest, known)
        if not key:
            if "." in rest and known:
                self.fail(
                    rest,
                    f"'{shorten(rest.split('.')[0])}' is none of the {what} — "
                    f"{or_nearest(rest.split('.')[0], known)}",
                )
                return None
            key = rest.split(".")[0] if not known else rest
        changed = self.into(known.get(key), kind, rest[len(key) + 1 :])
        return None if changed is None else self._put(node, key, changed)

    def _listed(self, node: Node | None, kind: Kind, rest: str) -> Node | None:
        first, _, below = rest.partition(".")
        items = node.items if isinstance(node, Sequence) else [] if node is None else [node]
        place: int | None = int(first) if first.isdigit() and len(first) < 7 else None
        if place is None:
            ids: dict[str, int] = {}
            for i, item in enumerate(items):
                name = (
                    item.entries.get("id" if kind is ACTION else "name")
                    if isinstance(item, Mapping)
                    else None
                )
                if isinstance(name, Scalar):
                    ids[name.text] = i
            first = _longest(rest, ids)
            place = ids.get(first) if first else None
            below = rest[len(first) + 1 :]
            if place is None:
                self.fail(
                    rest,
                    f"'{shorten(rest.split('.')[0])}' is no entry of this list —"
                    f" {or_nearest(rest.split('.')[0], ids, 'write its number, counted from 0')}",
                )
                return None
        if place >= len(items):
            self.fail(
                rest,
                f"The list has {len(items)} entries, counted from 0 — there is no number {place}",
            )
            return None
        changed = self.into(items[place], kind, below)
        if changed is None:
            return None
        if not isinstance(node, Sequence):
            return changed
        return self._with_item(node, place, changed)

    def _with_item(self, node: Sequence, place: int, changed: Node) -> Sequence:
        return Sequence(
            node.source,
            node.line,
            node.column,
            node.width,
            [*node.items[:place], changed, *node.items[place + 1 :]],
        )

    def _put(self, block: Mapping | None, key: str, value: Node | None) -> Mapping | None:
        if value is None:
            return None
        made = (
            Mapping(block.source, block.line, block.column, block.width)
            if block is not None
            else Mapping(self.source, 1, 1)
        )
        if block is not None:
            made.entries.update(block.entries)
            made.keys.update(block.keys)
        made.entries[key] = value
        if key not in made.keys:
            made.keys[key] = Scalar(self.source, 1, 1, max(1, len(self.path)), key, True)
        return made


class _Anything(Kind):
    """What lies below budgets and other free blocks, where any key may stand."""


_ANYTHING = _Anything()


def _as_named(item: Mapping) -> Mapping:
    """An entry of `replay` without a name, under the one that it is called by."""
    made = Mapping(item.source, item.line, item.column, item.width)
    made.put(Scalar(item.source, item.line, item.column, item.width, name_of(item), True), item)
    return made


def _longest(rest: str, known: Any) -> str:
    """The longest known key that `rest` begins with; '' if none."""
    if rest in known:
        return rest
    at = rest.rfind(".")
    while at > 0:
        if rest[:at] in known:
            return rest[:at]
        at = rest.rfind(".", 0, at)
    return ""
