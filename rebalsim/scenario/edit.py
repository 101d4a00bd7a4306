"""A setting changed in a scenario's text, and nothing else: comments and layout stay.

What the text says already is replaced where it stands; what it does not say is added to the
block that it belongs to. Whoever calls this reads the result again and holds it to what was
wanted: a place that this cannot edit is left to people.
"""

from __future__ import annotations

from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, parse
from rebalsim.scenario.source import Source

BLOCKS = ("cluster", "config", "group", "groups", "handler", "life", "listener", "state")


class NotEditable(Exception):
    """The place cannot be changed in the text; the message says why."""


def with_setting(text: str, path: str, value: str) -> str:
    """The text with this path set to this value, as `--set` takes both."""
    root, problems = parse(text, Source("scenario", text))
    if problems or not isinstance(root, Mapping):
        raise NotEditable("the file is no block of settings")
    block, rest = _nearest_block(root, path)
    lines = text.splitlines(keepends=True)
    if rest in block.entries:
        return _replaced(lines, block.entries[rest], value)
    return _added(lines, block, _nested(rest), value)


def _nearest_block(root: Mapping, path: str) -> tuple[Mapping, str]:
    """The innermost block that is there, and what of the path is left."""
    node: Node = root
    rest = path
    while True:
        if isinstance(node, Sequence):
            first, _, rest = rest.partition(".")
            if not first.isdigit() or int(first) >= len(node.items):
                raise NotEditable(f"the list has no entry {first}")
            node = node.items[int(first)]
            continue
        if not isinstance(node, Mapping):
            raise NotEditable("a single value stands where a block is needed")
        key = _longest(rest, node)
        if not key or key == rest:
            return node, rest
        below = node.entries[key]
        if isinstance(below, Scalar):
            raise NotEditable(f"{key} is written short, as a single value")
        node, rest = below, rest[len(key) + 1 :]


def _longest(rest: str, block: Mapping) -> str:
    found = [key for key in block.entries if rest == key or rest.startswith(f"{key}.")]
    return max(found, key=len, default="")


def _nested(rest: str) -> list[str]:
    """`config.session.timeout.ms` → [config, session.timeout.ms]."""
    keys: list[str] = []
    while True:
        first, dot, below = rest.partition(".")
        if not dot or first not in BLOCKS or "config" in keys:
            return [*keys, rest]
        keys.append(first)
        rest = below


def _replaced(lines: list[str], node: Node, value: str) -> str:
    if isinstance(node, Mapping):
        raise NotEditable("a whole block stands there")
    line = lines[node.line - 1]
    start = node.column - 1
    if isinstance(node, Sequence):
        if not line[start:].startswith("["):
            raise NotEditable("the list is written over several lines")
        end = _end_of_flow(line, start)
    else:
        end = start + _written_length(line, start)
    lines[node.line - 1] = line[:start] + value + line[end:]
    return "".join(lines)


def _written_length(line: str, start: int) -> int:
    """How long a scalar is as it is written, quotes included."""
    quote = line[start]
    if quote in "'\"":
        end = line.find(quote, start + 1)
        if end < 0:
            raise NotEditable("a quoted text goes over several lines")
        return end + 1 - start
    ends = [line.find(mark, start) for mark in (",", "}", "]", " #", "\n", "\r")]
    return (
        min([end for end in ends if end >= 0], default=len(line))
        - start
        - _trailing(line, start, min([end for end in ends if end >= 0], default=len(line)))
    )


def _trailing(line: str, start: int, end: int) -> int:
    return len(line[start:end]) - len(line[start:end].rstrip())


def _end_of_flow(line: str, start: int) -> int:
    """The column behind the bracket that closes the one at `start`."""
    depth, quote = 0, ""
    for place in range(start, len(line)):
        c = line[place]
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in "[{":
            depth += 1
        elif c in "]}":
            depth -= 1
            if not depth:
                return place + 1
    raise NotEditable("a list or block in brackets goes over several lines")


def _added(lines: list[str], block: Mapping, keys: list[str], value: str) -> str:
    if not block.keys:
        raise NotEditable("the block is empty")
    first = next(iter(block.keys.values()))
    opening = lines[first.line - 1][: first.column - 1].rstrip()
    if opening.endswith(("{", ",")) and "{" in opening:
        start = lines[first.line - 1].rfind("{", 0, first.column)
        end = _end_of_flow(lines[first.line - 1], start) - 1
        inner = value
        for key in reversed(keys[1:]):
            inner = f"{{{key}: {inner}}}"
        line = lines[first.line - 1]
        lines[first.line - 1] = f"{line[:end].rstrip()}, {keys[0]}: {inner}{line[end:]}"
        return "".join(lines)
    indent = first.column - 1
    at = first.line - 1
    margin = lines[at][:indent]
    if margin.strip(" -"):
        raise NotEditable("the block begins behind other text")
    shown = [f"{'  ' * n}{key}:" for n, key in enumerate(keys)]
    shown[-1] += f" {value}"
    last = _last_line(block)
    if lines[last - 1] and not lines[last - 1].endswith("\n"):
        lines[last - 1] += "\n"
    lines[last:last] = [f"{' ' * indent}{text}\n" for text in shown]
    return "".join(lines)


def _last_line(node: Node) -> int:
    """The last line of the block."""
    if isinstance(node, Mapping):
        inner = [*node.keys.values(), *node.entries.values()]
    elif isinstance(node, Sequence):
        inner = list(node.items)
    else:
        inner = []
    return max([node.line, *map(_last_line, inner)])
