"""What the files do not tell and a scenario needs: one word each, and how to measure it."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.worlds.live.listings import UNNAMED, Group
from rebalsim.worlds.understood import Consumer, Understood
from rebalsim.worlds.values import UNKNOWN, Value


@dataclass(frozen=True, slots=True)
class Question:
    """A thing to ask for: what it is, how to find it out, what is assumed until then, and why."""

    word: str
    what: str
    how: str
    assumed: str
    why: str


QUESTIONS: dict[str, Question] = {
    q.word: q
    for q in (
        Question(
            "partitions",
            "how many partitions each topic has",
            "kafka-topics.sh --bootstrap-server … --describe --topic TOPIC",
            "12",
            "it divides by 2, 3, 4 and 6, so that uneven shares show least",
        ),
        Question(
            "rate",
            "records a second on each topic",
            "two `kafka-consumer-groups.sh --describe` some seconds apart: the difference of "
            "LOG-END-OFFSET; or the metric records-consumed-rate",
            "100/s",
            "no pause hangs on it; lag does, in proportion",
        ),
        Question(
            "handler_time",
            "how long the handler takes for a record",
            "the metric time-between-poll-avg divided by records-per-request-avg",
            "1ms",
            "a fast handler; slower ones hold up rebalances and shutdowns",
        ),
        Question(
            "start_time",
            "how long a pod takes from its start to its first poll",
            "kubectl get events, and the client's log line `Subscribed to topic(s)`",
            "15s",
            "what a JVM service usually takes",
        ),
        Question(
            "image_pull",
            "how long a node takes to pull the new image",
            "kubectl get events: `Successfully pulled image … in`",
            "1 s to 10 s",
            "some hundred megabytes from a registry nearby",
        ),
        Question(
            "connectors",
            "which connectors run, and how many tasks each has",
            "GET /connectors?expand=info",
            "one source with 6 tasks",
            "no file here tells",
        ),
        Question(
            "stores",
            "which topics each sub-topology reads, and how large its stores are",
            "Topology.describe(), and du -sh of state.dir",
            "one step without a store, so no restoration",
            "the code and the disks know",
        ),
        Question(
            "client_version",
            "the client library's version",
            "the dependency file, or the log line `Kafka version: …`",
            "the newest",
            "defaults changed with 3.0 (session.timeout.ms, assignors)",
        ),
        Question(
            "kafka_version",
            "the brokers' version",
            "kafka-broker-api-versions.sh --bootstrap-server …",
            "the newest",
            "brokers from 4.0 on allow the consumer protocol",
        ),
        Question(
            "group_id",
            "the consumer group's id",
            "kafka-consumer-groups.sh --bootstrap-server … --list",
            "a name made from the workload's",
            "two groups of unknown name are never taken for one",
        ),
        Question(
            "topics",
            "which topics are consumed",
            "kafka-consumer-groups.sh --describe --group GROUP",
            "one topic, named after the workload",
            "the code knows",
        ),
        Question(
            "client",
            "which client library consumes",
            "the dependency file, or the CLIENT-ID in kafka-consumer-groups.sh --describe --members",
            "java",
            "the most common one",
        ),
        Question(
            "members_per_pod",
            "how many consumers run in a pod",
            "kafka-consumer-groups.sh --describe --members: members of one HOST",
            "1",
            "one listener, one thread",
        ),
        Question(
            "replicas",
            "how many pods run",
            "kubectl get deploy,statefulset",
            "3",
            "a small group that shows what a rebalance is",
        ),
        Question(
            "member_count",
            "how many members the group has",
            "kafka-consumer-groups.sh --describe --members",
            "those that are listed",
            "members without partitions are not listed",
        ),
        Question(
            "assignor",
            "which assignors the members offer",
            "kafka-consumer-groups.sh --describe --state tells the one in use",
            "the client's default",
            "a listing does not tell lists",
        ),
        Question(
            "is_kafka",
            "whether it consumes from Kafka at all",
            "its dependencies",
            "no",
            "only its name says so",
        ),
        Question(
            "instance_id",
            "whether the members are static",
            "kafka-consumer-groups.sh --describe --members: GROUP-INSTANCE-ID",
            "they are not",
            "the default",
        ),
        Question(
            "shutdown",
            "whether the program handles SIGTERM and closes its consumer",
            "stop a pod and look for LeaveGroup in the broker's log",
            "it does, where a framework does it",
            "the difference is a session timeout",
        ),
    )
}


def asks_of(made: Understood) -> list[str]:
    """The words of everything to ask for, each once."""
    words: list[str] = []
    for consumer in made.consumers:
        words += _of_consumer(consumer, made)
    if not made.consumers:
        words += _of_live(made)
        if any(s.triggers for s in made.scalings) and not made.topics:
            words.append("partitions")
        if made.maybe:
            words.append("is_kafka")
    return list(dict.fromkeys(words))


def _unknown(value: Value | None) -> bool:
    return value is not None and value.sure == UNKNOWN


def is_refused(consumer: Consumer) -> bool:
    """Consumers that no broker of today serves: they spoke through ZooKeeper."""
    return "zookeeper.connect" in consumer.settings and "bootstrap.servers" not in consumer.settings


def _of_consumer(consumer: Consumer, made: Understood) -> list[str]:
    if is_refused(consumer):
        return ["client"] if _unknown(consumer.client) else []
    reading, measured = consumer.reading, made.measured
    is_springs = reading.is_listener and consumer.client.value == "spring"
    has_time = reading.handler_ms is not None or bool(measured and measured.batch_ms)
    asked = (
        ("group_id", _unknown(consumer.group)),
        ("topics", _unknown(consumer.topics)),
        ("client", _unknown(consumer.client)),
        ("members_per_pod", _unknown(consumer.members)),
        ("replicas", _unknown(consumer.replicas)),
        ("instance_id", _unknown(consumer.instance)),
        ("topics", reading.is_pattern),
        ("replicas", consumer.replicas is None or consumer.replicas_left_out),
        ("members_per_pod", is_springs),
        ("partitions", not _partitions_told(consumer, made)),
        ("rate", reading.rate is None and (measured is None or measured.rate is None)),
        ("handler_time", not has_time),
        ("start_time", True),
        ("client_version", True),
        ("kafka_version", made.kafka_version is None),
        ("shutdown", consumer.shell),
    )
    return [word for word, is_asked in asked if is_asked]


def _partitions_told(consumer: Consumer, made: Understood) -> bool:
    if not consumer.topics.known or not consumer.topics.value:
        return False
    told = [made.topics.get(t, {}).get("partitions") for t in consumer.topics.value]
    live = {t for g in made.listed.groups.values() for t in g.partitions}
    return all(
        (v is not None and v.known) or t in live
        for t, v in zip(consumer.topics.value, told, strict=True)
    )


def _of_live(made: Understood) -> list[str]:
    return [word for group in made.listed.groups.values() for word in _of_group(group)]


def _of_group(group: Group) -> list[str]:
    has_members = bool(group.members) or bool(group.count)
    is_left = group.is_empty or group.count == 0
    holds_nothing = group.lists_members and has_members and not group.partitions
    may_be_more = group.has_offsets and not group.is_empty and not group.lists_members
    asked = (
        ("group_id", group.name == UNNAMED),
        ("assignor", has_members and group.assignor is None),
        ("topics", group.is_loose or holds_nothing),
        ("member_count", may_be_more and group.count is None),
        ("replicas", is_left),
        ("handler_time", has_members and not is_left),
        ("rate", has_members and not is_left),
    )
    return [word for word, is_asked in asked if is_asked]
