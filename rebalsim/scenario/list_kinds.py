"""Kinds made of another kind: a list of it, or it and nothing."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.block_kinds import Section, Written
from rebalsim.scenario.document import Node, Scalar, Sequence
from rebalsim.scenario.kind import BAD, Kind, Schema
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.scalar_kinds import Whole


class Nullable(Kind):
    """A word that stands for nothing (`never`, `none`), or the other kind."""

    def __init__(self, word: str, inner: Kind) -> None:
        self.word, self.inner = word, inner
        self.says = f"{word}, or {inner.says}"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and node.text == self.word:
            return None
        if (
            isinstance(self.inner, Whole)
            and isinstance(node, Scalar)
            and isinstance(node.value, str)
            and not node.trap
        ):
            return self.wrong(node, out)  # any other word is wrong here
        return self.inner.read(node, out)

    def read(self, node: Node, out: Problems) -> Any:
        return self._read(node, out)  # the inner kind remembers

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"anyOf": [{"const": self.word}, self.inner.schema(defs)]}

    def say(self, value: Any) -> str:
        return self.word if value is None else self.inner.say(value)


class ListOf(Kind):
    """Several of a kind; one may stand without its brackets (`is_lenient`), or text be split at
    commas as Kafka's lists are.
    """

    def __init__(
        self,
        item: Kind,
        is_lenient: bool = False,
        splits: bool = False,
        least: int = 0,
        says: str = "",
        most: int = 20_000,
        goes_on: bool = False,
    ) -> None:
        self.goes_on = goes_on  # blocks that cannot be read stay, marked as bad
        self.item, self.is_lenient, self.splits, self.least, self.most = (
            item,
            is_lenient or splits,
            splits,
            least,
            most,
        )
        self.says = says or f"a list such as [{item.says}]"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Sequence):
            if len(node.items) < self.least:
                return self.wrong(node, out, f"The list is empty — write at least {self.least}")
            if len(node.items) > self.most:
                says = f"The list has {len(node.items):,} entries — write at most {self.most:,}"
                return self.wrong(node, out, says)
            return self._read_items(node.items, out)
        if not isinstance(node, Scalar) or node.value is None:
            return self.wrong(node, out)
        if self.splits and isinstance(node.value, str) and "," in node.value:
            place = (node.source, node.line, node.column, node.width)
            parts = [part.strip() for part in node.value.split(",")]
            return self._read_items([Scalar(*place, part, True) for part in parts if part], out)
        return self._read_items([node], out) if self.is_lenient else self.wrong(node, out)

    def _read_items(self, items: list[Node] | list[Scalar], out: Problems) -> Any:
        values = [self.item.read(item, out) for item in items]
        if self.goes_on and isinstance(self.item, Section):
            return tuple(
                Written(at, self.item, is_bad=True) if v is BAD else v
                for v, at in zip(values, items)
            )
        return BAD if any(v is BAD for v in values) else tuple(values)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        items = self.item.schema(defs)
        listed: Schema = {"type": "array", "items": items}
        if self.least:
            listed["minItems"] = self.least
        if self.splits:
            return {"anyOf": [listed, {"type": "string"}]}
        return {"anyOf": [listed, items]} if self.is_lenient else listed

    def say(self, value: Any) -> str:
        return "[" + ", ".join(self.item.say(v) for v in value) + "]"
