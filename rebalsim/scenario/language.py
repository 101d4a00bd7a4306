"""The language: every key a scenario may have, what may stand there, what it means, and where it
goes. ONE table.

The loader, the JSON Schema, `rebalsim show` and the paths of `--set` are all made from it. To
add a setting, add a line here and, if its target is new, a field in the domain. Blocks come
bottom-up; the whole file is SCENARIO at the end.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from rebalsim.scenario.autoscaling import AUTOSCALE
from rebalsim.scenario.connect_language import (
    CONNECT_DEEDS,
    WORKER_CONFIG,
    connect_section,
    connector_section,
    worker_fields,
)
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence, shorten
from rebalsim.scenario.kinds import (
    BAD,
    ByteRate,
    Choice,
    DrawOf,
    Duration,
    Field,
    Flag,
    Kind,
    ListOf,
    MapOf,
    Named,
    Nullable,
    Number,
    Schema,
    Section,
    Share,
    ShareOrWhole,
    Size,
    Text,
    Whole,
    Written,
    named_schema,
    shown,
)
from rebalsim.scenario.kubernetes import ROLLOUT_FIELDS, targeted
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.quantities import DURATION, RATE, rate, say_number, say_rate
from rebalsim.scenario.streams_language import STREAMS, STREAMS_CONFIG
from rebalsim.words.lists import one_of

MAX_CONSUMERS = 10_000
MAX_PARTITIONS = 200_000

_KAFKA_NAME = r"[a-zA-Z0-9._\-]{1,249}"
NAME = Text("a name of letters, digits, '.', '_' and '-'", r"[a-zA-Z0-9_][a-zA-Z0-9._\-]{0,119}")
PATTERNED = Text("a name such as orders-{n}", r"[a-zA-Z0-9_{][a-zA-Z0-9._\-{}]{0,119}")
TOPIC = Text("a topic name of at most 249 letters, digits, '.', '_' and '-'", _KAFKA_NAME)
ANY_TEXT = Text()
DURATION_KIND = Duration()
POSITIVE = Duration(least=1)
MS = Duration(kafka=True, most=2_147_483_647_000)
MS_POSITIVE = Duration(kafka=True, least=1_000, most=2_147_483_647_000)
DRAW = DrawOf()


def word_of(*keys: str) -> Any:
    """A shorthand that names the same key whatever the value is, spelt so that the schema can
    list it.
    """

    def shorthand(node: Node) -> str:
        return keys[0]

    shorthand.keys = keys  # type: ignore[attr-defined]
    return shorthand


# ------------------------------------------------------------------------------------- Kafka's keys

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
    _kafka("group.consumer.min.session.timeout.ms", MS, "Its lower bound."),
    _kafka("group.consumer.max.session.timeout.ms", MS, "Its upper bound."),
    _kafka(
        "group.consumer.heartbeat.interval.ms",
        MS_POSITIVE,
        "The heartbeat interval under the consumer protocol.",
    ),
    _kafka("group.consumer.min.heartbeat.interval.ms", MS, "Its lower bound."),
    _kafka("group.consumer.max.heartbeat.interval.ms", MS, "Its upper bound."),
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
    _kafka("group.consumer.min.assignment.interval.ms", MS, "Its lower bound."),
    _kafka("group.consumer.max.assignment.interval.ms", MS, "Its upper bound."),
    _kafka(
        "group.consumer.migration.policy",
        Choice("bidirectional", "upgrade", "downgrade", "disabled", lower=True),
        "Which way a group may change protocol while it lives.",
    ),
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


_CLIENT_NAMES = tuple(f.name for f in CLIENT_KEYS)
_BROKER_NAMES = tuple(f.name for f in BROKER_KEYS)


def _from_client(key: str) -> str:
    return "it is a broker's setting; put it under cluster: config:" if key in _BROKER_NAMES else ""


def _from_broker(key: str) -> str:
    return "it is a client's setting; put it under group: config:" if key in _CLIENT_NAMES else ""


CONFIG = Section(
    "config",
    CLIENT_KEYS,
    "A consumer's settings, by Kafka's own names; null takes back what a layer below has set.",
    can_unset=True,
    ignored=dict.fromkeys(_CLIENT_WITHOUT_BEARING, _NO_BEARING),
    elsewhere=_from_client,
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


# ------------------------------------------------------------------------------- cluster and topics


class Brokers(Kind):
    """A number of brokers, or a list of {id, rack}: [(id, rack)]."""

    says = "a number such as 3, or a list of {id: 0, rack: a}"

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            isinstance(node, Scalar)
            and isinstance(node.value, int)
            and not isinstance(node.value, bool)
        ):
            if not 1 <= node.value <= 1_000:
                return self.wrong(
                    node,
                    out,
                    f"{node.value} is out of bounds — write a number of brokers from 1 to 1000",
                )
            return tuple((n, "") for n in range(node.value))
        if not isinstance(node, Sequence) or not node.items:
            return self.wrong(node, out)
        brokers: dict[int, str] = {}
        is_bad = len(node.items) > 1_000
        for item in node.items:
            written = BROKER.read(item, out)
            if written is BAD or "id" not in written:
                is_bad = True
            elif written.get("id") in brokers:
                out.add(
                    written.at["id"],
                    f"Broker {written.get('id')} is there twice — give each an id of its own",
                )
                is_bad = True
            else:
                brokers[written.get("id")] = written.get("rack", "")
        return BAD if is_bad else tuple(brokers.items())

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 1, "maximum": 1000},
                {"type": "array", "items": BROKER.schema(defs), "minItems": 1, "maxItems": 1000},
            ]
        }

    def say(self, value: Any) -> str:
        return (
            str(len(value))
            if all(not rack for _, rack in value)
            else ", ".join(f"{n} in {rack or '?'}" for n, rack in value)
        )


BROKER = Section(
    "broker",
    (
        Field("id", Whole(0, 100_000), "The broker's number.", is_required=True),
        Field("rack", NAME, "The rack or zone it stands in."),
    ),
    shorthand="id",
)
LINK = Section(
    "link",
    (
        Field(
            "between",
            ListOf(
                Text("a consumer, a broker such as broker-0, or a rack", r"[^\s]{1,120}"),
                least=2,
                most=2,
            ),
            "The two ends: a consumer, a broker (broker-0) or a rack.",
            is_required=True,
            example="between: [c0, broker-0]",
        ),
        Field("latency", DRAW, "One way.", is_required=True),
    ),
)


class Microseconds(Kind):
    """A time that may be finer than a microsecond."""

    says = "a time such as 200us, 0.5us or 2ms"

    def _read(self, node: Node, out: Problems) -> Any:
        from rebalsim.scenario.quantities import duration

        if isinstance(node, Scalar) and node.value == 0 and isinstance(node.value, int):
            return 0.0
        found = duration(node.text) if isinstance(node, Scalar) else None
        return self.wrong(node, out) if found is None else found

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return DURATION_KIND.schema(defs)

    def say(self, value: Any) -> str:
        from rebalsim.scenario.quantities import say_us

        return say_us(value)


MICROSECONDS = Microseconds()
COSTS = Section(
    "costs",
    (
        Field("join", MICROSECONDS, "Taking a JoinGroup in.", target="join_us"),
        Field("join_answer", MICROSECONDS, "Sending its answer.", target="join_answer_us"),
        Field("sync", MICROSECONDS, "Taking a SyncGroup in.", target="sync_us"),
        Field("sync_answer", MICROSECONDS, "Sending its answer.", target="sync_answer_us"),
        Field("leave", MICROSECONDS, "A LeaveGroup.", target="leave_us"),
        Field("offset_fetch", MICROSECONDS, "An OffsetFetch.", target="offset_fetch_us"),
        Field(
            "per_kilobyte",
            MICROSECONDS,
            "For each kB of metadata or assignments in these.",
            target="per_kilobyte_us",
        ),
        Field(
            "heartbeat",
            MICROSECONDS,
            "A ConsumerGroupHeartbeat that joins, leaves or acknowledges.",
            target="heartbeat_us",
        ),
        Field(
            "target_per_member",
            MICROSECONDS,
            "The broker's assignor, for each member of a group that somebody joins.",
            target="target_per_member_us",
        ),
    ),
    "What the requests of a rebalance take of the broker: a coordinator takes them in one at a time, "
    "and answers leave one at a time. Measured on Kafka 4.3.1.",
)
CLUSTER = Section(
    "cluster",
    (
        Field("brokers", Brokers(), "How many brokers, or each with its id and rack.", default="1"),
        Field(
            "racks",
            ListOf(NAME, is_lenient=True, least=1, says="a list such as [a, b]"),
            "Racks for the brokers in turn.",
        ),
        Field("config", BROKER_CONFIG, "The brokers' settings, by Kafka's own names."),
        Field("latency", DRAW, "Network, one way between a client and a broker.", target="latency"),
        Field(
            "cross_rack",
            DRAW,
            "The same between different racks.",
            target="cross_rack",
            default="no difference",
        ),
        Field(
            "links",
            ListOf(LINK, goes_on=True, most=10_000),
            "Latencies of their own for single links.",
        ),
        Field(
            "log_append",
            DRAW,
            "How long the coordinator takes to write a record to its log.",
            target="log_append",
        ),
        Field("replication", DRAW, "… and until the followers have it.", target="replication"),
        Field("costs", COSTS, "What the requests of a rebalance take of the broker."),
    ),
    "The brokers and the network.",
)


class RateText(Kind):
    """`200/s` for a whole topic, `20/s/partition` for each: (a second, is it per partition)."""

    says = "a rate such as 200/s, or 20/s/partition"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            if node.value == 0 and isinstance(node.value, int):
                return (0.0, False)
            if isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
                return self.wrong(node, out, f"{shown(node)} has no unit — write {node.text}/s")
            if isinstance(node.value, str):
                text = node.value.removesuffix("/partition").rstrip()
                found = rate(text)
                if found is not None and found <= 1e9:
                    return (found, text != node.value)
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [{"type": "string", "pattern": f"^(?:{RATE}(?: ?/partition)?)$"}, {"const": 0}]
        }

    def say(self, value: Any) -> str:
        return say_rate(value[0]) + ("/partition" if value[1] else "")


RATE_KIND = RateText()
RATE_STEP = Section(
    "rate step",
    (
        Field("at", DURATION_KIND, "When this rate begins.", is_required=True),
        Field("rate", RATE_KIND, "The rate from then on.", is_required=True),
        Field(
            "ramp",
            Flag(),
            "Reach it in a straight line from the step before, instead of at once.",
            default="false",
        ),
    ),
)
DAILY = Section(
    "daily curve",
    (
        Field("low", RATE_KIND, "The rate at the quietest hour.", is_required=True),
        Field("high", RATE_KIND, "The rate at the busiest hour.", is_required=True),
        Field(
            "peak",
            DURATION_KIND,
            "When in the day the busiest moment is, counted from the story's start.",
            default="12h",
        ),
        Field("period", Duration(least=60_000_000), "The length of the day.", default="24h"),
    ),
)
DAILY_BLOCK = Section(
    "rate",
    (
        Field(
            "daily",
            DAILY,
            "A curve between a low and a high that repeats every day.",
            is_required=True,
        ),
    ),
)


class RateKind(Kind):
    """A rate, steps of it over time, or a daily curve."""

    says = (
        "a rate such as 200/s, a list of {at: 5m, rate: 500/s}, or {daily: {low: 10/s, high: "
        "500/s}}"
    )

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Sequence):
            steps = [RATE_STEP.read(item, out) for item in node.items]
            if not steps:
                return self.wrong(node, out, f"The list is empty — write {self.says}")
            if any(s is BAD or s.is_bad for s in steps):
                return BAD
            for before, after in pairwise(steps):
                if after.get("at") <= before.get("at"):
                    return self.wrong(
                        after.at["at"],
                        out,
                        f"{shown(after.at['at'])} is not after the step before — put the steps "
                        "in order of time",
                    )
            return tuple((s.get("at"), s.get("rate"), s.get("ramp", False)) for s in steps)
        if isinstance(node, Mapping):
            block = DAILY_BLOCK.read(node, out)
            daily = BAD if block is BAD else block.get("daily", BAD)
            return BAD if daily is BAD or daily.is_bad or block.is_bad else daily
        found = RATE_KIND.read(node, out)
        return BAD if found is BAD else ((0, found, False),)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                RATE_KIND.schema(defs),
                {"type": "array", "items": RATE_STEP.schema(defs), "minItems": 1},
                DAILY_BLOCK.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        if isinstance(value, Written):
            return (
                f"between {RATE_KIND.say(value.get('low'))} and "
                f"{RATE_KIND.say(value.get('high'))} a day"
            )
        return ", ".join(
            RATE_KIND.say(v) + (f" from {DURATION_KIND.say(at)}" if at else "")
            for at, v, _ in value
        )


class Skew(Kind):
    """How the records of a topic spread over its partitions: `zipf 1.1`, or a weight for each."""

    says = "zipf 1.1, or a list of weights such as [5, 1, 1]"
    _zipf = re.compile(r"zipf (0|[1-9][0-9]{0,2})(\.[0-9]{1,6})?")

    def _read(self, node: Node, out: Problems) -> Any:
        if (
            isinstance(node, Scalar)
            and isinstance(node.value, str)
            and self._zipf.fullmatch(node.value)
        ):
            return float(node.value[5:])
        if isinstance(node, Sequence):
            weights = _WEIGHTS.read(node, out)
            if weights is BAD:
                return BAD
            if not weights or sum(weights) <= 0:
                return self.wrong(
                    node,
                    out,
                    "The weights add up to nothing — give at least one partition a weight above 0",
                )
            return weights
        return self.wrong(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": rf"^(?:{self._zipf.pattern})$"},
                {"type": "array", "items": {"type": "number", "minimum": 0}, "minItems": 1},
            ]
        }

    def say(self, value: Any) -> str:
        return (
            f"zipf {say_number(value)}"
            if isinstance(value, float)
            else "[" + ", ".join(say_number(w) for w in value) + "]"
        )


_WEIGHTS = ListOf(Number(0, 1e9))


class Replicas(Kind):
    """A replication factor, or each partition's brokers, leader first."""

    says = (
        "a number of replicas such as 3, or a list of brokers for each partition such as [[0, "
        "1], [1, 2]]"
    )

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            return _FACTOR.read(node, out)
        return _PLACES.read(node, out)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {"anyOf": [_FACTOR.schema(defs), _PLACES.schema(defs)]}


_FACTOR = Whole(1, 100, "a number of replicas such as 3, or a list of brokers for each partition")
_PLACES = ListOf(ListOf(Whole(0, 100_000), least=1), least=1)
_OTHER_WORDS = {
    "lag": "records that wait at the start, in each partition, are its backlog: backlog: 5000",
    "throughput": "write rate: 200/s",
    "replication_factor": "write replicas: 3",
    "replication.factor": "write replicas: 3",
    "size": "write record_size: 1KB",
    "message_size": "write record_size: 1KB",
    "count": "write partitions: 12",
    "num_partitions": "write partitions: 12",
}


def _in_other_words(key: str) -> str:
    return _OTHER_WORDS.get(key, "")


TOPIC_BLOCK = Section(
    "topic",
    (
        Field(
            "partitions",
            Whole(1, MAX_PARTITIONS),
            "How many partitions.",
            target="partitions",
            is_required=True,
        ),
        Field(
            "rate",
            RateKind(),
            "Records that arrive: of the whole topic (200/s) or of each partition "
            "(20/s/partition).",
            default="0/s",
        ),
        Field("skew", Skew(), "How they spread over the partitions.", default="evenly"),
        Field(
            "record_size",
            Size(least=1, most=1 << 31),
            "The size of a record.",
            target="record_bytes",
        ),
        Field(
            "backlog",
            Whole(0, 10**15),
            "Records per partition that wait at the start.",
            target="backlog",
        ),
        Field(
            "replicas",
            Replicas(),
            "How many, or on which brokers: only these can lead a partition.",
            default="any broker can lead any partition",
        ),
        Field(
            "leader_epochs",
            Flag(),
            "Whether its records carry leader epochs (clients then check them before fetching).",
            target="has_leader_epochs",
        ),
        Field(
            "exists",
            Flag(),
            "Whether it exists from the start, or is created by an action.",
            target="exists_from_start",
        ),
    ),
    "A topic. A number alone is its partitions.",
    shorthand=word_of("partitions"),
    elsewhere=_in_other_words,
)


# ---------------------------------------------------------------------------------- the application


class CostKind(Kind):
    """What a callback costs: `150ms + 20ms/partition`, or a block with draws."""

    says = "a cost such as 150ms, 20ms/partition or 150ms + 20ms/partition"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Mapping):
            written = COST.read(node, out)
            return (
                BAD
                if written is BAD or written.is_bad
                else (written.get("fixed"), written.get("per_partition"))
            )
        if not isinstance(node, Scalar) or isinstance(node.value, bool) or node.value is None:
            return self.wrong(node, out)
        fixed: Any = None
        per: Any = None
        for part in re.split(r" ?\+(?![-/]) ?", node.text):
            bare = re.sub(r" ?/ ?partition$", "", part)
            place = Scalar(node.source, node.line, node.column, node.width, bare, False)
            draw = DRAW.read(place, out)
            if draw is BAD:
                return BAD
            if bare != part and per is None:
                per = draw
            elif bare == part and fixed is None:
                fixed = draw
            else:
                return self.wrong(node, out, f"{shown(node)} has a part twice — write {self.says}")
        return (fixed, per)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        one = rf"{DURATION}[^+]*"
        return named_schema(
            defs,
            "cost or text",
            lambda: {
                "anyOf": [
                    {
                        "type": "string",
                        "pattern": rf"^(?:{one}|{one}\+ ?{one}|{DURATION} ?(?:\+/-|\+-).*)$",
                    },
                    {"const": 0},
                    COST.schema(defs),
                ],
            },
        )

    def say(self, value: Any) -> str:
        parts = [DRAW.say(value[0])] if value[0] is not None else []
        parts += [DRAW.say(value[1]) + "/partition"] if value[1] is not None else []
        return " + ".join(parts) or "0s"


COST = Section(
    "cost",
    (
        Field("fixed", DRAW, "Whatever the number of partitions."),
        Field("per_partition", DRAW, "For each partition."),
    ),
)
COST_KIND = CostKind()
HANDLER = Section(
    "handler",
    (
        Field("per_record", DRAW, "Time for one record.", target="per_record"),
        Field("per_batch", DRAW, "Time for each poll's records, beside that.", target="per_batch"),
        Field(
            "poll_timeout", Duration(1000), "The timeout given to poll().", target="poll_timeout_us"
        ),
        Field(
            "commit",
            Choice("auto", "sync-batch", "sync-record", "async", "none"),
            "How the application commits. Other than auto switches enable.auto.commit off.",
            target="commit",
        ),
        Field(
            "commit_on_revoke",
            Choice("none", "once", "per-partition"),
            "Whether the listener commits when partitions are revoked.",
            target="commit_on_revoke",
        ),
        Field(
            "on_error",
            Choice("retry", "close", "crash"),
            "What the application does after an exception from poll(), a commit or a listener. "
            "One that no retry"
            " mends (fenced, or refused for its protocols, its subscription or the group's size) "
            "ends it in any case.",
            target="on_error",
        ),
    ),
    "What the application does with records. A bare duration is the time per record.",
    shorthand=word_of("per_record"),
    can_unset=True,
)
LISTENER = Section(
    "listener",
    (
        Field("on_revoked", COST_KIND, "What onPartitionsRevoked costs.", target="revoked"),
        Field("on_assigned", COST_KIND, "What onPartitionsAssigned costs.", target="assigned"),
        Field("on_lost", COST_KIND, "What onPartitionsLost costs.", target="lost"),
        Field(
            "throws_in",
            Choice("revoked", "assigned", "lost"),
            "The callback that throws an exception.",
            target="throws_in",
        ),
        Field("throws_times", Whole(1), "… the first so many times.", target="throws_times"),
    ),
    "The rebalance listener: time spent in the poll thread.",
    can_unset=True,
)
STATE = Section(
    "state",
    (
        Field(
            "per_partition",
            Size(),
            "State to restore for each partition that is assigned.",
            target="bytes_per_partition",
        ),
        Field("restore", ByteRate(), "How fast it is restored.", target="restore_bytes_per_second"),
        Field(
            "flush",
            ByteRate(),
            "How fast it is flushed when a partition is revoked.",
            target="flush_bytes_per_second",
        ),
        Field("standby", Share(), "How much of a restore a standby saves.", target="standby_share"),
        Field(
            "survives",
            Choice("nothing", "restart"),
            "What it survives: nothing, so that all is restored; restart: it lies on a disk that is "
            "there again when the process is (of the same name), which then restores only what has "
            "changed meanwhile.",
            target="survives",
        ),
        Field(
            "changes",
            ByteRate(),
            "How fast the state of one partition changes: what has come since is restored where the "
            "rest survives.",
            target="changes_bytes_per_second",
            default="not at all",
        ),
        Field(
            "checkpoint",
            DURATION_KIND,
            "How often a checkpoint is written: a process that is killed goes on from its last one, "
            "one that stops from where it was.",
            target="checkpoint_us",
            default="0s: a kill loses nothing",
        ),
        Field(
            "where",
            Choice("callback", "background"),
            "Where it is restored: in the assigned callback, which holds up the poll loop, or in the "
            "background, where each partition waits for its own state alone.",
            target="where",
        ),
    ),
    "A state store that follows the partitions.",
    can_unset=True,
)
LIFE = Section(
    "life",
    (
        Field(
            "start",
            DRAW,
            "From being started to the first poll(): JVM, pod, warm-up.",
            target="start",
        ),
        Field("stop", DRAW, "From being asked to stop to close().", target="stop"),
        Field("grace", DURATION_KIND, "Killed when it has not exited by then.", target="grace_us"),
    ),
    "How the process starts and stops.",
    can_unset=True,
)


ASSIGNOR_COST = Section(
    "assignor_cost",
    (
        Field("fixed", MICROSECONDS, "Whatever the size of the group.", target="fixed_us"),
        Field(
            "per_member_partition",
            MICROSECONDS,
            "For each member times each partition.",
            target="per_member_partition_us",
        ),
    ),
    "The time the group's leader needs to compute an assignment. Stated, never measured.",
    can_unset=True,
)


# ------------------------------------------------------------------------------- groups and members

TEMPLATE_FIELDS = (
    Field(
        "client",
        NAME,
        "The client library: java, librdkafka, franz-go, sarama, kafka-python or aiokafka.",
        default="java",
    ),
    Field(
        "client_version",
        ANY_TEXT,
        "Its version.",
        default="the brokers' (java), else the newest known",
    ),
    Field("config", CONFIG, "The consumer's settings, by Kafka's own names."),
    Field(
        "group.instance.id", INSTANCE_ID, "Makes members static: the same as in config.", kafka=True
    ),
    Field("rack", NAME, "Where it runs. What it tells the brokers is client.rack."),
    Field(
        "topics",
        ListOf(TOPIC, is_lenient=True, least=1),
        "The topics it subscribes to.",
        default="every topic of the story",
    ),
    Field(
        "pattern",
        Text("a regular expression", max_length=200),
        "Subscribe by regular expression instead.",
    ),
    Field("handler", HANDLER, "What the application does with records."),
    Field("listener", LISTENER, "The rebalance listener and what it costs."),
    Field("state", STATE, "State that follows the partitions."),
    Field("life", LIFE, "How the process starts and stops."),
    Field("assignor_cost", ASSIGNOR_COST, "How long the leader computes."),
)
STARTS_AT = Field(
    "starts_at",
    Nullable("never", DRAW),
    "When the process is started; never: only by an action.",
    default="0s",
)


def _fold_static_id(written: Written, out: Problems) -> None:
    """The instance id may stand beside config, as it names rather than tunes; from here on it
    stands within.
    """
    config = written.get("config")
    if node := written.unset.pop("group.instance.id", None):
        _unset_static_id(written, config, node, out)
    if "group.instance.id" not in written.at:
        return
    at = written.at.pop("group.instance.id")
    pattern = written.values.pop("group.instance.id", None)
    is_override = (
        at.source.is_override
        and config is not None
        and not config.at.get("group.instance.id", at).source.is_override
    )
    if config is not None and "group.instance.id" in config.at and not is_override:
        out.add(at, "group.instance.id stands here and under config — keep one of the two")
    elif pattern is not None:
        node = config.node if config is not None else at
        values = (
            {**config.values, "group.instance.id": pattern}
            if config is not None
            else {"group.instance.id": pattern}
        )
        places = (
            {**config.at, "group.instance.id": at}
            if config is not None
            else {"group.instance.id": at}
        )
        is_bad, unset = (config.is_bad, config.unset) if config is not None else (False, {})
        written.values["config"] = Written(node, CONFIG, values, places, is_bad, unset)
        written.at.setdefault("config", at)


def _unset_static_id(written: Written, config: Written | None, at: Node, out: Problems) -> None:
    unset = {**(config.unset if config is not None else {}), "group.instance.id": at}
    if config is None:
        written.values["config"] = Written(at, CONFIG, unset=unset)
        written.at.setdefault("config", at)
    elif "group.instance.id" in config.at:
        out.add(at, "group.instance.id stands here and under config — keep one of the two")
    else:
        values, places = config.values, config.at
        written.values["config"] = Written(
            config.node, CONFIG, values, places, config.is_bad, unset
        )


def _one_subscription(written: Written, out: Problems) -> None:
    _fold_static_id(written, out)
    if "topics" in written.at and "pattern" in written.at:
        out.add(
            written.at["pattern"],
            "A pattern stands beside topics — a consumer subscribes by one of the two",
        )


MEMBER_FIELDS = (
    *TEMPLATE_FIELDS,
    STARTS_AT,
    Field("template", NAME, "A template from templates: to begin with."),
    Field(
        "process",
        NAME,
        "The process it lives in: restarts, GC pauses and crashes take all of a process.",
        default="its own",
    ),
)
_TEMPLATE_KEYS = {f.name for f in MEMBER_FIELDS}


def _under_config(key: str) -> str:
    dotted = key.replace("_", ".")
    if key not in _CLIENT_NAMES and dotted in _CLIENT_NAMES:
        return f"Kafka spells it {dotted}; put it below, under config:"
    if key in _CLIENT_NAMES:
        return "it is a setting of the client; put it below, under config:"
    for section in (HANDLER, LISTENER, STATE, LIFE):
        if key in section.by_key:
            return f"it belongs under {section.name}:"
    return _from_client(key)


MEMBER = Section(
    "member",
    (
        *MEMBER_FIELDS,
        Field(
            "count",
            Whole(0, MAX_CONSUMERS),
            "How many like this; the name then holds {n}.",
            default="1",
        ),
    ),
    "A member, or several alike.",
    allows_nothing=True,
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)
LISTED_MEMBER = Section(
    "listed member",
    (*MEMBER.fields.values(), Field("name", PATTERNED, "Its name.", is_required=True)),
    title="member",
    shorthand=word_of("name"),
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)
TEMPLATE = Section(
    "template",
    (*TEMPLATE_FIELDS, STARTS_AT),
    "Settings that members can begin with.",
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)
_MEMBER_MAP = MapOf(MEMBER, PATTERNED, "members")


class Members(Kind):
    """3 · [anna, ben] · {"orders-{n}": {count: 12}}: a tuple of (name or "", count, block or
    None, node).
    """

    says = "a number such as 3, a list of names, or a block of names with settings"
    listed = LISTED_MEMBER
    mapped = _MEMBER_MAP

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar):
            if isinstance(node.value, bool) or not isinstance(node.value, int):
                return self.wrong(node, out)
            if not 0 <= node.value <= MAX_CONSUMERS:
                return self.wrong(
                    node,
                    out,
                    f"{node.value} members are out of bounds — write from 0 to {MAX_CONSUMERS}",
                )
            return (("", node.value, None, node),)
        if isinstance(node, Sequence):
            listed = [self.listed.read(item, out) for item in node.items]
            if any(w is BAD or "name" not in w for w in listed):
                return BAD
            return self._counted([(w.get("name"), w, w.at["name"]) for w in listed], out)
        named = self.mapped.read(node, out)
        if not isinstance(named, Named):
            return BAD
        return self._counted(
            [(name, w, named.node.keys[name]) for name, w in named.values.items()], out
        )

    def _counted(self, members: list[tuple[str, Written, Node]], out: Problems) -> Any:
        made = []
        for name, written, node in members:
            count = written.get("count", 1)
            if count != 1 and "{n}" not in name:
                out.add(
                    node,
                    f"'{name}' would be the name of {count} members — put {{n}} into it, as in "
                    f"'{name}-{{n}}'",
                )
                return BAD
            if "{n}" in name and "count" not in written:
                out.add(
                    node,
                    f"'{name}' holds {{n}}, but how many there are is not said — add count: 3 "
                    "below it",
                )
                return BAD
            unknown = re.search(r"\{(?!n\})[^}]*\}?|(?<!\{n)\}", name)
            if unknown:
                out.add(
                    node,
                    f"'{name}' holds {shorten(unknown.group(), 20)}, which stands for nothing in "
                    f"a name — only {{n}} does",
                )
                return BAD
            made.append((name, count, written, node))
        return tuple(made)

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": MAX_CONSUMERS},
                {"type": "array", "items": self.listed.schema(defs)},
                self.mapped.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        return str(sum(count for _, count, _, _ in value))


_WORKER_FIELDS = (
    *worker_fields(LIFE),
    Field(
        "count",
        Whole(0, MAX_CONSUMERS),
        "How many like this; the name then holds {n}.",
        default="1",
    ),
)
WORKER = Section(
    "worker",
    _WORKER_FIELDS,
    "A Connect worker, or several alike.",
    allows_nothing=True,
    can_unset=("config", "life", "rack"),
)
LISTED_WORKER = Section(
    "listed worker",
    (*_WORKER_FIELDS, Field("name", PATTERNED, "Its name.", is_required=True)),
    title="worker",
    shorthand=word_of("name"),
    can_unset=("config", "life", "rack"),
)


class Workers(Members):
    """The same, of Kafka Connect's workers."""

    listed = LISTED_WORKER
    mapped = MapOf(WORKER, PATTERNED, "workers")


CONNECTOR = connector_section(CONFIG, TOPIC)
CONNECT = connect_section(CONFIG, LIFE, CONNECTOR, Workers())
GROUP = Section(
    "group",
    (
        Field(
            "members",
            Members(),
            "How many, their names, or each with settings of its own.",
            is_required=True,
            example="members: 3",
        ),
        *TEMPLATE_FIELDS,
        STARTS_AT,
        Field("name", NAME, "The group's name (group.id).", default="group"),
        Field("template", NAME, "A template from templates: to begin with."),
        Field(
            "streams",
            STREAMS,
            "It is a Kafka Streams application, and its members are instances.",
        ),
        Field(
            "per_process",
            Whole(1, 1_000),
            "Consumers in one process (Spring's concurrency): one restart, GC pause or crash "
            "takes all of them.",
            default="1",
        ),
        Field(
            "racks",
            ListOf(NAME, is_lenient=True, least=1, says="a list such as [a, b]"),
            "Racks for the processes in turn.",
        ),
        Field(
            "stagger",
            DURATION_KIND,
            "Start the members so far apart instead of all at once.",
            default="0s",
        ),
        Field(
            "overrides",
            MapOf(MEMBER, NAME, "members"),
            "What single members have otherwise, by name.",
        ),
    ),
    "A consumer group: its members and what they share.",
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)


# --------------------------------------------------------------------------------------- the script


class Targets(Kind):
    """Who is meant: all, a name, a number, or a list of them. A tuple of (name or number, node);
    () means all.
    """

    says = "all, a member such as c1, its number such as 1, or a list of them"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and node.text == "all":
            return ()
        items = node.items if isinstance(node, Sequence) else [node]
        made = []
        for item in items:
            if isinstance(item, Scalar) and item.trap:
                return self.wrong(item, out, item.trap)
            if (
                not isinstance(item, Scalar)
                or isinstance(item.value, (bool, float))
                or item.value is None
                or item.text == ""
            ):
                return self.wrong(item, out)
            if isinstance(item.value, int) and item.value < 0:
                return self.wrong(
                    item, out, f"{item.value} is no member's number — they count from 0"
                )
            made.append((item.value if isinstance(item.value, int) else item.text, item))
        return (
            tuple(made) if made else self.wrong(node, out, f"The list is empty — write {self.says}")
        )

    def schema(self, defs: dict[str, Schema]) -> Schema:
        one: Schema = {
            "anyOf": [{"type": "string", "minLength": 1}, {"type": "integer", "minimum": 0}]
        }
        return named_schema(
            defs,
            "targets",
            lambda: {"anyOf": [one, {"type": "array", "items": one, "minItems": 1}]},
        )

    def say(self, value: Any) -> str:
        return "all" if not value else ", ".join(str(v) for v, _ in value)


TARGETS = Targets()
WHO = Field("members", TARGETS, "Who: all, names or numbers.", aliases=("member",))
PROCESS = Field("process", NAME, "All members of this process.")
IN_GROUP = Field("group", NAME, "Which group, where there are several.")
FOR = Field("for", DRAW, "For how long.", is_required=True, example="for: 30s")
STAGGER = Field(
    "stagger", DURATION_KIND, "One after another, so far apart.", target="stagger_us", default="0s"
)
LOAD = Field("load", DRAW, "How long the new coordinator takes to read the group.", target="load")


def _join_shorthand(node: Node) -> str:
    return (
        "count"
        if isinstance(node, Scalar)
        and isinstance(node.value, int)
        and not isinstance(node.value, bool)
        else "names"
    )


_join_shorthand.keys = ("count", "names")  # type: ignore[attr-defined]

BOUNCE_FIELDS = (
    WHO,
    IN_GROUP,
    Field(
        "as",
        Choice("in-place", "statefulset", "deployment"),
        "in-place: same names in order. statefulset: the last one first. deployment: new names.",
        default="in-place",
    ),
    Field(
        "order",
        Choice("as-listed", "reversed"),
        "In which order.",
        default="as-listed (statefulset: reversed)",
    ),
    Field(
        "max_unavailable",
        ShareOrWhole(),
        "How many may be away at once.",
        default="1 (deployment: 25%, rounded down)",
    ),
    Field(
        "surge",
        ShareOrWhole(),
        "How many replacements may run beside the old ones (deployment only).",
        default="0 (deployment: 25%, rounded up)",
    ),
    Field(
        "down",
        DRAW,
        "How long a process is away between its exit and its restart.",
        default="not at all: only life.start",
    ),
    Field(
        "ready_after",
        DURATION_KIND,
        "It counts as ready so long after it was started.",
        target="ready_after_us",
    ),
    Field(
        "ready_when",
        Choice("started", "assigned"),
        "When a restarted one counts as ready: once started, or once it has its partitions.",
        default="started",
    ),
    Field("settle", DURATION_KIND, "The wait before the next one.", target="settle_us"),
)
PARTITION_NAME = Text("a partition such as orders-3", rf"{_KAFKA_NAME}-[0-9]{{1,6}}")
STREAMS_SETTINGS = Field(
    "streams", STREAMS_CONFIG, "A Streams application: its instances' settings from then on."
)
WORKER_SETTINGS = Field("worker", WORKER_CONFIG, "Connect workers: their settings from then on.")
JOIN = Section(
    "join",
    (
        Field("count", Whole(1, MAX_CONSUMERS), "How many new members."),
        Field("names", ListOf(NAME, is_lenient=True, least=1), "Their names, instead of a number."),
        STAGGER,
        IN_GROUP,
        *[f for f in MEMBER_FIELDS if f.name != "starts_at"],
        WORKER_SETTINGS,
    ),
    "New members join.",
    shorthand=_join_shorthand,
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)
SCALE = Section(
    "scale",
    (
        Field(
            "to",
            Whole(0, MAX_CONSUMERS),
            "How many members there are then.",
            target="to",
            is_required=True,
        ),
        STAGGER,
        IN_GROUP,
    ),
    "Bring the group to so many members: new ones join, or the last ones leave.",
    shorthand=word_of("to"),
)
LEAVE = Section(
    "leave",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        STAGGER,
        Field(
            "option",
            Choice("default", "leave", "remain"),
            "Java's close option: default (static members stay), leave, or"
            " remain (under the consumer protocol a dynamic member leaves all the same, as Kafka "
            "4.3.1's client does).",
            target="option",
        ),
    ),
    "Members stop gracefully.",
    shorthand=word_of("members"),
)
CRASH = Section(
    "crash",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "restart_after",
            DRAW,
            "Started again so much later.",
            target="restart_after",
            default="not at all",
        ),
        Field(
            "loses_volume",
            Flag(),
            "Kafka Streams: its state directory is gone, too.",
            target="loses_volume",
        ),
    ),
    "Processes die at once (SIGKILL).",
    shorthand=word_of("members"),
)
FREEZE = Section(
    "freeze",
    (WHO, PROCESS, IN_GROUP, FOR),
    "A long GC pause or a suspended machine: nothing of the process runs.",
)
HANG = Section(
    "hang", (WHO, PROCESS, IN_GROUP, FOR), "The handler gets stuck; the heartbeat thread goes on."
)
POISON = Section(
    "poison",
    (
        Field(
            "partition",
            PARTITION_NAME,
            "Where the record is, such as orders-3.",
            is_required=True,
            example="partition: orders-3",
        ),
        Field(
            "offset",
            Nullable("next", Whole(0, 10**15)),
            "Its offset, or the next to arrive.",
            target="offset",
            default="next",
        ),
        FOR,
        Field(
            "times",
            Whole(1),
            "How many deliveries hang before it is skipped.",
            target="times",
            default="every one",
        ),
    ),
    "A record that hangs whoever gets it; uncommitted, it travels to the next owner.",
)
SLOW = Section(
    "slow",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "factor",
            Number(0.001, 1e6, "a factor such as 3 or 3x", suffix="x×"),
            "The handler takes so many times as long.",
            target="factor",
            is_required=True,
            example="factor: 3x",
        ),
        Field(
            "for", POSITIVE, "For how long.", target="for_us", is_required=True, example="for: 2m"
        ),
    ),
    "The handler gets slower for a while.",
)
ROLLING_BOUNCE = Section(
    "rolling_bounce",
    BOUNCE_FIELDS,
    "Restart the members a few at a time.",
    shorthand=word_of("members"),
    allows_nothing=True,
)
DEPLOY = Section(
    "deploy",
    (*BOUNCE_FIELDS, *TEMPLATE_FIELDS, WORKER_SETTINGS, STREAMS_SETTINGS),
    "A rolling bounce after which the members have new settings.",
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
)
KUBECTL_ROLLOUT = Section(
    "kubectl_rollout",
    (*ROLLOUT_FIELDS, *TEMPLATE_FIELDS),
    "A rollout by Kubernetes' own rules and names; with settings, the new pods have these.",
    allows_nothing=True,
    elsewhere=_under_config,
    after=_one_subscription,
)
CUT = Section(
    "cut",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        FOR,
        Field(
            "from",
            Choice("coordinator", "brokers"),
            "The group's coordinator alone, or all brokers.",
            default="coordinator",
        ),
    ),
    "The network between members and brokers is cut, and heals.",
)
ADD_LATENCY = Section(
    "add_latency",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field(
            "extra",
            DRAW,
            "So much more, one way.",
            target="extra",
            is_required=True,
            example="extra: 50ms",
        ),
        Field(
            "for", POSITIVE, "For how long.", target="for_us", is_required=True, example="for: 2m"
        ),
    ),
    "The network gets slower for a while.",
)
BROKER_RESTART = Section(
    "broker_restart",
    (
        Field(
            "broker",
            Nullable("coordinator", Whole(0, 100_000)),
            "Which one, by its id, or the one that coordinates the group.",
            target="broker",
            is_required=True,
        ),
        Field(
            "down",
            DRAW,
            "How long it is away.",
            target="down",
            is_required=True,
            example="down: 20s",
        ),
        IN_GROUP,
        LOAD,
    ),
    "A broker goes down and comes back.",
)
BROKER_BUSY = Section(
    "broker_busy",
    (
        Field(
            "broker",
            Nullable("coordinator", Whole(0, 100_000)),
            "Which one, by its id, or the one that coordinates the group.",
            target="broker",
            is_required=True,
        ),
        Field(
            "wait",
            DRAW,
            "How long each request and its answer lie in its queues, together.",
            target="wait",
            is_required=True,
            example="wait: 50ms",
        ),
        Field(
            "for", POSITIVE, "For how long.", target="for_us", is_required=True, example="for: 2m"
        ),
        IN_GROUP,
    ),
    "A broker is under other load, and whatever it is asked waits.",
)
BROKER_UPGRADE = Section(
    "broker_upgrade",
    (
        Field(
            "to",
            ANY_TEXT,
            "The Kafka version they come back with.",
            is_required=True,
            example='to: "4.3"',
        ),
        Field(
            "down",
            DRAW,
            "How long each is away.",
            target="down",
            is_required=True,
            example="down: 20s",
        ),
        Field(
            "settle",
            DURATION_KIND,
            "The wait before the next one.",
            target="settle_us",
            default="0s",
        ),
        LOAD,
    ),
    "All brokers restart one after another and come back with another Kafka version.",
    shorthand=word_of("to"),
)
FAILOVER = Section(
    "coordinator_failover",
    (IN_GROUP, LOAD),
    "The group's coordinator moves to another broker.",
    allows_nothing=True,
    shorthand=word_of("load"),
)
ADD_PARTITIONS = Section(
    "add_partitions",
    (
        Field("topic", TOPIC, "Which topic; may be left out where there is one."),
        Field(
            "to", Whole(1, MAX_PARTITIONS), "How many it has then.", target="to", is_required=True
        ),
    ),
    "Partitions are added to a topic.",
    shorthand=word_of("to"),
)
_OF_TOPICS = ("name", *TOPIC_BLOCK.by_key)
CREATE_TOPIC = Section(
    "create_topic",
    (
        Field(
            "topic",
            TOPIC,
            "A topic under topics: with exists: false.",
            target="topic",
            is_required=True,
        ),
    ),
    "A topic that did not exist from the start is created.",
    shorthand=word_of("topic"),
    elsewhere=lambda key: (
        "write topic: orders, and what it is like under topics:, with exists: false"
        if key in _OF_TOPICS
        else ""
    ),
)
DELETE_TOPIC = Section(
    "delete_topic",
    (Field("topic", TOPIC, "Which topic.", target="topic", is_required=True),),
    "A topic is deleted.",
    shorthand=word_of("topic"),
)
SUBSCRIBE = Section(
    "subscribe",
    (
        WHO,
        PROCESS,
        IN_GROUP,
        Field("topics", ListOf(TOPIC, is_lenient=True, least=1), "The topics from now on."),
        Field("pattern", Text("a regular expression", max_length=200), "Or a regular expression."),
    ),
    "Members change their subscription.",
    after=_one_subscription,
)
ENFORCE = Section(
    "enforce_rebalance",
    (WHO, PROCESS, IN_GROUP),
    "Members call enforceRebalance().",
    shorthand=word_of("members"),
    allows_nothing=True,
)
SET_RATE = Section(
    "set_rate",
    (
        Field("topic", TOPIC, "Which topic; may be left out where there is one."),
        Field("rate", RATE_KIND, "Records that arrive from now on.", is_required=True),
    ),
    "From now on records arrive at another rate.",
    shorthand=word_of("rate"),
)

DEEDS: dict[str, Section] = {
    "join": JOIN,
    "scale": SCALE,
    "leave": LEAVE,
    "crash": CRASH,
    "freeze": FREEZE,
    "hang": HANG,
    "poison": POISON,
    "slow": SLOW,
    "rolling_bounce": ROLLING_BOUNCE,
    "deploy": DEPLOY,
    "cut": CUT,
    "add_latency": ADD_LATENCY,
    "broker_restart": BROKER_RESTART,
    "broker_busy": BROKER_BUSY,
    "broker_upgrade": BROKER_UPGRADE,
    "coordinator_failover": FAILOVER,
    "add_partitions": ADD_PARTITIONS,
    "create_topic": CREATE_TOPIC,
    "delete_topic": DELETE_TOPIC,
    "subscribe": SUBSCRIBE,
    "enforce_rebalance": ENFORCE,
    "set_rate": SET_RATE,
    "autoscale": AUTOSCALE,
    "kubectl_rollout": KUBECTL_ROLLOUT,
    **targeted(WHO),
    **CONNECT_DEEDS,
}


class WhenKind(Kind):
    """`stable`, `group is stable`, `orders is caught-up`, or a block: (group, condition, for
    µs).
    """

    says = "stable, empty or caught-up, as in `when: group is stable`"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Mapping):
            written = WHEN.read(node, out)
            return (
                BAD
                if written is BAD or written.is_bad
                else (written.get("group", ""), written.get("is"), written.get("for", 0))
            )
        if isinstance(node, Scalar) and isinstance(node.value, str):
            group, _, condition = node.text.rpartition(" is ")
            if condition.strip() in CONDITIONS:
                return (
                    group.strip().removeprefix("group ").replace("the ", "").strip()
                    if group.strip() not in ("group", "the group")
                    else "",
                    condition.strip(),
                    0,
                )
        return self.wrong(node, out, f"{shown(node)} is no condition — write {self.says}")

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return {
            "anyOf": [
                {"type": "string", "pattern": rf"^(?:.* is )?(?:{'|'.join(CONDITIONS)})$"},
                WHEN.schema(defs),
            ]
        }

    def say(self, value: Any) -> str:
        return f"{value[0] or 'the group'} is {value[1]}" + (
            f" for {DURATION_KIND.say(value[2])}" if value[2] else ""
        )


CONDITIONS = ("stable", "empty", "caught-up")
WHEN = Section(
    "when",
    (
        Field("group", NAME, "Which group, where there are several."),
        Field("is", Choice(*CONDITIONS), "The condition.", is_required=True),
        Field("for", DURATION_KIND, "It must have held for so long.", default="0s"),
    ),
)
TIMING = (
    Field("at", DURATION_KIND, "When, counted from the start. With `when`: not before that."),
    Field("after", NAME, "After the action with this id is done."),
    Field("delay", DURATION_KIND, "… so much later.", default="0s"),
    Field("when", WhenKind(), "Once a condition holds: group is stable, empty or caught-up."),
    Field("every", POSITIVE, "Again and again, so far apart."),
    Field("times", Whole(1, 100_000), "… so often in all.", default="until the horizon"),
    Field(
        "jitter",
        DURATION_KIND,
        "… each later by a random part of this.",
        target="jitter_us",
        default="0s",
    ),
    Field("id", NAME, "A name that `after`, budgets and expectations can use."),
)
_DEED_KEYS = {key: name for name, section in DEEDS.items() for key in section.by_key}


def _in_deed(key: str) -> str:
    return (
        f"it belongs one level deeper, as in {_DEED_KEYS[key]}: {{{key}: …}}"
        if key in _DEED_KEYS
        else ""
    )


ACTION = Section(
    "action",
    (*TIMING, *(Field(name, section, section.doc) for name, section in DEEDS.items())),
    "One thing that is done to the world, and when.",
    exactly_one=tuple(DEEDS),
    elsewhere=_in_deed,
)
RANDOM_FAULT = Section(
    "random fault",
    (
        Field(
            "kind",
            Choice("crash", "freeze", "hang", "cut"),
            "What happens.",
            target="kind",
            is_required=True,
        ),
        Field("members", TARGETS, "To whom.", aliases=("member",), default="all"),
        IN_GROUP,
        Field(
            "about_every",
            POSITIVE,
            "The mean time between two of them, for each member.",
            is_required=True,
            example="about_every: 10m",
        ),
        Field(
            "for",
            DRAW,
            "For how long; a crash: until it is started again.",
            target="for_",
            is_required=True,
            example="for: 2s",
        ),
        Field("from", DURATION_KIND, "Not before.", target="from_us", default="0s"),
        Field("until", DURATION_KIND, "Not after.", target="until_us", default="the horizon"),
    ),
    "Faults at random, drawn from the seed.",
)


# ----------------------------------------------------------------------------------------- variants

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
        *[f for f in TEMPLATE_FIELDS if f.name not in ("topics", "pattern", "rack")],
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
    elsewhere=_under_config,
    after=_one_subscription,
    can_unset=_TEMPLATE_KEYS,
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
        variants: dict[str, tuple[Any, Node]] = {}
        items: list[tuple[str, Written | None, Node]] = []
        if isinstance(node, Mapping) and not is_unnamed(node):
            named = _OVERLAYS.read(node, out)
            if named is BAD:
                return BAD
            items = [(name, written, node.keys[name]) for name, written in named.values.items()]
        else:
            for item in node.items if isinstance(node, Sequence) else [node]:
                if isinstance(item, Mapping) and is_unnamed(item):
                    written = OVERLAY.read(item, out)
                    items += (
                        []
                        if written is BAD
                        else [(name_of(item), written, next(iter(item.keys.values())))]
                    )
                elif isinstance(item, Mapping) and len(item.entries) == 1:
                    named = _OVERLAYS.read(item, out)
                    items += (
                        []
                        if named is BAD
                        else [
                            (name, written, item.keys[name])
                            for name, written in named.values.items()
                        ]
                    )
                elif isinstance(item, Scalar) and isinstance(item.value, str) and not item.trap:
                    items.append((item.text, None, item))
                else:
                    return self.wrong(item, out)
        if not items:
            return (
                BAD
                if out.items
                else self.wrong(node, out, f"There is no variant here — write {self.says}")
            )
        if len(items) > 32:
            return self.wrong(node, out, f"There are {len(items)} variants — write at most 32")
        for name, written, at in items:
            if name in variants:
                out.add(at, f"'{name}' is replayed twice — keep one of the two")
            elif name not in STOCK_VARIANTS and not _says_something(written):
                from rebalsim.words.nearest import or_nearest

                if written is not None and written.is_bad:
                    continue  # it says what it changes, if not well; that is told already
                hint = or_nearest(name, STOCK_VARIANTS)
                out.add(
                    at,
                    f"'{shorten(name)}' is not a variant that ships with rebalsim — "
                    f"{hint}{'' if hint.endswith('?') else '.'} One of your own says "
                    f"what it changes, as in {shorten(name, 20)}: {{config: {{…}}}}",
                )
            else:
                variants[name] = (written if _says_something(written) else None, at)
        return tuple((name, written, at) for name, (written, at) in variants.items()) or BAD

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


class Raw(Kind):
    """Kept as it stands, read later by whoever knows what it means."""

    def __init__(self, says: str, shape: Schema) -> None:
        self.says = says
        self.shape = shape

    def _read(self, node: Node, out: Problems) -> Any:
        return node

    def schema(self, defs: dict[str, Schema]) -> Schema:
        return self.shape


# ----------------------------------------------------------------------------------- the whole file


def _needs_topics(written: Written, out: Problems) -> None:
    if "topics" in written.at or ("connect" in written.at and "group" not in written.at):
        return
    if "topics" not in written.at:
        out.add(written.node, "The scenario lacks 'topics' — write topics: {orders: 12}")
        written.is_bad = True


BUDGET_SHAPE: Schema = {"type": ["object", "array"]}
SCENARIO = Section(
    "scenario",
    (
        Field("title", ANY_TEXT, "What the story is called.", target="title"),
        Field(
            "description",
            ANY_TEXT,
            "What it is about; printed above the results.",
            target="description",
        ),
        Field(
            "kafka",
            Version(),
            "The brokers' Kafka version, with that version's defaults.",
            default="4.3",
        ),
        Field("cluster", CLUSTER, "The brokers and the network."),
        Field(
            "topics",
            MapOf(TOPIC_BLOCK, TOPIC, "topics", least=1),
            "The topics, by name; needed unless all there is are Connect's sources.",
            example="topics: {orders: 12}",
        ),
        Field(
            "templates",
            MapOf(TEMPLATE, NAME, "templates"),
            "Named settings that members can begin with.",
        ),
        Field("group", GROUP, "The consumer group."),
        Field(
            "groups",
            MapOf(GROUP, NAME, "groups", least=1, most=200),
            "Several consumer groups, by name.",
        ),
        Field("connect", CONNECT, "A Kafka Connect cluster, beside or without consumer groups."),
        Field(
            "script",
            ListOf(
                ACTION,
                most=5_000,
                goes_on=True,
                says="a list of actions, each beginning with a dash, as in - {at: 1m, crash: c1}",
            ),
            "What is done to the world, in order of time.",
        ),
        Field(
            "random_faults",
            ListOf(
                RANDOM_FAULT,
                most=200,
                goes_on=True,
                says="a list of faults, each beginning with a dash",
            ),
            "Faults at random, drawn from the seed.",
        ),
        Field(
            "replay",
            REPLAY,
            "The variants to play side by side: stock ones, versions and clients as in {kafka: "
            '"3.9"}, or your own.',
            default="[eager, cooperative]",
        ),
        Field("horizon", POSITIVE, "When the story ends.", target="horizon_us"),
        Field(
            "start",
            Choice("cold", "settled"),
            "settled: the story begins with a group that has run for an hour, as the same seed plays "
            "that. cold: it begins with the group's start.",
            target="start",
        ),
        Field("seed", Whole(0, 2**53), "Decides every random draw.", target="seed"),
        Field("runs", Whole(1, 1_000_000), "Over how many seeds it is played.", target="runs"),
        Field(
            "heartbeat_phase",
            Choice("by-seed", "as-written"),
            "by-seed: seed 1 plays the script as written, every other one up to a heartbeat "
            "interval"
            " later, so that each strikes at another moment between two heartbeats. as-written: "
            "all at the written times.",
            default="by-seed",
        ),
        Field(
            "budgets",
            Raw("a block of limits on metrics", BUDGET_SHAPE),
            'What a rebalance may cost: {longest_pause: "<= 2s"}, for all variants or by variant.',
        ),
        Field(
            "expect",
            Raw("a list of facts that must hold", {"type": ["array", "string"]}),
            "Facts that must hold: `at 41s: orders-3 owned by c2`.",
        ),
    ),
    "A rebalsim scenario: one story of a Kafka consumer group.",
    after=_needs_topics,
    elsewhere=lambda key: (
        "a file with axes is a plan; `rebalsim sweep` plays it"
        if key in ("axes", "objectives", "scenario")
        else "it belongs under group:"
        if key in GROUP.by_key or key in _CLIENT_NAMES
        else "it belongs under cluster:"
        if key in CLUSTER.by_key
        else ""
    ),
)
