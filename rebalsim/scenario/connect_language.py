"""What a scenario may say of Kafka Connect: a cluster of workers, their settings by Kafka's names,
connectors, and what a script does to them.

The table's blocks of consumers are handed in, for a worker has a life like theirs and a sink's
tasks have a consumer's settings.
"""

from __future__ import annotations

from rebalsim.scenario.common_language import word_of
from rebalsim.scenario.kinds import (
    Choice,
    DrawOf,
    Duration,
    Field,
    Kind,
    ListOf,
    MapOf,
    Nullable,
    Section,
    Text,
    Whole,
)

MAX_TASKS = 20_000
_MS = Duration(kafka=True, most=2_147_483_647_000)
_MS_POSITIVE = Duration(kafka=True, least=1_000, most=2_147_483_647_000)
_DRAW = DrawOf()
_NAME = Text("a name of letters, digits, '.', '_' and '-'", r"[a-zA-Z0-9_][a-zA-Z0-9._\-]{0,119}")
_TASK = Text("a task such as orders-3", r"[a-zA-Z0-9_][a-zA-Z0-9._\-]{0,119}-[0-9]{1,6}")
_NO_BEARING = "has no bearing on rebalances here"
_WITHOUT_BEARING = (
    "group.id",
    "bootstrap.servers",
    "key.converter",
    "value.converter",
    "header.converter",
    "plugin.path",
    "plugin.discovery",
    "listeners",
    "rest.advertised.host.name",
    "rest.advertised.port",
    "rest.advertised.listener",
    "rest.extension.classes",
    "admin.listeners",
    "client.id",
    "client.dns.lookup",
    "config.storage.topic",
    "config.storage.replication.factor",
    "offset.storage.topic",
    "offset.storage.partitions",
    "offset.storage.replication.factor",
    "status.storage.topic",
    "status.storage.partitions",
    "status.storage.replication.factor",
    "offset.flush.timeout.ms",
    "inter.worker.key.ttl.ms",
    "inter.worker.key.size",
    "inter.worker.key.generation.algorithm",
    "inter.worker.signature.algorithm",
    "inter.worker.verification.algorithms",
    "connector.client.config.override.policy",
    "topic.creation.enable",
    "topic.tracking.enable",
    "topic.tracking.allow.reset",
    "metadata.max.age.ms",
    "reconnect.backoff.max.ms",
    "security.protocol",
    "metrics.recording.level",
    "metric.reporters",
)


def _setting(key: str, kind: Kind, doc: str) -> Field:
    target = key.replace(".", "_")
    target = target.removesuffix("_ms") + "_us" if target.endswith("_ms") else target
    return Field(key, kind, doc, target=target, kafka=True)


STANDALONE = (
    "is of a standalone worker: one process and no group, so that nothing rebalances, and all its "
    "tasks stand still while it is down — leave it out"
)
WORKER_CONFIG = Section(
    "worker config",
    (
        _setting(
            "connect.protocol",
            Choice("eager", "compatible", "sessioned"),
            "How workers rebalance: eager stops everything at every round.",
        ),
        _setting(
            "scheduled.rebalance.max.delay.ms",
            _MS,
            "How long the work of a worker that is gone waits for it to come back.",
        ),
        _setting("session.timeout.ms", _MS_POSITIVE, "A silent worker is out after this."),
        _setting("heartbeat.interval.ms", _MS_POSITIVE, "How often workers beat."),
        _setting(
            "rebalance.timeout.ms",
            _MS_POSITIVE,
            "The wait at the barrier, and how long a worker's thread may stay away.",
        ),
        _setting(
            "task.shutdown.graceful.timeout.ms",
            _MS,
            "How long a task that shall stop is waited for.",
        ),
        _setting(
            "worker.sync.timeout.ms", _MS, "How long a worker may take to read the config topic."
        ),
        _setting(
            "worker.unsync.backoff.ms", _MS, "… and how long it backs off after that (eager)."
        ),
        _setting("offset.flush.interval.ms", _MS_POSITIVE, "How often tasks commit."),
        _setting(
            "exactly.once.source.support",
            Choice("disabled", "preparing", "enabled"),
            "enabled: sources' tasks produce in transactions, and former copies are shut out.",
        ),
        _setting("request.timeout.ms", _MS_POSITIVE, "How long an answer is waited for."),
        _setting("retry.backoff.ms", _MS, "The first wait before a retry."),
        _setting("retry.backoff.max.ms", _MS, "The longest wait before a retry."),
        _setting("reconnect.backoff.ms", _MS, "The wait before a broker is connected to again."),
    ),
    "Workers' settings, by Kafka's own names; consumer: holds those of sink tasks' consumers.",
    title="workers' config",
    can_unset=True,
    ignored=dict.fromkeys(_WITHOUT_BEARING, _NO_BEARING),
    refused={
        "offset.storage.file.filename": STANDALONE,
        "group.instance.id": "does not exist for workers, which are always dynamic members — "
        "leave it out",
    },
    elsewhere=lambda key: (
        "settings of sink tasks' consumers stand beside config, under consumer: and without the "
        "prefix"
        if key.startswith("consumer.")
        else "it is a setting of connectors; put it below connectors: NAME:"
        if key == "tasks.max"
        else ""
    ),
)


_CONNECTOR_FIELDS = (
    Field(
        "tasks.max", Whole(1, MAX_TASKS), "How many tasks it makes.", target="tasks_max", kafka=True
    ),
    Field(
        "start",
        _DRAW,
        "What a task's start() takes.",
        target="start",
    ),
    Field(
        "stop",
        _DRAW,
        "What a task's stop() takes; longer than task.shutdown.graceful.timeout.ms, and it is "
        "given up and runs on.",
        target="stop",
    ),
    Field(
        "connector_start",
        _DRAW,
        "What the connector's own start() takes.",
        target="connector_start",
    ),
    Field("poll", _DRAW, "A source: how long poll() takes, which a stop waits for.", target="poll"),
    Field("per_record", _DRAW, "A sink: put(), for each record.", target="per_record"),
    Field("open", _DRAW, "A sink: what open() takes, when it is given partitions.", target="open"),
    Field("close", _DRAW, "A sink: what close() takes, when they are taken.", target="close"),
)
# Kafka's own keys of workers, and the one of connectors, last
WORKER_KEYS = (*WORKER_CONFIG.fields.values(), _CONNECTOR_FIELDS[0])


def connector_section(config: Section, topic: Kind) -> Section:
    return Section(
        "connector",
        (
            *_CONNECTOR_FIELDS,
            Field(
                "kind",
                Choice("source", "sink"),
                "Whether it brings records or takes them.",
                default="sink where it has topics, else source",
            ),
            Field(
                "topics",
                ListOf(topic, is_lenient=True, least=1),
                "A sink: the topics it reads.",
            ),
            Field(
                "consumer",
                config,
                "A sink: what its tasks' consumers have otherwise (consumer.override.*).",
            ),
            Field(
                "exists",
                Choice("from-start", "later"),
                "later: only when create_connector creates it.",
                default="from-start",
            ),
        ),
        "A connector and its tasks.",
        shorthand=word_of("tasks.max"),
        allows_nothing=True,
    )


def worker_fields(life: Section) -> tuple[Field, ...]:
    return (
        Field("config", WORKER_CONFIG, "Workers' settings, by Kafka's own names."),
        Field("life", life, "How the process starts and stops."),
        Field("rack", _NAME, "Where it runs."),
        Field(
            "starts_at",
            Nullable("never", _DRAW),
            "When the process is started; never: only by an action.",
            default="0s",
        ),
    )


def connect_section(config: Section, life: Section, connector: Section, workers: Kind) -> Section:
    return Section(
        "connect",
        (
            Field(
                "workers",
                workers,
                "How many, their names, or each with settings of its own.",
                is_required=True,
                example="workers: 3",
            ),
            Field("name", _NAME, "The workers' group (group.id).", default="connect"),
            *worker_fields(life),
            Field("consumer", config, "What sink tasks' consumers have (consumer.*)."),
            Field(
                "stagger",
                Duration(),
                "Start the workers so far apart instead of all at once.",
                default="0s",
            ),
            Field(
                "connectors",
                MapOf(connector, _NAME, "connectors", most=2_000),
                "The connectors, by name.",
            ),
        ),
        "A Kafka Connect cluster: its workers and connectors.",
        can_unset=("config", "life", "rack", "consumer"),
        elsewhere=lambda key: (
            "it is a setting of the workers; put it below, under config:"
            if key in WORKER_CONFIG.by_key
            else f"it {STANDALONE}"
            if key in ("mode", "standalone")
            else ""
        ),
    )


_WHICH = Field("connector", _NAME, "Which connector.", is_required=True)


def _deed(name: str, doc: str, *more: Field) -> Section:
    return Section(name, (_WHICH, *more), doc, shorthand=word_of("connector"))


CONNECT_DEEDS: dict[str, Section] = {
    "create_connector": _deed(
        "create_connector", "A connector under connect: with exists: later is created."
    ),
    "delete_connector": _deed("delete_connector", "A connector is deleted."),
    "reconfigure_connector": _deed(
        "reconfigure_connector",
        "A connector's config changes, and so do its tasks'.",
        *_CONNECTOR_FIELDS,
        Field(
            "tasks",
            Choice("change", "stay"),
            "stay: its tasks' configs come out as before, and run on.",
            default="change",
        ),
    ),
    "restart_connector": _deed(
        "restart_connector", "A connector and its tasks are restarted, each by its worker."
    ),
    "pause_connector": _deed("pause_connector", "A connector's tasks are paused."),
    "resume_connector": _deed("resume_connector", "… and go on."),
    "stop_connector": _deed("stop_connector", "A connector is stopped: its tasks are taken away."),
    "fail_task": Section(
        "fail_task",
        (Field("task", _TASK, "Which task, such as orders-3.", is_required=True),),
        "A task's thread dies of an exception: nobody starts it again of himself.",
        shorthand=word_of("task"),
    ),
}
