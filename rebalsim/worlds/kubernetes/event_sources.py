"""Objects from which an operator makes a consumer: Argo's event sources, Camel's bindings,
collectors of OpenTelemetry.

They say topics and group themselves; the pods are the operator's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.collectors import read_collectors
from rebalsim.worlds.clients.reading import Reading, one_member, read_setting
from rebalsim.worlds.clients.topics import topics_value
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.text_tree import Unreadable, at, table, trees, word
from rebalsim.worlds.values import Text, Tree, Value, default, inferred, place, stated
from rebalsim.worlds.words import boolean, whole

KINDS = ("EventSource", "KameletBinding", "Pipe", "OpenTelemetryCollector")


@dataclass(slots=True)
class Made:
    """A consumer that an operator makes of an object, or why it makes none."""

    label: str
    replicas: Value
    reading: Reading | None
    why_not: str = ""


def read_event_source(tree: Tree) -> Iterator[Made]:
    kind, name = str(at(tree, "kind")), str(at(tree, "metadata", "name") or "")
    label, replicas = f"{kind}/{name}", _replicas(tree)
    if kind == "EventSource":
        for own, told in table(at(tree, "spec", "kafka")).items():
            yield _of_argo(label, replicas, str(own), told)
    elif kind == "OpenTelemetryCollector":
        for reading in read_collectors(_config(tree), {}):
            yield Made(label, replicas, reading)
    elif _is_kafka_source(tree):
        yield Made(label, replicas, _of_camel(at(tree, "spec", "source", "properties")))


def _replicas(tree: Tree) -> Value:
    told = at(tree, "spec", "replicas")
    count = whole(told) if isinstance(told, Text) else None
    return default(1, "the operator starts one") if count is None else stated(count, place(told))


def _config(tree: Tree) -> Tree:
    """The collector's own file: a tree, or one in a text."""
    told = at(tree, "spec", "config")
    if not isinstance(told, Text):
        return told
    try:
        return next(iter(trees(str(told), told.file)), None)
    except Unreadable:
        return None


def _of_argo(label: str, replicas: Value, name: str, told: Tree) -> Made:
    """An event source on Kafka: without a group it reads one partition by its number."""
    group = word(at(told, "consumerGroup", "groupName"))
    if group is None:
        why = "no consumerGroup: it reads one partition by its number, in no group"
        return Made(f"{label} {name}", replicas, None, why)
    reading = Reading(name=name, consumes=True, mentions_kafka=True)
    reading.client = inferred("sarama", "Argo Events is written in Go")
    reading.members = one_member("one per event source")
    reading.put("group.id", read_setting("group.id", group, {}, ""))
    if servers := word(at(told, "url")):
        reading.put("bootstrap.servers", read_setting("bootstrap.servers", servers, {}, ""))
    if topic := word(at(told, "topic")):
        reading.topics = topics_value(topic, {})
    if assignor := word(at(told, "consumerGroup", "rebalanceStrategy")):
        key = "partition.assignment.strategy"
        reading.put(key, read_setting(key, assignor, {}, ""))
    oldest = at(told, "consumerGroup", "oldest")
    if oldest is not None:
        reset = "earliest" if boolean(oldest) else "latest"
        reading.put("auto.offset.reset", stated(reset, place(oldest)))
    return Made(label, replicas, reading)


def _is_kafka_source(tree: Tree) -> bool:
    source = at(tree, "spec", "source")
    named = str(at(source, "ref", "name") or at(source, "uri") or "")
    return bool(re.search(r"(^|[-:/])kafka", named))


def _of_camel(properties: Tree) -> Reading:
    """A kamelet that reads from Kafka; without a group of its own it takes one of chance."""
    reading = Reading(consumes=True, mentions_kafka=True)
    reading.client = inferred("java", "Camel's Kafka component")
    reading.members = one_member("consumersCount is 1 by default")
    for key, text in table(properties).items():
        if not isinstance(text, Text) or is_credential(key):
            continue
        if key == "topic":
            reading.topics = topics_value(text, {})
        elif name := kafka_names.exactly(key):
            reading.put(name, read_setting(name, text, {}, place(key)))
    return reading
