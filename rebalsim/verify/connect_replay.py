"""A recording of Connect workers becomes a scenario and a drive: its header, the member ids, and
only those events that may drive a replay.

What may drive: each life's first JoinGroup, close() begun, kill, freeze and thaw, and when each
worker read what from the config topic. All else must be predicted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from rebalsim.connect.config_state import (
    ConnectorPut,
    ConnectorRemoved,
    KeyPut,
    Record,
    TargetPut,
    TasksPut,
)
from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.connect import (
    PAUSED,
    SINK,
    SOURCE,
    STARTED,
    STOPPED,
    ConnectCluster,
    Connector,
    WorkerConfig,
)
from rebalsim.domain.consumer import Consumer
from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import MS
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.machine import FREE, Machine
from rebalsim.domain.pods import Life as ProcessLife
from rebalsim.domain.scenario import (
    Cluster,
    Group,
    Network,
    RateStep,
    Scenario,
    Topic,
)
from rebalsim.domain.worker_costs import DRAWN, RECORDED
from rebalsim.simulation.drive import Drive, Life, Strike
from rebalsim.simulation.engine import SCRIPT
from rebalsim.simulation.workers.processor import Processor

if TYPE_CHECKING:
    from rebalsim.simulation.ports import World

GROUP = "connect-cluster"
LATENCY = constantly(0.5 * MS)
WRITE = constantly(0.5 * MS)
# Of these recordings: a round trip of a round took 12 ms on average (361 SyncGroups, median 6),
# where all processes compute at once; beats came 6.9 ms late (1,802 of workers) and 6.0 (1,202 of
# sinks' tasks), most of them 1 to 2, some hundreds
WORK, BEAT_LATE = constantly(10 * MS), constantly(6.5 * MS)
DRAWN_WORK, DRAWN_LATE = Draw("uniform", 1 * MS, 19 * MS), Draw("uniform", 0, 13 * MS)
FOR_EVER_US = 1 << 50
REQUEST_MS = 25  # from a request over REST to the workers that read of it
LINGERS_US = 5 * MS
# what caused a record comes before it: where the replay is late, it is read late
HELD_US, HELD_AT_MOST_US = 5 * MS, 3_000 * MS
# … a connector's tasks so long after its start (21 to 239 ms were seen, lower quartile of 34)
CAUSED_US = 30 * MS
_STRIKES = {"close_begin": "close", "do_kill": "kill", "do_freeze": "freeze", "do_thaw": "thaw"}
_WORKERS = {
    "session.timeout.ms": "session_timeout_us",
    "heartbeat.interval.ms": "heartbeat_interval_us",
    "rebalance.timeout.ms": "rebalance_timeout_us",
    "scheduled.rebalance.max.delay.ms": "scheduled_rebalance_max_delay_us",
    "task.shutdown.graceful.timeout.ms": "task_shutdown_graceful_timeout_us",
    "worker.sync.timeout.ms": "worker_sync_timeout_us",
    "worker.unsync.backoff.ms": "worker_unsync_backoff_us",
    "offset.flush.interval.ms": "offset_flush_interval_us",
    "request.timeout.ms": "request_timeout_us",
    "retry.backoff.ms": "retry_backoff_us",
    "retry.backoff.max.ms": "retry_backoff_max_us",
}
_CONSUMERS = {
    "session.timeout.ms": "session_timeout_us",
    "heartbeat.interval.ms": "heartbeat_interval_us",
    "max.poll.interval.ms": "max_poll_interval_us",
    "fetch.max.wait.ms": "fetch_max_wait_us",
    "retry.backoff.ms": "retry_backoff_us",
    "metadata.max.age.ms": "metadata_max_age_us",
}


@dataclass(slots=True)
class Reading:
    """A worker has read so many records of the config topic at that instant."""

    at_us: int
    worker: str
    life: int
    count: int
    is_held: bool = False  # what caused it came later in the replay

    @property
    def until_us(self) -> int:
        """It is held back for no longer, should the replay have gone another way."""
        return self.at_us + HELD_AT_MOST_US


@dataclass(slots=True)
class ConnectDrive(Drive):
    """What drives a replay of Connect: what was done to workers, and what was put into the
    config topic.
    """

    records: list[tuple[int, Record]] = field(default_factory=list)  # first read when, what
    readings: list[Reading] = field(default_factory=list)
    restarts: list[tuple[int, str]] = field(default_factory=list)  # connectors, over REST
    specs: dict[tuple[str, int], Consumer] = field(default_factory=dict)  # worker, life → settings
    twins: dict[str, str] = field(default_factory=dict)  # a later process → the worker's name
    # of a worker, in turn: who plays each of its lives, and which of his own that is
    processes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def begin(self, world: World) -> None:
        cluster = world.clusters[GROUP]
        cluster.is_driven = True
        cluster.processor = Processor()
        for at_us, record in self.records:
            world.engine.at(at_us, SCRIPT, _append, (cluster, record))
        for reading in self.readings:
            world.engine.at(reading.at_us, SCRIPT, self._read, (world, reading))
        for at_us, connector in self.restarts:
            world.engine.at(at_us, SCRIPT, _restart, (cluster, connector))
        Drive.begin(self, world)

    def _start(self, begun: tuple[World, Life]) -> None:
        """A recorded process is one of its own: it begins whether or not the worker's last one,
        which was asked to stop, has gone. Then both are members, until that one leaves.
        """
        world, life = begun
        played = self.processes.setdefault(life.spec.name, [])
        player = life.spec.name
        if played and world.consumers[played[-1][0]].is_alive:
            player = f"{life.spec.name}.{len(played) + 1}"
            self.twins[player] = life.spec.name
            life = replace(life, spec=replace(life.spec, name=player))
            world.add(life.spec)
        Drive._start(self, (world, life))
        played.append((player, world.consumers[player].life))

    def _do(self, due: tuple[World, Strike]) -> None:
        """Does this to the process of that worker which began last."""
        world, deed = due
        played = self.processes.get(deed.target)
        Drive._do(self, (world, replace(deed, target=played[-1][0]) if played else deed))

    def next_member_id(self, consumer: str) -> str:
        """By the recording's names: of a twin's, or of one more copy of a task in a process."""
        task, at, worker = consumer.partition("+")[0].rpartition("@")
        return Drive.next_member_id(self, f"{task}{at}{self.twins.get(worker, worker)}")

    def _read(self, due: tuple[World, Reading]) -> None:
        world, reading = due
        played = self.processes.get(reading.worker, [])
        player, life = played[reading.life - 1] if reading.life <= len(played) else ("", 0)
        worker: Any = world.consumers.get(player)
        cluster = world.clusters[GROUP]
        if worker is None:
            return
        if _comes_too_early(cluster, worker, reading) and world.engine.now < reading.until_us:
            world.engine.at(world.engine.now + HELD_US, SCRIPT, self._read, due)
        elif worker.is_alive and worker.life == life:
            worker.at(
                world.engine.now,
                lambda _: cluster.read_up_to(worker, reading.count),
            )


def _comes_too_early(cluster: Any, worker: Any, reading: Reading) -> bool:
    """Would it read of tasks whose connector has not asked for them in the replay? Where that was
    so, they come as long after it has as they do.
    """
    now = worker.now
    asked = [
        cluster.wanted_us.get(record.name, now + 1)
        for record in cluster.unread(worker, reading.count)
        if isinstance(record, TasksPut) and record.count
    ]
    reading.is_held = reading.is_held or any(at > now for at in asked)
    return reading.is_held and any(at + CAUSED_US > now for at in asked)


def _restart(due: tuple[Any, str]) -> None:
    cluster, connector = due
    cluster.restart(connector)


def _append(due: tuple[Any, Record]) -> None:
    cluster, record = due
    cluster.append(record)
    if isinstance(record, ConnectorPut):
        cluster.wanted_us.pop(record.connector.name, None)


def scenario_of(document: dict[str, Any], is_drawn: bool = False) -> tuple[Scenario, ConnectDrive]:
    """What the recording's header says, and what its events may dictate; `is_drawn`: the machine's
    delays are drawn, else they are what they are on average.
    """
    specs = _workers(document)
    rate = document["rate_per_partition"]
    topics = tuple(
        Topic(name, count, (RateStep(0, float(rate * count)),), record_bytes=70)
        for name, count in document["topics"].items()
    )
    delay = document.get("broker", {}).get("group.initial.rebalance.delay.ms", 3000)
    scenario = Scenario(
        title=str(document.get("name", "")),
        topics=topics,
        horizon_us=int(document["end"]) * MS,
        machine=Machine(
            DRAWN_LATE if is_drawn else BEAT_LATE,
            backoff_percent=constantly(100),
            rebalance_work=DRAWN_WORK if is_drawn else WORK,
            costs=FREE,
            workers=DRAWN if is_drawn else RECORDED,
        ),
        cluster=Cluster(
            document.get("kafka", "4.3"),
            config=BrokerConfig(
                group_initial_rebalance_delay_us=int(delay) * MS,
                group_min_session_timeout_us=1000 * MS,
                offsets_topic_num_partitions=1,
            ),
            log_append=WRITE,
            network=Network(LATENCY),
        ),
        groups=(Group(GROUP, tuple(spec for (_, life), spec in specs.items() if life == 1)),),
        connect=(ConnectCluster(GROUP),),
    )
    return scenario, _drive(document, specs)


# ------------------------------------------------------------------------------------------- workers


def _workers(document: dict[str, Any]) -> dict[tuple[str, int], Consumer]:
    """Each life's settings: the header's, and what its start has on top."""
    specs: dict[tuple[str, int], Consumer] = {}
    lives: dict[str, int] = {}
    for step in sorted(document["steps"], key=lambda step: step[0]):
        if step[1] == "start":
            life = lives[step[2]] = lives.get(step[2], 0) + 1
            conf = {**document["conf"], **(step[3] if len(step) > 3 else {})}
            specs[step[2], life] = _worker(step[2], conf)
    return specs


def _worker(name: str, conf: dict[str, Any]) -> Consumer:
    settings: dict[str, Any] = {f: int(conf[k]) * MS for k, f in _WORKERS.items() if k in conf}
    worker = WorkerConfig(
        connect_protocol=str(conf.get("connect.protocol", "sessioned")),
        consumer=_consumer({k[9:]: v for k, v in conf.items() if k.startswith("consumer.")}),
        **settings,
    )
    config = ClientConfig(
        session_timeout_us=worker.session_timeout_us,
        heartbeat_interval_us=worker.heartbeat_interval_us,
        request_timeout_us=worker.request_timeout_us,
        client_id=name,
    )
    return Consumer(
        name,
        GROUP,
        client="connect",
        config=config,
        life=ProcessLife(grace_us=FOR_EVER_US),
        worker=worker,
    )


def _consumer(conf: dict[str, Any], base: ClientConfig | None = None) -> ClientConfig:
    settings: dict[str, Any] = {f: int(conf[k]) * MS for k, f in _CONSUMERS.items() if k in conf}
    if "partition.assignment.strategy" in conf:
        from rebalsim.trace.recording import assignor_names

        settings["partition_assignment_strategy"] = assignor_names(
            conf["partition.assignment.strategy"]
        )
    if "max.poll.records" in conf:
        settings["max_poll_records"] = int(conf["max.poll.records"])
    return replace(base or ClientConfig(auto_offset_reset="earliest"), **settings)


def connector_of(
    name: str, conf: dict[str, Any], revision: int, workers: ClientConfig
) -> Connector:
    """A connector by the config that was put."""

    def ms(key: str) -> float:
        return float(conf.get(key, 0)) * MS

    overrides = {k[18:]: v for k, v in conf.items() if k.startswith("consumer.override.")}
    is_sink = "sink" in str(conf.get("connector.class", "")).lower() or "topics" in conf
    return Connector(
        name,
        SINK if is_sink else SOURCE,
        int(conf.get("tasks.max", 1)),
        tuple(str(conf["topics"]).split(",")) if "topics" in conf else (),
        constantly(ms("start_ms")),
        constantly(ms("stop_ms")),
        constantly(ms("connector_start_ms")),
        constantly(ms("block_ms") or float(conf.get("period_ms", 100)) * MS),
        constantly(float(conf.get("put_us", 0))),
        constantly(ms("open_ms")),
        constantly(ms("close_ms")),
        _consumer(overrides, workers) if overrides else None,
        revision,
    )


# ---------------------------------------------------------------------------------------- the drive


def _drive(document: dict[str, Any], specs: dict[tuple[str, int], Consumer]) -> ConnectDrive:
    drive = ConnectDrive(
        [],
        [
            Strike(event["t"] * MS, _STRIKES[event["ev"]], event["worker"])
            for event in document["events"]
            if event["ev"] in _STRIKES
        ],
        specs=specs,
        arrivals_us=(LINGERS_US, Machine().service_us),
        per_partition=float(document["rate_per_partition"]),
    )
    joined: set[tuple[str, int]] = set()
    given: dict[str, dict[str, None]] = {}
    for event in document["events"]:
        what, name = event["ev"], _name_of(event)
        if what == "sent" and event["api"] == KafkaApi.JOIN and "task" not in event:
            if (name, event["life"]) not in joined:
                joined.add((name, event["life"]))
                drive.lives.append(Life(specs[name, event["life"]], event["t"] * MS))
        elif what == "rejoin" and "given member-id: " in event["reason"]:
            given.setdefault(name, {})[event["reason"].rpartition(": ")[2].strip()] = None
        elif what == "joined":
            given.setdefault(name, {})[event["id"]] = None
    drive.member_ids = {name: list(ids) for name, ids in given.items()}
    drive.restarts = [
        ((e["t"] + REQUEST_MS) * MS, e["connector"])
        for e in document["events"]
        if e["ev"] == "do_restart"
    ]
    _read_config(document, specs, drive)
    return drive


def _name_of(event: dict[str, Any]) -> str:
    """The replay's name of who did this: a worker, or a sink task's consumer in it."""
    return f"{event['task']}@{event['worker']}" if "task" in event else str(event["worker"])


# ---------------------------------------------------------------------------------- the config topic


def _read_config(
    document: dict[str, Any], specs: dict[tuple[str, int], Consumer], drive: ConnectDrive
) -> None:
    """Records in the order in which they were first read by anybody, and each worker's readings."""
    told: list[tuple[int, frozenset[str]]] = []  # when each record was first read, and as what
    at_place: dict[tuple[str, int], int] = {}  # worker and life → how many it has read
    for event in document["events"]:
        if event["ev"] != "config":
            continue
        key, at = (event["worker"], event["life"]), event["t"]
        what = frozenset(re.findall(r"[^\s\[\],]+", event["what"]))
        if key not in at_place:
            begins = min(
                (x.joins_us for x in drive.lives if _is_of(x, key, specs)), default=at * MS
            )
            at_place[key] = sum(first * MS < begins for first, _ in told)
        place = next((i for i in range(at_place[key], len(told)) if told[i][1] == what), len(told))
        if place == len(told):
            told.append((at, what))
            drive.records.append((at * MS, _record(document, event, specs)))
        at_place[key] = place + 1
        drive.readings.append(Reading(at * MS, *key, place + 1))


def _is_of(life: Life, key: tuple[str, int], specs: dict[tuple[str, int], Consumer]) -> bool:
    return specs.get(key) is life.spec


def _connector_of(tasks: list[str], document: dict[str, Any], event: dict[str, Any]) -> str:
    """Whose tasks these are; an empty set is of the connector that was stopped last."""
    if tasks:
        return tasks[0].rpartition("-")[0]
    stopped = [
        e["connector"] for e in document["events"] if e["ev"] == "do_halt" and e["t"] <= event["t"]
    ]
    return str(stopped[-1]) if stopped else ""


def _record(
    document: dict[str, Any], event: dict[str, Any], specs: dict[tuple[str, int], Consumer]
) -> Record:
    """The record that was read, with its content from what was put last before."""
    words = event["what"].split()
    if words[0] == "Tasks":
        tasks = re.findall(r"[^\s\[\],]+", event["what"][6 : event["what"].index("]") + 1])
        return TasksPut(_connector_of(tasks, document, event), len(tasks))
    if words[0] != "Connector":
        return KeyPut()
    name = words[1]
    if words[-1] == "removed":
        return ConnectorRemoved(name)
    done = [
        e
        for e in document["events"]
        if e["t"] <= event["t"] and e.get("connector") == name and e["ev"].startswith("do_")
    ]
    if "target" in words:
        how = [e["ev"] for e in done if e["ev"] in ("do_pause", "do_resume", "do_halt")]
        states = {"do_pause": PAUSED, "do_resume": STARTED, "do_halt": STOPPED}
        return TargetPut(name, states[how[-1]] if how else STARTED)
    puts = [e["config"] for e in done if e["ev"] == "do_put"]
    worker = next(iter(specs.values())).worker
    assert worker is not None
    return ConnectorPut(connector_of(name, puts[-1], len(puts), worker.consumer))
