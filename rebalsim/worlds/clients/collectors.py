"""Programs that are only configured, never written: collectors and pipelines with a Kafka input.

Each has documented keys and defaults of its own; one table a program says them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rebalsim.worlds import kafka_names
from rebalsim.worlds.clients.reading import Reading, one_member, read_setting
from rebalsim.worlds.clients.topics import is_pattern, split
from rebalsim.worlds.flat_files import flattened
from rebalsim.worlds.placeholders import resolved
from rebalsim.worlds.secrets import is_credential
from rebalsim.worlds.text_tree import at, rows, table, texts, word
from rebalsim.worlds.values import Text, Tree, default, inferred, place, stated, unknown
from rebalsim.worlds.words import listed, squash, whole


@dataclass(frozen=True)
class Program:
    """What a program's Kafka input is by default, and by what keys it is told."""

    client: str
    why: str
    group: str | None = None  # its default
    topics: tuple[str, ...] = ()
    members_key: str = ""
    members: int = 1
    members_why: str = "one per process"
    settings: dict[str, str | list[str]] = field(default_factory=dict)


OTEL = Program(
    "franz-go",
    "OpenTelemetry Collector's kafka receiver",
    "otel-collector",
    ("otlp_logs", "otlp_metrics", "otlp_spans"),
    members_why="one per signal that is in a pipeline",
    settings={
        "session.timeout.ms": "10000",
        "heartbeat.interval.ms": "3000",
        "partition.assignment.strategy": ["cooperative-sticky"],
    },
)
DATA_PREPPER = Program("java", "Data Prepper's kafka source", None, (), "workers", 2)
VECTOR = Program("librdkafka", "Vector's kafka source")
BENTHOS = Program("franz-go", "Redpanda Connect's kafka input")
BENTHOS_OLD = Program("sarama", "Redpanda Connect's older kafka input")
TELEGRAF = Program("sarama", "Telegraf's kafka_consumer", "telegraf_metrics_consumers")
FILEBEAT = Program("sarama", "Filebeat's kafka input")
LOGSTASH = Program(
    "java", "Logstash's kafka input", "logstash", ("logstash",), "consumer_threads", 1
)
DATAHUB = Program("librdkafka", "DataHub's actions are Python with confluent-kafka")
DAPR = Program("sarama", "Dapr's kafka component")

Known = Mapping[str, str]


def read_collectors(tree: Tree, known: Known) -> list[Reading]:
    """Every Kafka input of the programs known here that a tree configures."""
    return [
        *_otel(tree, known),
        *_data_prepper(tree, known),
        *_sources_of_vector(tree, known),
        *_benthos(tree, known),
        *_filebeat(tree, known),
        *_telegraf(tree, known),
        *_datahub(tree, known),
    ]


# The receiver's documented keys: a file with `kafka:` at its top may be anybody's.
_RECEIVER = frozenset(
    listed(
        """
    brokers protocol_version resolve_canonical_bootstrap_servers_only logs metrics traces profiles
    topic encoding group_id client_id rack_id use_leader_epoch initial_offset session_timeout
    heartbeat_interval group_instance_id min_fetch_size default_fetch_size
    max_fetch_size max_fetch_wait max_partition_fetch_size auth tls metadata autocommit
    message_marking header_extraction error_backoff telemetry conn_idle_timeout
    """
    )
)


def _is_receiver(own: Tree) -> bool:
    return own is None or (
        isinstance(own, dict)
        and all(k in _RECEIVER or k.startswith("group_rebalance_") for k in own)
    )


def _otel(tree: Tree, known: Known) -> Iterator[Reading]:
    receivers = table(at(tree, "receivers")) or table(tree)
    if not any(k == "kafka" or k.startswith("kafka/") for k in receivers):
        return
    if "receivers" not in table(tree) and not all(
        "/" in k or (k == "kafka" and _is_receiver(v)) for k, v in receivers.items()
    ):
        return
    for name, own in receivers.items():
        if name == "kafka" or name.startswith("kafka/"):
            signals = _signals(tree, str(name))
            yield _receiver(str(name), table(own), signals, known)


def _signals(tree: Tree, receiver: str) -> list[str]:
    """The signals whose pipelines take from this receiver."""
    pipelines = table(at(tree, "service", "pipelines"))
    return [
        str(k).partition("/")[0]
        for k, v in pipelines.items()
        if receiver in texts(at(v, "receivers"))
    ]


def _receiver(name: str, own: dict[Text, Tree], signals: list[str], known: Known) -> Reading:
    reading = _started(OTEL, own, known)
    reading.name = name
    of = {"logs": "otlp_logs", "metrics": "otlp_metrics", "traces": "otlp_spans"}
    told = [
        t
        for signal in ("logs", "metrics", "traces", "profiles")
        for t in (*texts(at(own, signal, "topics")), *texts(at(own, signal, "topic")))
    ] or texts(at(own, "topic"))
    if told:
        reading.topics = stated([str(t) for t in told], place(told[0]))
    elif signals:
        reading.topics = default([of[s] for s in signals if s in of], "of the signals it serves")
    reading.is_pattern = bool(told) and is_pattern([str(t) for t in told])
    return reading


def _started(program: Program, own: Tree, known: Known) -> Reading:
    """A reading with the keys of a program's Kafka input, and its defaults."""
    reading = Reading(consumes=True, mentions_kafka=True)
    reading.client = inferred(program.client, program.why)
    for key, text in flattened(own).items():
        _take(reading, program, key, text, known)
    if reading.group is None:
        reading.group = default(program.group, program.why) if program.group else None
    if reading.topics is None and program.topics:
        reading.topics = default(list(program.topics), program.why)
    if reading.members is None:
        why = program.members_why
        reading.members = one_member(why) if program.members == 1 else default(program.members, why)
    for name, value in program.settings.items():
        reading.settings.setdefault(name, default(value, program.why))
    return reading


def _take(reading: Reading, program: Program, key: Text, text: Text, known: Known) -> None:
    if is_credential(key) or set(key.split(".")[:-1]) & {
        "auth",
        "tls",
        "schema",
        "logs",
        "metrics",
    }:
        return
    key = Text(key.removeprefix("librdkafka_options."), key.file, key.line)
    last = key.split(".")[-1]
    if program.members_key and last == program.members_key:
        count = whole(resolved(text, known))
        reading.members = stated(count, place(key)) if count else unknown(place(key))
        return
    name = kafka_names.exactly(key) or kafka_names.exactly(last)
    if name is None and squash(last) in ("seedbrokers", "addresses", "hosts"):
        name = "bootstrap.servers"
    if name is None and squash(last) == "consumergroup":
        name = "group.id"
    if name:
        reading.put(name, read_setting(name, text, known, place(key)))
    elif squash(last) in ("topics", "topic", "topicname"):
        _topics(reading, text, known)


def _topics(reading: Reading, text: Text, known: Known) -> None:
    said = resolved(text, known)
    names = split(said) if said is not None else []
    reading.topics = stated(names, place(text)) if names else unknown(place(text))
    reading.is_pattern = is_pattern(names)


def _data_prepper(tree: Tree, known: Known) -> Iterator[Reading]:
    for pipeline, own in table(tree).items():
        source = table(at(own, "source", "kafka"))
        for topic in rows(at(source, "topics")):
            shared = {k: v for k, v in source.items() if not isinstance(v, (dict, list))}
            servers = {k: v for k, v in source.items() if k == "bootstrap_servers"}
            reading = _started(DATA_PREPPER, {**shared, **servers, **topic}, known)
            reading.name = str(pipeline)
            if name := word(topic.get(Text("name"))):
                _topics(reading, name, known)
            yield reading


def _sources_of_vector(tree: Tree, known: Known) -> Iterator[Reading]:
    for name, own in table(at(tree, "sources")).items():
        if at(own, "type") == "kafka":
            reading = _started(VECTOR, own, known)
            reading.name = str(name)
            yield reading


def _benthos(tree: Tree, known: Known) -> Iterator[Reading]:
    inputs = [at(tree, "input"), *rows(at(tree, "input", "broker", "inputs"))]
    for own in inputs:
        for key, program in (
            ("kafka_franz", BENTHOS),
            ("redpanda", BENTHOS),
            ("kafka", BENTHOS_OLD),
        ):
            if isinstance(at(own, key), dict):
                yield _started(program, at(own, key), known)


def _filebeat(tree: Tree, known: Known) -> Iterator[Reading]:
    for own in rows(at(tree, "filebeat.inputs") or at(tree, "filebeat", "inputs")):
        if at(own, "type") == "kafka":
            yield _started(FILEBEAT, own, known)


def _telegraf(tree: Tree, known: Known) -> Iterator[Reading]:
    for own in rows(at(tree, "inputs", "kafka_consumer")):
        named = {Text(_OF_TELEGRAF.get(k, k), k.file, k.line): v for k, v in table(own).items()}
        yield _started(TELEGRAF, named, known)


# What Telegraf calls what Kafka's client has under another name.
_OF_TELEGRAF = {
    "offset": "auto.offset.reset",
}


def _datahub(tree: Tree, known: Known) -> Iterator[Reading]:
    """An action of DataHub: its name is the group."""
    own = at(tree, "source", "config")
    if at(tree, "source", "type") != "kafka" or not isinstance(own, dict):
        return
    reading = _started(DATAHUB, at(own, "connection"), known)
    for key, text in table(at(own, "connection", "consumer_config")).items():
        if isinstance(text, Text):
            reading.put(str(key), read_setting(str(key), text, known, place(key)))
    if bootstrap := word(at(own, "connection", "bootstrap")):
        reading.put("bootstrap.servers", read_setting("bootstrap.servers", bootstrap, known, ""))
    if name := word(at(tree, "name")):
        reading.put("group.id", read_setting("group.id", name, known, ""))
    routes = [t for t in table(at(own, "topic_routes")).values() if isinstance(t, Text)]
    said = [r for t in routes if (r := resolved(t, known))]
    reading.topics = stated([str(s) for s in said], place(routes[0])) if said else unknown()
    yield reading


def read_logstash(keys: Mapping[Text, Text], known: Known) -> list[Reading]:
    """Logstash's kafka input, from its flattened plugin settings."""
    own = {Text(k[12:], k.file, k.line): t for k, t in keys.items() if k.startswith("input.kafka.")}
    return [_started(LOGSTASH, own, known)] if own else []


def _subscriptions(component: Tree, objects: Sequence[Tree]) -> tuple[list[Text], list[Text]]:
    """Topics and applications of the declared subscriptions to this component."""
    name = at(component, "metadata", "name")
    mine = [
        o
        for o in objects
        if at(o, "kind") == "Subscription" and at(o, "spec", "pubsubname") == name
    ]
    topics = [t for o in mine if (t := word(at(o, "spec", "topic"))) is not None]
    scopes = [s for o in mine for s in at(o, "scopes") or [] if isinstance(s, Text)]
    return topics, list(dict.fromkeys(scopes))


def _metadata(component: Tree) -> dict[Text, Tree]:
    """A component's settings, its group under Kafka's own name."""
    own: dict[Text, Tree] = {}
    for row in rows(at(component, "spec", "metadata")):
        key, value = word(row.get(Text("name"))), word(row.get(Text("value")))
        if key is not None and not is_credential(key):
            own[key] = value
    for spelt in ("consumerGroup", "consumerID"):
        if group := own.pop(Text(spelt), None):
            own[Text("group.id", group.file, group.line)] = group
            break
    return own


def read_dapr(component: Tree, known: Known, objects: Sequence[Tree] = ()) -> list[Reading]:
    """A Dapr component over Kafka: a member a subscription, which the application makes."""
    kind = str(at(component, "spec", "type") or "")
    if kind not in ("pubsub.kafka", "bindings.kafka"):
        return []
    own = _metadata(component)
    no_key = own.pop(Text("topics"), None) if kind == "pubsub.kafka" else None
    reading = _started(DAPR, {k: v for k, v in own.items() if v is not None}, known)
    if no_key is not None:  # a binding's key: here the application subscribes
        reading.unknown_keys.append("topics")
    if kind == "pubsub.kafka":
        reading.members = unknown("one per subscription of the application")
        reading.topics = reading.topics or unknown("in the application's subscriptions")
        topics, scopes = _subscriptions(component, objects)
        if topics:
            reading.topics = stated([str(t) for t in topics], place(topics[0]))
            reading.members = stated(len(topics), "one per subscription")
        if len(scopes) == 1 and not (reading.group and reading.group.known):
            reading.put("group.id", inferred(str(scopes[0]), f"{place(scopes[0])}: the app's id"))
    if reading.group is None:
        reading.group = unknown("the application's id, where no consumerGroup is told")
    return [reading]
