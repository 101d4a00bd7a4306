"""What a scenario may say of a Kafka Streams application: its topology and stores, and its settings
by Kafka's names. It stands in a group, whose members are then its instances.
"""

from __future__ import annotations

from typing import Any

from rebalsim.scenario.common_language import DRAW, word_of
from rebalsim.scenario.kinds import (
    ByteRate,
    Choice,
    Duration,
    Field,
    Flag,
    ListOf,
    Number,
    Section,
    Size,
    Text,
    Whole,
)

_MS = Duration(kafka=True, most=2_147_483_647_000)
_MS_POSITIVE = Duration(kafka=True, least=1_000, most=2_147_483_647_000)
_NAME = Text("a name of letters, digits, '.', '_' and '-'", r"[a-zA-Z0-9._\-]{1,249}")
_LONG = (1 << 63) - 1
_NO_BEARING = "has no bearing on tasks here"
_WITHOUT_BEARING = (
    "application.id",
    "application.server",
    "bootstrap.servers",
    "buffered.records.per.partition",
    "built.in.metrics.version",
    "client.id",
    "connections.max.idle.ms",
    "default.client.supplier",
    "default.deserialization.exception.handler",
    "default.dsl.store",
    "default.key.serde",
    "default.list.key.serde.inner",
    "default.list.key.serde.type",
    "default.list.value.serde.inner",
    "default.list.value.serde.type",
    "default.production.exception.handler",
    "default.timestamp.extractor",
    "default.value.serde",
    "deserialization.exception.handler",
    "dsl.store.suppliers.class",
    "enable.metrics.push",
    "ensure.explicit.internal.resource.naming",
    "errors.dead.letter.queue.topic.name",
    "log.summary.interval.ms",
    "metadata.max.age.ms",
    "metadata.recovery.strategy",
    "metric.reporters",
    "metrics.num.samples",
    "metrics.recording.level",
    "metrics.sample.window.ms",
    "processing.exception.handler",
    "processor.wrapper.class",
    "production.exception.handler",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "reconnect.backoff.ms",
    "repartition.purge.interval.ms",
    "replication.factor",
    "request.timeout.ms",
    "retry.backoff.ms",
    "rocksdb.config.setter",
    "security.protocol",
    "send.buffer.bytes",
    "state.dir",
    "statestore.cache.max.bytes",
    "cache.max.bytes.buffering",
    "task.timeout.ms",
    "topology.optimization",
    "window.size.ms",
    "windowed.inner.class.serde",
    "windowstore.changelog.additional.retention.ms",
)
BEFORE_COOPERATIVE = (
    "0.10.0",
    "0.10.1",
    "0.10.2",
    "0.11.0",
    "1.0",
    "1.1",
    "2.0",
    "2.1",
    "2.2",
    "2.3",
)
AFTER_EAGER = (
    "2.4",
    "2.5",
    "2.6",
    "2.7",
    "2.8",
    "3.0",
    "3.1",
    "3.2",
    "3.3",
    "3.4",
    "3.5",
    "3.6",
    "3.7",
    "3.8",
    "3.9",
)
OF_ALL = (
    "num.standby.replicas",
    "acceptable.recovery.lag",
    "max.warmup.replicas",
    "probing.rebalance.interval.ms",
    "task.assignor.class",
)  # a deploy that changes these is a variant's matter: one for all instances
_CONSUMERS = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "group.instance.id",
    "client.rack",
)


def _setting(key: str, kind: Any, doc: str, target: str = "") -> Field:
    usual = key.replace(".", "_")
    usual = usual.removesuffix("_ms") + "_us" if usual.endswith("_ms") else usual
    return Field(key, kind, doc, target=target or usual, kafka=True)


STREAMS_CONFIG = Section(
    "streams config",
    (
        _setting("num.stream.threads", Whole(1, 1_000), "Stream threads of an instance."),
        _setting(
            "num.standby.replicas",
            Whole(0, 100),
            "Standbys of each task with state (classic protocol).",
        ),
        _setting(
            "acceptable.recovery.lag",
            Whole(0, _LONG),
            "How many records behind an instance still counts as caught up: below it a task moves "
            "at once, and cold.",
        ),
        _setting("max.warmup.replicas", Whole(1, 10_000), "Warm-ups under way at a time."),
        _setting(
            "probing.rebalance.interval.ms",
            Duration(kafka=True, least=60_000_000, most=2_147_483_647_000),
            "How long after an assignment with warm-ups the group looks again.",
        ),
        _setting(
            "task.assignor.class",
            Choice(
                "HighAvailabilityTaskAssignor",
                "org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor",
                "StickyTaskAssignor",
            ),
            "Who deals the tasks (classic protocol).",
        ),
        _setting(
            "rack.aware.assignment.strategy",
            Choice("none", "min_traffic", "balance_subtopology"),
            "Whether racks count.",
            "rack_aim",
        ),
        _setting(
            "rack.aware.assignment.traffic_cost",
            Whole(0, 1_000_000),
            "What a partition read across racks costs.",
            "rack_traffic_cost",
        ),
        _setting(
            "rack.aware.assignment.non_overlap_cost",
            Whole(0, 1_000_000),
            "What a moved task costs.",
            "rack_non_overlap_cost",
        ),
        _setting(
            "rack.aware.assignment.tags",
            ListOf(_NAME, is_lenient=True),
            "Client tags in which standbys shall differ.",
            "rack_tags",
        ),
        _setting(
            "commit.interval.ms",
            _MS,
            "How often threads commit: 30 s, and 100 ms under exactly-once, where it is not written.",
        ),
        _setting("poll.ms", _MS_POSITIVE, "How long a thread waits in poll()."),
        _setting(
            "max.task.idle.ms",
            Duration(kafka=True, most=2_147_483_647_000, also=(-1,)),
            "How long a task waits for an input that has nothing; -1 processes what is there.",
        ),
        _setting("state.cleanup.delay.ms", _MS, "Unused state is deleted after this."),
        _setting(
            "processing.guarantee",
            Choice("at_least_once", "exactly_once_v2"),
            "Whether threads commit in transactions.",
        ),
        _setting(
            "transaction.timeout.ms",
            _MS_POSITIVE,
            "A dead owner's transaction is aborted after this (exactly-once).",
        ),
        _setting(
            "upgrade.from",
            Choice(*BEFORE_COOPERATIVE, *AFTER_EAGER),
            "Up to 2.3: instances give up everything before each rebalance, as 2.3's do (clients "
            "up to 3.9; 4.x no longer has it, and shares no live group with 2.3). Later: no "
            "bearing.",
        ),
        _setting(
            "group.protocol",
            Choice("classic", "streams"),
            "streams is KIP-1071: the broker deals the tasks; no static members, warm-ups or lags.",
        ),
        _setting(
            "streams.session.timeout.ms", _MS_POSITIVE, "The group's session (streams protocol)."
        ),
        _setting(
            "streams.heartbeat.interval.ms", _MS_POSITIVE, "… its heartbeats (streams protocol)."
        ),
        _setting(
            "streams.num.standby.replicas", Whole(0, 100), "… its standbys (streams protocol)."
        ),
        _setting(
            "streams.initial.rebalance.delay.ms",
            _MS,
            "… how long the first members wait for others.",
        ),
        _setting(
            "streams.assignment.interval.ms", _MS, "… how far apart assignments are computed."
        ),
    ),
    "Kafka Streams' settings, by Kafka's own names; consumers' settings stay under the group's "
    "config:.",
    title="streams' config",
    can_unset=True,
    ignored=dict.fromkeys(_WITHOUT_BEARING, _NO_BEARING),
    refused={
        "num.standby.replicas.per.task": "is no setting of Kafka — write num.standby.replicas",
    },
    elsewhere=lambda key: (
        "it is a setting of the consumers; put it under the group's config:"
        if key in _CONSUMERS or key.startswith(("consumer.", "main.consumer."))
        else ""
    ),
)
STORE = Section(
    "store",
    (
        Field("size", Size(least=1), "Its state in all partitions together."),
        Field("records", Whole(0, 10**12), "The same, counted in changelog records."),
        Field(
            "record_bytes",
            Size(least=1),
            "A changelog record on the wire.",
            target="record_bytes",
            default="100B",
        ),
        Field(
            "writes",
            Number(0, 1000),
            "Changelog records for a record handled.",
            target="writes",
            default="1",
        ),
        Field("in_memory", Flag(), "Kept in memory: restored whole at every start and move."),
        Field("name", _NAME, "The store's name.", default="store-N"),
    ),
    "A state store of a sub-topology.",
    shorthand=word_of("size"),
)
PUNCTUATOR = Section(
    "punctuator",
    (
        Field(
            "every",
            Duration(least=1_000, most=2_147_483_647_000),
            "How far apart its calls are.",
            target="every_us",
            is_required=True,
        ),
        Field("takes", DRAW, "How long a call takes, for each task.", target="takes", default="0s"),
        Field(
            "by",
            Choice("wall-clock", "stream-time"),
            "Whose time counts: the clock's, or the records', which stands still where none come.",
            target="by",
            default="wall-clock",
        ),
    ),
    "A punctuator: what the thread does for each of its tasks every so often. Meanwhile it neither "
    "processes nor polls.",
)
PART = Section(
    "sub-topology",
    (
        Field(
            "sources",
            ListOf(_NAME, is_lenient=True, least=1, says="a topic or a list of topics"),
            "The topics that it reads, repartition topics of others among them.",
            is_required=True,
            aliases=("source",),
        ),
        Field("store", STORE, "Its store; without one its tasks have no state."),
        Field("stores", ListOf(STORE, most=50), "Several stores."),
        Field(
            "writes_to",
            ListOf(_NAME, is_lenient=True),
            "Repartition topics that it writes to.",
        ),
        Field("joins", Flag(), "It joins its sources, which must have as many partitions."),
        Field(
            "per_record",
            DRAW,
            "What processing one of its records takes.",
            default="the group's handler",
        ),
        Field(
            "punctuators",
            ListOf(PUNCTUATOR, most=20),
            "What each of its tasks is called for, every so often.",
            aliases=("punctuator",),
            example="punctuators: [{every: 30s, takes: 50ms}]",
        ),
    ),
    "A connected part of the topology: a task for every partition of its largest source.",
    shorthand=word_of("sources"),
)
STREAMS = Section(
    "streams",
    (
        Field(
            "topology",
            ListOf(PART, is_lenient=True, least=1, most=200),
            "Its sub-topologies.",
            default="one for each topic, without state",
            example="topology: [{source: orders, store: 40GB}]",
        ),
        Field("config", STREAMS_CONFIG, "Kafka Streams' settings."),
        Field(
            "clients",
            Choice("cooperative", "eager"),
            "eager: those of 2.3, the last that stop everything at each rebalance, and restore in "
            "their stream threads; they share no live group with 4.x.",
            target="clients",
            default="cooperative",
        ),
        Field(
            "restore",
            ByteRate(),
            "How fast a thread restores a store from its changelog.",
            target="restore_bytes_per_second",
            default="40MB/s",
        ),
        Field(
            "starts",
            Choice("warm", "cold"),
            "warm: it ran before, and everybody has the state of its tasks when the story begins. "
            "cold: every store is rebuilt first.",
            target="starts",
            default="warm",
        ),
        Field(
            "volume",
            Choice("kept", "lost"),
            "Whether the state directory survives a restart (a StatefulSet's volume) or not "
            "(emptyDir).",
            target="volume",
            default="kept",
        ),
        Field(
            "close",
            Choice("remain", "leave"),
            "KafkaStreams.close() never leaves a classic group, unless CloseOptions tell it to.",
            target="close",
            default="remain",
        ),
    ),
    "A Kafka Streams application; the group's members are its instances.",
    can_unset=("config",),
)
