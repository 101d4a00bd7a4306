"""Strimzi's objects: clusters and their group settings, Connect, MirrorMaker."""

from __future__ import annotations

from rebalsim.worlds import connect_cluster, connectors
from rebalsim.worlds.kubernetes.topics import counts_of
from rebalsim.worlds.text_tree import at, rows, table, word
from rebalsim.worlds.understood import Understood
from rebalsim.worlds.values import Text, Tree, place, stated

KINDS = (
    "Kafka",
    "KafkaNodePool",
    "KafkaConnect",
    "KafkaConnector",
    "KafkaMirrorMaker2",
    "KafkaMirrorMaker",
    "KafkaBridge",
    "KafkaUser",
)
_CONFLUENTS = ("Connector", "Connect")  # names that others' objects have, too
# What a cluster's own settings say to groups.
_GROUPS = ("group.", "offsets.", "num.partitions")


def is_a_clusters(kind: str, version: str) -> bool:
    return kind in KINDS or (kind in _CONFLUENTS and "confluent" in version)


def read(made: Understood, tree: Tree) -> None:
    kind, name = str(at(tree, "kind")), str(at(tree, "metadata", "name") or "")
    if kind == "Kafka":
        _cluster(made, tree)
    elif kind in ("KafkaConnector", "Connector"):
        connector(made, f"{kind}/{name}", tree)
    elif kind in ("KafkaConnect", "Connect"):
        made.connect.append(f"{kind}/{name}")
        made.workers.append(connect_cluster.workers_of_object(tree))
        made.ignore(
            f"{kind}/{name}",
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


def clowd_topics(made: Understood, tree: Tree) -> None:
    """kafkaTopics of a ClowdApp."""
    for row in rows(at(tree, "spec", "kafkaTopics")):
        name = word(at(row, "topicName"))
        if name is None or "${" in name:
            continue
        made.topics[str(name)] = counts_of(row)


def topics_of_app(tree: Tree) -> list[str]:
    """The names of a ClowdApp's kafkaTopics; none for any other object."""
    if at(tree, "kind") != "ClowdApp":
        return []
    named = (word(at(row, "topicName")) for row in rows(at(tree, "spec", "kafkaTopics")))
    return [str(name) for name in named if name is not None]


def _cluster(made: Understood, tree: Tree) -> None:
    version = word(at(tree, "spec", "kafka", "version"))
    if version is not None:
        made.kafka_version = stated(str(version), place(version))
    for key, value in table(at(tree, "spec", "kafka", "config")).items():
        if key.startswith(_GROUPS) and isinstance(value, Text):
            made.broker_settings[str(key)] = stated(str(value), place(value))


def connector(made: Understood, label: str, tree: Tree) -> None:
    """A sink connector's tasks are the group connect-NAME. Confluent's operator says `taskMax` and
    `configs` where Strimzi's says `tasksMax` and `config`.
    """
    spec = at(tree, "spec")
    name = str(word(at(spec, "name")) or at(tree, "metadata", "name") or "")
    config = {**table(at(spec, "config")), **table(at(spec, "configs"))}
    if (most := at(spec, "taskMax")) is not None:
        config[Text("tasks.max")] = most
    found = connectors.connector_of(name, spec, config)
    made.connectors.append(found)
    group = connectors.sink_group(found, label)
    if group is None:
        made.ignore(label, "a source: it writes to Kafka, no group of consumers")
    else:
        made.consumers.append(group)
