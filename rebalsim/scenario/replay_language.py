"""Variants: what a story is replayed as."""

from __future__ import annotations

import re
from typing import Any

from rebalsim.scenario.cluster_language import CLUSTER
from rebalsim.scenario.common_language import ANY_TEXT, NAME
from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import BAD, Choice, Field, Kind, MapOf, Schema, Section, Written
from rebalsim.scenario.member_language import (
    TEMPLATE_FIELDS,
    TEMPLATE_KEYS,
    one_subscription,
    under_config,
)
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.scenario.streams_language import STREAMS

STOCK_VARIANTS = (
    "eager",
    "cooperative",
    "consumer",
    "low-latency",
    "static-production",
    "as-written",
)


class SetBlock(Kind):
    """Free paths, as in --set: [(path node, value node)]."""

    says = "a block of paths and values, as in {cluster.brokers: 2}"

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Mapping):
            return self.wrong(node, out)
        return tuple((node.keys[key], value) for key, value in node.entries.items())

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"type": "object"}

    def say(self, value: Any) -> str:
        return ", ".join(key.text for key, _ in value)


class Version(Kind):
    """A version, quoted or not."""

    says = 'a version such as "4.3"'

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            isinstance(node, Scalar)
            and not isinstance(node.value, bool)
            and re.fullmatch(r"[0-9]{1,3}(\.[0-9x]{1,3}){0,3}", node.text)
        ):
            return node.text
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9x]{1,3}){0,3}$"},
                {"type": "number"},
            ]
        }


OVERLAY = Section(
    "variant",
    (
        Field(
            "based_on",
            Choice(*STOCK_VARIANTS),
            "A stock variant to begin with.",
            default="as-written",
            aliases=("protocol",),
        ),
        Field(
            "kafka",
            Version(),
            "Brokers of another Kafka version, and Java clients of that version where none is "
            "named.",
            default="the story's",
        ),
        *[f for f in TEMPLATE_FIELDS if f.name not in ("topics", "pattern", "rack", "client.tag")],
        Field("worker", WORKER_CONFIG, "Connect workers: what they have otherwise."),
        Field("cluster", CLUSTER, "Changes to the cluster."),
        Field("streams", STREAMS, "Changes to a Kafka Streams application."),
        Field(
            "set",
            SetBlock(),
            "Any other setting by its path, as in {topics.orders.partitions: 24}.",
        ),
        Field("why", ANY_TEXT, "A line about it."),
    ),
    "A variant: what it has otherwise. null takes back what the story has set, as in "
    "{group.instance.id: null}.",
    allows_nothing=True,
    elsewhere=under_config,
    after=one_subscription,
    can_unset=TEMPLATE_KEYS,
)
_OVERLAYS = MapOf(OVERLAY, NAME, "variants", most=32)
# What tells an entry of `replay` apart that has no name: it is then called by them, as in
# kafka-3.9-eager.
TELLING = ("kafka", "client", "client_version", "protocol", "based_on")


def is_unnamed(item: Mapping) -> bool:
    """Is this `{kafka: "3.9"}`, and not `{mine: {…}}`? Then a value stands where a variant of
    one's own has its block.
    """
    return any(
        isinstance(value, Scalar) and bool(value.text) for value in map(item.entries.get, TELLING)
    )


def name_of(item: Mapping) -> str:
    """What an entry without a name is called by: kafka-4.3-consumer, librdkafka,
    librdkafka-2.15.
    """
    said = {key: node.text for key, node in item.entries.items() if isinstance(node, Scalar)}
    client, version = said.get("client", ""), said.get("client_version", "")
    kafka, protocol = said.get("kafka", ""), said.get("protocol") or said.get("based_on", "")
    parts = [
        f"kafka-{kafka}" if kafka else "",
        client or ("client" if version else ""),
        version,
        protocol,
    ]
    name = "-".join(part for part in parts if part)
    return re.sub(r"[^a-zA-Z0-9._\-]", "-", name)[:120]


def _says_something(written: Written | None) -> bool:
    return written is not None and bool(written.at or written.unset)


class Replay(Kind):
    """[eager, cooperative, {kafka: "3.9"}, {mine: {…}}] or a block: a tuple of (name, overlay or
    None, node).
    """

    says = (
        'a list such as [eager, cooperative] or [{kafka: "3.9"}, {client: librdkafka}], or a '
        "block of variants of your own"
    )

    def _read(self, node: Node, out: Problems) -> Any:
        items = self._items(node, out)
        if items is BAD:
            return BAD
        if not items:
            none = f"There is no variant here — write {self.says}"
            return BAD if out.items else self.wrong(node, out, none)
        if len(items) > 32:
            return self.wrong(node, out, f"There are {len(items)} variants — write at most 32")
        variants: dict[str, tuple[Any, Node]] = {}
        for name, written, at in items:
            if name in variants:
                out.add(at, f"'{name}' is replayed twice — keep one of the two")
            elif name in STOCK_VARIANTS or _says_something(written):
                variants[name] = (written if _says_something(written) else None, at)
            elif written is None or not written.is_bad:  # else that is told already
                _tell_unknown(name, at, out)
        return tuple((name, written, at) for name, (written, at) in variants.items()) or BAD

    def _items(self, node: Node, out: Problems) -> Any:
        """Name, what it changes and where it stands, of each; BAD where one is none."""
        if isinstance(node, Mapping) and not is_unnamed(node):
            named = _OVERLAYS.read(node, out)
            return BAD if named is BAD else _named_in(node, named)
        items: list[tuple[str, Written | None, Node]] = []
        for item in node.items if isinstance(node, Sequence) else [node]:
            if isinstance(item, Mapping) and is_unnamed(item):
                written = OVERLAY.read(item, out)
                if written is not BAD:
                    items.append((name_of(item), written, next(iter(item.keys.values()))))
            elif isinstance(item, Mapping) and len(item.entries) == 1:
                named = _OVERLAYS.read(item, out)
                items += [] if named is BAD else _named_in(item, named)
            elif isinstance(item, Scalar) and isinstance(item.value, str) and not item.trap:
                items.append((item.text, None, item))
            else:
                return self.wrong(item, out)
        return items

    def schema(self, defs: dict[str, Schema]) -> Schema:
        stock: Schema = {"enum": list(STOCK_VARIANTS)}
        own = {**_OVERLAYS.schema(defs), "minProperties": 1}
        text: Schema = {"type": ["string", "number"], "minLength": 1}
        unnamed: Schema = {
            "allOf": [OVERLAY.schema(defs)],
            "type": "object",
            "anyOf": [{"properties": {key: text}, "required": [key]} for key in TELLING],
        }
        listed: Schema = {"anyOf": [stock, unnamed, {**own, "maxProperties": 1}]}
        return {
            "anyOf": [
                stock,
                unnamed,
                {"type": "array", "minItems": 1, "maxItems": 32, "items": listed},
                own,
            ]
        }

    def say(self, value: Any) -> str:
        return "[" + ", ".join(name for name, _, _ in value) + "]"


REPLAY = Replay()


def _named_in(node: Mapping, named: Any) -> list[tuple[str, Written | None, Node]]:
    return [(name, written, node.keys[name]) for name, written in named.values.items()]


def _tell_unknown(name: str, at: Node, out: Problems) -> None:
    from rebalsim.words.nearest import or_nearest

    hint = or_nearest(name, STOCK_VARIANTS)
    out.add(
        at,
        f"'{shorten(name)}' is not a variant that ships with rebalsim — "
        f"{hint}{'' if hint.endswith('?') else '.'} One of your own says "
        f"what it changes, as in {shorten(name, 20)}: {{config: {{…}}}}",
    )
