"""Strimzi's objects: topics and their partitions, clusters and their group settings, Connect."""

from __future__ import annotations

from rebalsim.worlds import connect_cluster, connectors
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.understood import Understood
from rebalsim.worlds.values import Text, Tree, Value, place, stated, unknown
from rebalsim.worlds.words import whole

KINDS = (
    "Kafka",
    "KafkaTopic",
    "KafkaNodePool",
    "KafkaConnect",
    "KafkaConnector",
    "KafkaMirrorMaker2",
    "KafkaMirrorMaker",
    "KafkaBridge",
    "KafkaUser",
)
# What a cluster's own settings say to groups.
_GROUPS = ("group.", "offsets.", "num.partitions")


def read(made: Understood, tree: Tree) -> None:
    kind, name = str(at(tree, "kind")), str(at(tree, "metadata", "name") or "")
    if kind == "KafkaTopic":
        _topic(made, tree)
    elif kind == "Kafka":
        _cluster(made, tree)
    elif kind == "KafkaConnector":
        connector(made, name, tree)
    elif kind == "KafkaConnect":
        made.connect.append(f"KafkaConnect/{name}")
        made.workers.append(connect_cluster.workers_of_object(tree))
        made.ignore(
            f"KafkaConnect/{name}",
            "workers of Kafka Connect: their own protocol is another than a consumer group's",
        )
    elif kind in ("KafkaMirrorMaker2", "KafkaMirrorMaker"):
        made.connect.append(f"{kind}/{name}")
        if kind == "KafkaMirrorMaker2":
            made.workers.append(connect_cluster.workers_of_object(tree))
            made.connectors += connectors.mirrors_of_object(tree)
        made.ignore(
            f"{kind}/{name}",
            "MirrorMaker assigns partitions by itself: no consumer group rebalances",
        )
    elif kind == "KafkaBridge":
        made.ignore(f"KafkaBridge/{name}", "its consumers are made over HTTP, by whoever asks")


def _number(tree: Tree) -> Value:
    said = resolved(tree, {}) if isinstance(tree, Text) else None
    found = whole(said) if said is not None else None
    return unknown(place(tree)) if found is None else stated(found, place(tree))


def _topic(made: Understood, tree: Tree) -> None:
    spec = at(tree, "spec")
    name = word(at(spec, "topicName")) or word(at(tree, "metadata", "name"))
    if name is None:
        return
    told = {"partitions": at(spec, "partitions"), "replication": at(spec, "replicas")}
    made.topics[str(name)] = {k: _number(v) for k, v in told.items() if v is not None}


def clowd_topics(made: Understood, tree: Tree) -> None:
    """kafkaTopics of a ClowdApp."""
    for row in rows(at(tree, "spec", "kafkaTopics")):
        name = word(at(row, "topicName"))
        if name is None or "${" in name:
            continue
        told = {"partitions": at(row, "partitions"), "replication": at(row, "replicas")}
        made.topics[str(name)] = {k: _number(v) for k, v in told.items() if v is not None}


def _cluster(made: Understood, tree: Tree) -> None:
    version = word(at(tree, "spec", "kafka", "version"))
    if version is not None:
        made.kafka_version = stated(str(version), place(version))
    for key, value in table(at(tree, "spec", "kafka", "config")).items():
        if key.startswith(_GROUPS) and isinstance(value, Text):
            made.broker_settings[str(key)] = stated(str(value), place(value))


def connector(made: Understood, name: str, tree: Tree) -> None:
    """A sink connector's tasks are the group connect-NAME."""
    spec = at(tree, "spec")
    found = connectors.connector_of(name, spec, table(at(spec, "config")))
    made.connectors.append(found)
    group = connectors.sink_group(found, f"KafkaConnector/{name}")
    if group is None:
        made.ignore(f"KafkaConnector/{name}", "a source: it writes to Kafka, no group of consumers")
    else:
        made.consumers.append(group)
