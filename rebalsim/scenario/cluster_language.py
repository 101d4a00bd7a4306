"""Brokers, their network, and what requests cost."""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.common_language import DRAW, DURATION_KIND, NAME
from rebalsim.scenario.config_language import BROKER_CONFIG
from rebalsim.scenario.document import Node, Scalar, Sequence
from rebalsim.scenario.kinds import BAD, Field, Kind, ListOf, Schema, Section, Text, Whole
from rebalsim.scenario.problems import Problems


class Brokers(Kind):
    """A number of brokers, or a list of {id, rack}: [(id, rack)]."""

    says = "a number such as 3, or a list of {id: 0, rack: a}"

    def _read(self, node: Node, out: Problems) -> Any:
        if isinstance(node, Scalar) and type(node.value) is int:
            if not 1 <= node.value <= 1_000:
                says = f"{node.value} is out of bounds — write a number of brokers from 1 to 1000"
                return self.wrong(node, out, says)
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
                says = f"Broker {written.get('id')} is there twice — give each an id of its own"
                out.add(written.at["id"], says)
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
