"""YAML and JSON as trees of text with lines, read leniently: these are other people's files.

Duplicate keys are merged or the last one wins, as most readers do; a file that refers to itself, or
that unfolds into too much, is refused in a sentence.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from rebalsim.worlds.values import Text, Tree

LARGEST = 4_000_000  # characters of one file
MOST = 200_000  # entries of one file when every alias is unfolded
SMALL = 100_000  # characters that cannot hold too many of them
DEEPEST = 200  # a container in a container …

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULL = "tag:yaml.org,2002:null"
_MERGE = "tag:yaml.org,2002:merge"


class Unreadable(Exception):
    """A text that is not what it should be: the line, and why."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why

    def __str__(self) -> str:
        return f"line {self.line}: {self.why}"


def trees(text: str, file: str) -> list[Tree]:
    """Every document of a YAML (or JSON) text that is not empty."""
    if len(text) > LARGEST:
        raise Unreadable(1, f"larger than {LARGEST:,} characters: no deployment file is")
    try:
        _refuse_much(text)
        nodes = [n for n in yaml.compose_all(str(text), Loader=_Loader) if n is not None]
    except yaml.MarkedYAMLError as e:
        mark = e.problem_mark or e.context_mark
        raise Unreadable(mark.line + 1 if mark else 1, e.problem or "not YAML") from None
    except yaml.YAMLError as e:
        raise Unreadable(1, str(e).splitlines()[0]) from None
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None
    reader = _Reader(file)
    try:
        return [t for t in (reader.tree(n) for n in nodes) if t is not None]
    except RecursionError:
        raise Unreadable(1, "nested too deeply") from None


_INDENTED = re.compile(rf"^[ ?-]{{{DEEPEST}}}", re.MULTILINE)


def _refuse_much(text: str) -> None:
    """Unreadable where containers are nested so deeply that composing them, which recurs in C,
    would end the process, or where there are so many entries that it would take long. Most texts
    cannot be, as they are small and have too few brackets and too little indentation; of the
    others the events tell.
    """
    if (
        len(text) < SMALL
        and text.count("[") + text.count("{") < DEEPEST
        and not _INDENTED.search(text)
    ):
        return
    depth = count = 0
    for event in yaml.parse(str(text), Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            continue
        count += 1
        if count > MOST:
            raise Unreadable(line, f"holds more than {MOST:,} entries")
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise Unreadable(line, "nested too deeply")


class _Reader:
    """Turns nodes into trees; one for a file, so that what is unfolded is counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.sizes: dict[int, tuple[Tree, int]] = {}
        self.open: set[int] = set()
        self.size = 0

    def tree(self, node: yaml.Node) -> Tree:
        return self._read(node)[0]

    def _read(self, node: yaml.Node) -> tuple[Tree, int]:
        if isinstance(node, yaml.ScalarNode):
            line = node.start_mark.line + 1
            if node.tag == _NULL and not node.style:
                return None, 1
            return Text(node.value, self.file, line, not node.style), 1
        if id(node) in self.sizes:
            return self.sizes[id(node)]
        line = node.start_mark.line + 1
        if id(node) in self.open:
            raise Unreadable(line, "an anchor that contains itself: it has no end")
        self.open.add(id(node))
        made, size = self._list(node) if isinstance(node, yaml.SequenceNode) else self._dict(node)
        self.open.discard(id(node))
        if size > MOST:
            raise Unreadable(line, f"unfolds into more than {MOST:,} entries")
        self.sizes[id(node)] = made, size
        return made, size

    def _list(self, node: yaml.SequenceNode) -> tuple[Tree, int]:
        read = [self._read(v) for v in node.value]
        return [t for t, _ in read], 1 + sum(s for _, s in read)

    def _dict(self, node: Any) -> tuple[Tree, int]:
        made: dict[Text, Tree] = {}
        merged: dict[Text, Tree] = {}
        size = 1
        for key_node, value_node in node.value:
            value, n = self._read(value_node)
            size += n + 1
            if key_node.tag == _MERGE:
                for part in value if isinstance(value, list) else [value]:
                    if isinstance(part, dict):
                        merged = {**part, **merged}
                continue
            key, _ = self._read(key_node)
            key = key if isinstance(key, Text) else Text(str(key), self.file)
            old = made.get(key)
            if isinstance(old, dict) and isinstance(value, dict):
                value = merge(old, value)
            made[key] = value
        return {**{k: v for k, v in merged.items() if k not in made}, **made}, size


def merge(old: Tree, new: Tree) -> Tree:
    """Two trees laid over each other; where both tell something, the new one holds."""
    if isinstance(old, dict) and isinstance(new, dict):
        return {
            **old,
            **{k: merge(old[k], v) if k in old else v for k, v in new.items()},
        }
    return new


def at(tree: Tree, *path: str | int) -> Tree:
    """What stands at a path, or nothing."""
    for step in path:
        if isinstance(tree, dict) and isinstance(step, str):
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def table(tree: Tree) -> dict[Text, Tree]:
    return tree if isinstance(tree, dict) else {}


def rows(tree: Tree) -> list[dict[Text, Tree]]:
    """The tables of a list."""
    return [t for t in tree if isinstance(t, dict)] if isinstance(tree, list) else []


def word(tree: Tree) -> Text | None:
    """A scalar that says something."""
    return tree if isinstance(tree, Text) and tree.strip() else None


def texts(tree: Tree) -> list[Text]:
    """The scalars of a list, or one alone."""
    if isinstance(tree, list):
        return [t for t in tree if isinstance(t, Text)]
    return [tree] if isinstance(tree, Text) else []
