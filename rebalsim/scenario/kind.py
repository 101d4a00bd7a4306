"""What a kind of value is: it reads a node, says what is wrong with it, and describes itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from rebalsim.scenario.document import Node, Scalar, Sequence
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten


class _Bad:
    """What a value is when it could not be read; its problem is noted already."""

    def __repr__(self) -> str:
        return "BAD"


BAD: Final = _Bad()
Schema = dict[str, Any]


def named_schema(defs: dict[str, Schema], name: str, make: Callable[[], Schema]) -> Schema:
    """A schema that is used in many places and written once, by its name."""
    if name not in defs:
        defs[name] = make()
    return {"$ref": f"#/$defs/{name.replace(' ', '%20')}"}


def shown(node: Node) -> str:
    """The value as a message shows it."""
    if isinstance(node, Scalar):
        return (
            "nothing"
            if node.value is None and not node.text
            else f"'{shorten(node.text, 40)}'"
            if isinstance(node.value, str)
            else shorten(node.text, 40)
        )
    return "a list" if isinstance(node, Sequence) else "a block"


class Kind:
    """What may stand somewhere. `says` completes the sentence "write …"."""

    says = "something else"

    def read(self, node: Node, out: Problems) -> Any:
        """The value, or BAD with its problems noted."""
        if node.kind is not self:
            mine = Problems()
            if isinstance(node, Scalar) and node.trap:
                mine.add(node, node.trap)
                node.value_read = BAD
            else:
                node.value_read = self._read(node, mine)
            node.found = mine.items
            node.kind = self
        if node.found:
            out.take(node.found)
        return node.value_read

    def _read(self, node: Node, out: Problems) -> Any:
        raise NotImplementedError

    def schema(self, defs: dict[str, Schema]) -> Schema:
        raise NotImplementedError

    def say(self, value: Any) -> str:
        """The value as a file would write it."""
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, (list, tuple)):
            return "[" + ", ".join(str(v) for v in value) + "]"
        return str(value)

    def wrong(self, node: Node, out: Problems, why: str = "") -> Any:
        said = why or f"{shown(node)} does not fit here — write {self.says}"
        out.add(
            node,
            said[0].upper() + said[1:]
            if said.startswith(("a list", "a block", "nothing"))
            else said,
        )
        return BAD
