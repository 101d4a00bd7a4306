"""Topics as objects of a cluster: Strimzi's, Confluent's, Redpanda's, NAIS' and others' operators
write the same two numbers under other names.
"""

from __future__ import annotations

import re

from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.text_tree import at, word
from rebalsim.worlds.understood import Understood
from rebalsim.worlds.values import Text, Tree, Value, place, stated, unknown
from rebalsim.worlds.words import whole

_PLACES = ((), ("config",), ("parameters",), ("forProvider",))  # under spec
_PARTITIONS = ("partitions", "partitionCount", "partitionsCount")
# `replicas` of a topic are copies, not pods.
_COPIES = ("replicas", "replicationFactor", "replication")
_OPERATORS = re.compile(r"kafka|redpanda|strimzi|confluent|aiven")


def is_topic(kind: str, version: str) -> bool:
    return kind == "KafkaTopic" or (kind == "Topic" and bool(_OPERATORS.search(version)))


def read_topic(made: Understood, tree: Tree) -> None:
    if name := _name(tree):
        made.topics[name] = counts_of(at(tree, "spec"))


def counts_of(spec: Tree) -> dict[str, Value]:
    """Partitions and copies, as far as they are told."""
    told = {"partitions": _first(spec, _PARTITIONS), "replication": _first(spec, _COPIES)}
    return {key: _number(value) for key, value in told.items() if value is not None}


def _first(spec: Tree, names: tuple[str, ...]) -> Tree:
    spots = (at(spec, *where, name) for where in _PLACES for name in names)
    return next((s for s in spots if s is not None), None)


def _name(tree: Tree) -> str:
    """The topic's name in Kafka: NAIS puts the namespace before the object's."""
    own = next((n for k in ("topicName", "name") if (n := word(at(tree, "spec", k)))), None)
    name = own or word(at(tree, "metadata", "name"))
    space = word(at(tree, "metadata", "namespace"))
    if own is None and space and "nais" in str(at(tree, "apiVersion")):
        return f"{space}.{name}"
    return str(name or "")


def _number(tree: Tree) -> Value:
    said = resolved(tree, {}) if isinstance(tree, Text) else None
    found = whole(said) if said is not None else None
    return unknown(place(tree)) if found is None else stated(found, place(tree))
