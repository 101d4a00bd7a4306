"""Kafka's settings, of clients and of brokers, as a scenario writes them."""

from __future__ import annotations

import re
from typing import Any

from rebalsim.scenario.common_language import MS, MS_POSITIVE
from rebalsim.scenario.document import Node, Scalar
from rebalsim.scenario.kinds import (
    Choice,
    Duration,
    Field,
    Flag,
    Kind,
    ListOf,
    Schema,
    Section,
    Size,
    Text,
    Whole,
    shown,
)
from rebalsim.scenario.problems import Problems
from rebalsim.words.lists import one_of

_NO_BEARING = "has no bearing on a group here"
_CLIENT_WITHOUT_BEARING = [
    "client.dns.lookup",
    "send.buffer.bytes",
    "receive.buffer.bytes",
    "enable.metrics.push",
    "check.crcs",
    "metrics.sample.window.ms",
    "metrics.num.samples",
    "metrics.recording.level",
    "metric.reporters",
    "socket.connection.setup.timeout.ms",
    "socket.connection.setup.timeout.max.ms",
    "interceptor.classes",
    "internal.throw.on.fetch.stable.offset.unsupported",
    "metadata.recovery.strategy",
    "metadata.recovery.rebootstrap.trigger.ms",
    "config.providers",
    "bootstrap.servers",
    "key.deserializer",
    "value.deserializer",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "ssl.truststore.location",
    "ssl.truststore.password",
    "ssl.keystore.location",
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
    "reconnect.backoff.max.ms",
    "connections.max.idle.ms",
    "allow.auto.create.topics",
    "exclude.internal.topics",
    "isolation.level",
]
_BROKER_WITHOUT_BEARING = [
    "group.coordinator.threads",
    "group.coordinator.background.threads",
    "offsets.load.buffer.size",
    "offsets.topic.replication.factor",
    "offsets.topic.segment.bytes",
    "offsets.topic.compression.codec",
    "group.coordinator.cached.buffer.max.bytes",
    "offset.metadata.max.bytes",
    "offsets.retention.minutes",
    "offsets.retention.check.interval.ms",
    "group.consumer.regex.refresh.interval.ms",
]
ASSIGNOR_CLASSES = {
    "org.apache.kafka.clients.consumer.RangeAssignor": "range",
    "org.apache.kafka.clients.consumer.RoundRobinAssignor": "roundrobin",
    "org.apache.kafka.clients.consumer.StickyAssignor": "sticky",
    "org.apache.kafka.clients.consumer.CooperativeStickyAssignor": "cooperative-sticky",
}
ASSIGNORS = ("range", "roundrobin", "sticky", "cooperative-sticky")
_ASSIGNOR_NAMES = {
    **{a: a for a in ASSIGNORS},
    **ASSIGNOR_CLASSES,
    **{c.rsplit(".", 1)[1]: a for c, a in ASSIGNOR_CLASSES.items()},
    "round-robin": "roundrobin",
    "CooperativeSticky": "cooperative-sticky",
}
SERVER_ASSIGNORS = ("uniform", "range")
OWN_CODE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class AssignorName(Kind):
    """An assignor by Kafka's protocol name or Java class, or one's own as module:function."""

    says = "range, roundrobin, sticky, cooperative-sticky, their Java class, or module:function"

    def _read(self, node: Node, out: Problems) -> Any:
        if not isinstance(node, Scalar) or not isinstance(node.value, str):
            return self.wrong(node, out)
        text = node.text.strip().removeprefix("class ")
        if text in _ASSIGNOR_NAMES and text != "round-robin":
            return _ASSIGNOR_NAMES[text]
        if OWN_CODE.fullmatch(text):
            return text
        from rebalsim.words.nearest import or_nearest

        if text in SERVER_ASSIGNORS:
            return self.wrong(
                node,
                out,
                f"{shown(node)} is an assignor of the brokers', under group.protocol: consumer — "
                f"write group.remote.assignor: {text}"
                f" there, or {one_of(ASSIGNORS)} here",
            )
        return self.wrong(
            node,
            out,
            f"{shown(node)} is no assignor — {or_nearest(text, ASSIGNORS, 'write ' + self.says)}",
        )

    def schema(self, defs: dict[str, Schema]) -> Schema:
        names = "|".join(re.escape(n) for n in _ASSIGNOR_NAMES if n != "round-robin")
        return {
            "type": "string",
            "pattern": rf"^(?:(?:class )?(?:{names})|[A-Za-z_][\w.]*:[A-Za-z_][\w.]*)$",
        }


class ServerAssignor(Choice):
    """One of the brokers' assignors."""

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            isinstance(node, Scalar)
            and node.text in _ASSIGNOR_NAMES
            and node.text not in self.options
        ):
            return self.wrong(
                node,
                out,
                f"{shown(node)} is a client's assignor, and under the consumer protocol the "
                f"brokers assign — write {self.says}",
            )
        return super()._read(node, out)


INSTANCE_ID = Text("an id such as orders-{n}", r"[a-zA-Z0-9._\-{}]{1,249}")


def _kafka(key: str, kind: Kind, doc: str) -> Field:
    target = key.replace(".", "_")
    target = target.removesuffix("_ms") + "_us" if target.endswith("_ms") else target
    return Field(key, kind, doc, target=target, kafka=True)


def _bounds(
    groups: str, what: str, least: str = "Its lower bound.", most: str = "Its upper bound."
) -> tuple[Field, Field]:
    """The bounds within which brokers allow this setting of groups."""
    return _kafka(f"{groups}.min.{what}", MS, least), _kafka(f"{groups}.max.{what}", MS, most)


CLIENT_KEYS = (
    _kafka(
        "group.protocol",
        Choice("classic", "consumer", lower=True),
        "classic, or consumer: rebalances computed by the broker (KIP-848).",
    ),
    _kafka(
        "group.instance.id",
        INSTANCE_ID,
        "Makes the member static. {n} is its number, {pod} its process's, {i} its number there, "
        "{name} its name.",
    ),
    _kafka(
        "group.remote.assignor",
        ServerAssignor(*SERVER_ASSIGNORS),
        "Which of the broker's assignors to use (consumer protocol only).",
    ),
    _kafka(
        "partition.assignment.strategy",
        ListOf(
            AssignorName(),
            splits=True,
            least=1,
            most=20,
            says="a list such as [range, cooperative-sticky]",
        ),
        "The assignors this member offers, dearest first (classic protocol only).",
    ),
    _kafka(
        "session.timeout.ms",
        MS_POSITIVE,
        "How long the group waits for a heartbeat before it takes the member for dead (classic "
        "only).",
    ),
    _kafka(
        "heartbeat.interval.ms",
        MS_POSITIVE,
        "How often the member says that it is alive, and hears of rebalances (classic only).",
    ),
    _kafka(
        "max.poll.interval.ms",
        MS_POSITIVE,
        "The longest time between two polls before the member leaves the group.",
    ),
    _kafka(
        "rebalance.timeout.ms",
        MS_POSITIVE,
        "How long a rebalance waits for this member (franz-go's RebalanceTimeout, sarama's "
        "Consumer.Group.Rebalance.Timeout; other clients ask for max.poll.interval.ms).",
    ),
    _kafka("max.poll.records", Whole(1), "The most records one poll hands to the application."),
    _kafka(
        "enable.auto.commit",
        Flag(),
        "Whether the client commits by itself. Follows from handler.commit where it is not set.",
    ),
    _kafka("auto.commit.interval.ms", MS, "How often it does so."),
    _kafka(
        "auto.offset.reset",
        Choice("earliest", "latest", "none"),
        "Where to begin on a partition without a committed offset.",
    ),
    _kafka(
        "fetch.min.bytes",
        Size(kafka=True, most=2_147_483_647),
        "How much a broker gathers before it answers a fetch.",
    ),
    _kafka("fetch.max.bytes", Size(kafka=True, most=2_147_483_647), "The most bytes in one fetch."),
    _kafka(
        "max.partition.fetch.bytes",
        Size(kafka=True, most=2_147_483_647),
        "The most bytes of one partition in one fetch.",
    ),
    _kafka("fetch.max.wait.ms", MS, "How long a broker gathers at most."),
    _kafka("retry.backoff.ms", MS_POSITIVE, "The wait before a failed request is repeated."),
    _kafka("retry.backoff.max.ms", MS_POSITIVE, "… growing up to this."),
    _kafka("reconnect.backoff.ms", MS, "The wait before a broken connection is opened again."),
    _kafka("request.timeout.ms", MS, "How long an answer is waited for."),
    _kafka("default.api.timeout.ms", MS, "How long a blocking call such as commitSync() may take."),
    _kafka(
        "metadata.max.age.ms",
        MS,
        "How often topics are looked at again: when a new partition is noticed.",
    ),
    _kafka(
        "client.id",
        Text("a text", r"[a-zA-Z0-9._\-{}]{0,249}"),
        "The name the client gives itself; member ids begin with it. Patterns as in"
        " group.instance.id.",
    ),
    _kafka(
        "client.rack",
        Text("a rack", r"[^\s]{0,120}"),
        "The rack the client says it is in; {rack} stands for where it runs.",
    ),
)
CLASSIC_ONLY = ("session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy")
CONSUMER_ONLY = ("group.remote.assignor",)
BROKER_KEYS = (
    _kafka(
        "group.initial.rebalance.delay.ms",
        MS,
        "How long a new, empty group waits for more members before its first generation.",
    ),
    _kafka(
        "group.min.session.timeout.ms",
        MS,
        "The shortest session.timeout.ms that the brokers accept.",
    ),
    _kafka(
        "group.max.session.timeout.ms",
        MS,
        "The longest session.timeout.ms that the brokers accept.",
    ),
    _kafka("group.max.size", Whole(1), "The most members of a group."),
    _kafka(
        "group.coordinator.append.linger.ms",
        Duration(kafka=True, also=(-1,)),
        "How long the coordinator gathers writes; -1 adapts to the load.",
    ),
    _kafka(
        "offsets.topic.num.partitions",
        Whole(1, 100_000),
        "Over how many partitions groups are spread; decides which broker coordinates which.",
    ),
    _kafka(
        "message.max.bytes",
        Size(kafka=True, most=2_147_483_647),
        "The largest record; a group whose record is larger cannot be stored.",
    ),
    _kafka(
        "offsets.commit.timeout.ms",
        MS_POSITIVE,
        "How long a write of the coordinator may take before whoever waits for it is told that "
        "it failed.",
    ),
    _kafka(
        "group.consumer.session.timeout.ms",
        MS_POSITIVE,
        "The session timeout under the consumer protocol.",
    ),
    *_bounds("group.consumer", "session.timeout.ms"),
    _kafka(
        "group.consumer.heartbeat.interval.ms",
        MS_POSITIVE,
        "The heartbeat interval under the consumer protocol.",
    ),
    *_bounds("group.consumer", "heartbeat.interval.ms"),
    _kafka(
        "group.consumer.max.size",
        Whole(1),
        "The most members of a group under the consumer protocol.",
    ),
    _kafka(
        "group.consumer.assignors",
        ListOf(Choice("uniform", "range"), splits=True, least=1),
        "The broker's assignors; the first is the default.",
    ),
    _kafka(
        "group.consumer.assignment.interval.ms",
        MS,
        "The least time between two assignments of a group (since 4.3).",
    ),
    *_bounds("group.consumer", "assignment.interval.ms"),
    _kafka(
        "group.consumer.migration.policy",
        Choice("bidirectional", "upgrade", "downgrade", "disabled", lower=True),
        "Which way a group may change protocol while it lives.",
    ),
    _kafka(
        "group.streams.session.timeout.ms",
        MS_POSITIVE,
        "The session of streams groups that have none of their own (streams.session.timeout.ms).",
    ),
    *_bounds(
        "group.streams",
        "session.timeout.ms",
        "The least session of a streams group: its own stand under streams: config:.",
        "… and the most.",
    ),
    _kafka(
        "group.streams.heartbeat.interval.ms",
        MS_POSITIVE,
        "The heartbeat interval of streams groups that have none of their own.",
    ),
    *_bounds(
        "group.streams",
        "heartbeat.interval.ms",
        "The least heartbeat interval of a streams group.",
        "… and the most.",
    ),
    _kafka(
        "group.streams.initial.rebalance.delay.ms",
        MS,
        "How long the first members of a streams group wait for others.",
    ),
    _kafka(
        "group.streams.assignment.interval.ms",
        MS,
        "How far apart a streams group's assignments are computed.",
    ),
    *_bounds(
        "group.streams",
        "assignment.interval.ms",
        "The least time between two assignments that a streams group may ask for.",
        "… and the most.",
    ),
    _kafka(
        "group.streams.num.standby.replicas",
        Whole(0, 100),
        "Standbys of each task in streams groups that do not say otherwise.",
    ),
    _kafka(
        "group.streams.max.standby.replicas",
        Whole(0, 100),
        "The most standbys of each task that a streams group may ask for.",
    ),
    _kafka("group.streams.max.size", Whole(1), "The most members of a streams group."),
    _kafka(
        "replica.selector.class",
        Choice(
            "",
            "org.apache.kafka.common.replica.RackAwareReplicaSelector",
            "RackAwareReplicaSelector",
        ),
        "Which replica serves a fetch. Without it everybody fetches from the leader.",
    ),
)
CLIENT_NAMES = tuple(f.name for f in CLIENT_KEYS)
_BROKER_NAMES = tuple(f.name for f in BROKER_KEYS)


def from_client(key: str) -> str:
    return "it is a broker's setting; put it under cluster: config:" if key in _BROKER_NAMES else ""


def _from_broker(key: str) -> str:
    return "it is a client's setting; put it under group: config:" if key in CLIENT_NAMES else ""


CONFIG = Section(
    "config",
    CLIENT_KEYS,
    "A consumer's settings, by Kafka's own names; null takes back what a layer below has set.",
    can_unset=True,
    ignored=dict.fromkeys(_CLIENT_WITHOUT_BEARING, _NO_BEARING),
    elsewhere=from_client,
    refused={
        "group.id": "is the group's name here — write it as a key under groups:, or as group: "
        "{name: …}"
    },
)
BROKER_CONFIG = Section(
    "cluster config",
    BROKER_KEYS,
    "The brokers' settings, by Kafka's own names.",
    title="brokers' config",
    ignored=dict.fromkeys(_BROKER_WITHOUT_BEARING, _NO_BEARING),
    elsewhere=_from_broker,
)
