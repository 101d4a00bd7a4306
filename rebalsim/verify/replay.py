"""A recording becomes a scenario and a drive: its header, the member ids, and only those events
that may drive a replay.

What may drive: each life's first JoinGroup, close() begun, kill, freeze and thaw, handlers that
hang, partitions added. All else must be predicted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import sqrt
from typing import Any

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.commit_style import AfterError, CommitStyle
from rebalsim.domain.consumer import Consumer, Cost, Handler, Listener
from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import MS
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.machine import FREE, Machine
from rebalsim.domain.scenario import Cluster, Group, Network, RateStep, Scenario, Topic
from rebalsim.scenario.profiles import DEFAULT_KAFKA, broker_habits, java_habits
from rebalsim.simulation.drive import Drive, Life, Strike
from rebalsim.trace.recording import assignor_names

GROUP = "recorded"
# On loopback a beat is answered after about 1 ms, a commit hardly later: a write is appended in
# less than 1 ms.
LATENCY = constantly(0.5 * MS)
JITTERED = Draw("uniform", 0.2 * MS, 0.8 * MS)
WRITE = constantly(0.5 * MS)
# The round trips of a rebalance, in which all processes compute at once, take 1–10 ms: so much more
# than a beat's.
WORK = constantly(4 * MS)
JITTERED_WORK = Draw("uniform", 0, 8 * MS)
# Under the consumer protocol everything is a heartbeat, and each is written.
ASYNC_LATENCY = constantly(0.5 * MS)
ASYNC_WRITE = constantly(1 * MS)
ASYNC_JITTERED = Draw("uniform", 0.25 * MS, 1.1 * MS)
# a producer lingers for 2 ms, and its batches arrive one by one
LINGERS_US, APART_US = 5 * MS, MS // 10
_STRIKES = {"close_begin": "close", "do_kill": "kill", "do_freeze": "freeze", "do_thaw": "thaw"}
_DURATIONS = {
    "session.timeout.ms": "session_timeout_us",
    "heartbeat.interval.ms": "heartbeat_interval_us",
    "max.poll.interval.ms": "max_poll_interval_us",
    "auto.commit.interval.ms": "auto_commit_interval_us",
    "fetch.max.wait.ms": "fetch_max_wait_us",
    "retry.backoff.ms": "retry_backoff_us",
    "retry.backoff.max.ms": "retry_backoff_max_us",
    "request.timeout.ms": "request_timeout_us",
    "metadata.max.age.ms": "metadata_max_age_us",
    "default.api.timeout.ms": "default_api_timeout_us",
    "reconnect.backoff.ms": "reconnect_backoff_us",
}
_BROKER = {
    "group.consumer.heartbeat.interval.ms": "group_consumer_heartbeat_interval_us",
    "group.consumer.session.timeout.ms": "group_consumer_session_timeout_us",
    "group.consumer.assignment.interval.ms": "group_consumer_assignment_interval_us",
}
_NUMBERS = {
    "max.poll.records": "max_poll_records",
    "fetch.min.bytes": "fetch_min_bytes",
    "fetch.max.bytes": "fetch_max_bytes",
    "max.partition.fetch.bytes": "max_partition_fetch_bytes",
}


def scenario_of(document: dict[str, Any], *, is_jittered: bool = False) -> tuple[Scenario, Drive]:
    """The scenario by the recording's header, with what its events may dictate."""
    specs, names = _specs(document)
    is_async = document["conf"].get("group.protocol") == "consumer"
    constant, jittered = (ASYNC_LATENCY, ASYNC_JITTERED) if is_async else (LATENCY, JITTERED)
    # what a round trip of so few members' requests takes was measured whole
    machine = replace(_machine(is_jittered), costs=FREE)
    if not is_async:
        machine = replace(machine, rebalance_work=JITTERED_WORK if is_jittered else WORK)
    scenario = Scenario(
        title=document.get("name", ""),
        topics=_topics(document),
        horizon_us=int(document["end"]) * MS,
        machine=machine,
        cluster=Cluster(
            document.get("kafka", DEFAULT_KAFKA),
            config=_brokers(document.get("broker", {})),
            habits=broker_habits(document.get("kafka", DEFAULT_KAFKA)),
            log_append=ASYNC_WRITE if is_async else WRITE,
            network=Network(jittered if is_jittered else constant),
        ),
        groups=(Group(GROUP, tuple([specs[name, 1] for name in names])),),
    )
    return scenario, _async_drive(document, specs) if is_async else _drive(document, specs)


def _specs(document: dict[str, Any]) -> tuple[dict[tuple[str, int], Consumer], list[str]]:
    """Each member's settings in each of its lives, and the members in order."""
    specs: dict[tuple[str, int], Consumer] = {}
    lives: dict[str, int] = {}
    for step in sorted(document["steps"], key=lambda step: step[0]):
        if step[1] == "start":
            life = lives[step[2]] = lives.get(step[2], 0) + 1
            specs[step[2], life] = _consumer(document, step[2], step[3] if len(step) > 3 else {})
    return specs, list(lives)


def _topics(document: dict[str, Any]) -> tuple[Topic, ...]:
    rate, ids = document["rate_per_partition"], document.get("topic_ids", {})
    listed = [
        Topic(
            name,
            count,
            (RateStep(0, float(rate * count)),),
            record_bytes=70,
            topic_id=ids.get(name, ""),
        )
        for name, count in document["topics"].items()
    ]
    return tuple(listed)


def _brokers(told: Mapping[str, Any]) -> BrokerConfig:
    held: dict[str, Any] = {
        field: int(told[key]) * MS for key, field in _BROKER.items() if key in told
    }
    config = BrokerConfig(
        group_initial_rebalance_delay_us=int(told.get("group.initial.rebalance.delay.ms", 3000))
        * MS,
        group_min_session_timeout_us=int(told.get("group.min.session.timeout.ms", 1000)) * MS,
        offsets_topic_num_partitions=1,
    )
    return replace(config, **held)


def _machine(is_jittered: bool) -> Machine:
    """Without jitter a race goes the way it mostly goes (with odds near to even, as those of
    fetches_ahead are, the way that lies between the others); with it, beats are late about as
    much on average.
    """
    late = Machine().beat_late
    middle = sqrt(late.a * late.b)
    if is_jittered:
        return Machine(Draw("uniform", late.a, 2 * middle - late.a))
    return Machine(
        constantly(middle),
        backoff_percent=constantly(100),
        spends_wake_up=1.0,
        looks_too_early=1.0,
        looks_too_early_warm=0.0,
        looks_too_early_committed=0.0,
        looks_too_early_validating=0.0,
        looks_too_early_called=0.0,
        looks_at_once=0.0,
        wakes_again=0.0,
        fetches_ahead=1.0,
        knows_leader=1.0,
    )


def _consumer(document: dict[str, Any], name: str, more: dict[str, Any]) -> Consumer:
    conf = {**document["conf"], **document.get("members", {}).get(name, {}), **more}
    settings: dict[str, Any] = {"auto_offset_reset": "earliest", "client_id": name}
    for key, field in _DURATIONS.items():
        if key in conf:
            settings[field] = int(conf[key]) * MS
    for key, field in _NUMBERS.items():
        if key in conf:
            settings[field] = int(conf[key])
    if "partition.assignment.strategy" in conf:
        settings["partition_assignment_strategy"] = assignor_names(
            conf["partition.assignment.strategy"]
        )
    settings["group_instance_id"] = conf.get("group.instance.id")
    settings["group_protocol"] = conf.get("group.protocol", "classic")
    settings["group_remote_assignor"] = conf.get("group.remote.assignor")
    is_auto = str(conf.get("enable.auto.commit", "true")) != "false"
    settings["enable_auto_commit"] = is_auto
    handler = Handler(
        per_record=constantly(float(conf.get("x.record_us", 0))),
        poll_timeout_us=int(conf.get("x.poll_ms", 200)) * MS,
        commit=CommitStyle.AUTO if is_auto else CommitStyle.EACH_BATCH,
        on_error=AfterError.CLOSE,
        catches_commits=True,
    )
    listener = Listener(
        Cost(
            constantly(float(conf.get("x.revoke_ms", 0)) * MS),
            constantly(float(conf.get("x.revoke_each_ms", 0)) * MS),
        ),
        Cost(
            constantly(float(conf.get("x.assign_ms", 0)) * MS),
            constantly(float(conf.get("x.assign_each_ms", 0)) * MS),
        ),
    )
    version = document.get("client", DEFAULT_KAFKA).removeprefix("java ")
    topics = tuple(conf["topics"].split(",")) if "topics" in conf else tuple(document["topics"])
    return Consumer(
        name,
        GROUP,
        config=ClientConfig(**settings),
        topics=topics,
        handler=handler,
        listener=listener,
        client_version=version,
        habits=java_habits(version),
    )


def _done_to(document: dict[str, Any]) -> list[Strike]:
    """What happened to processes and topics."""
    deeds: list[Strike] = []
    for event in document["events"]:
        what, name, at = event["ev"], event["member"], event["t"] * MS
        if what in _STRIKES:
            deeds.append(Strike(at, _STRIKES[what], name))
        elif what == "hang_begin":
            deeds.append(Strike(at, "hang", name, int(event["ms"]) * MS))
        elif what == "partitions_done":
            deeds.append(Strike(at, "grow", name, int(event["ms"])))
    return deeds


def _async_drive(document: dict[str, Any], specs: dict[tuple[str, int], Consumer]) -> Drive:
    """Under the consumer protocol: first polls, first and second heartbeats, and in which order
    the coordinator took members in.
    """
    lives: dict[tuple[str, int], Life] = {}
    polls: dict[tuple[str, int], int] = {}
    ids: dict[tuple[str, int], str] = {}
    for number, event in enumerate(document["events"]):
        what, key, at = event["ev"], (event["member"], event.get("life", 0)), event["t"] * MS
        if what == "first_poll":
            polls.setdefault(key, at)
        elif what == "sent" and event["api"] == KafkaApi.CONSUMER_HEARTBEAT:
            life = lives.get(key)
            if life is None:
                lives[key] = Life(specs[key], at, min(polls.get(key, at), at))
            elif not life.acks_us:
                life.acks_us = at
        elif what == "arrived" and key in lives and not lives[key].arrives_us:
            # those of one ms in the order told
            lives[key].arrives_us = max(at, lives[key].joins_us) + number % MS
        if what in ("arrived", "state"):
            ids.setdefault(key, event["id"])
    drive = Drive(
        sorted(lives.values(), key=lambda life: life.begins_us),
        _done_to(document),
        per_partition=float(document["rate_per_partition"]),
        lingers_us=LINGERS_US,
        apart_us=APART_US,
    )
    for (name, _), member_id in sorted(ids.items(), key=lambda entry: entry[0][1]):
        drive.member_ids.setdefault(name, []).append(member_id)
    return drive


def _drive(document: dict[str, Any], specs: dict[tuple[str, int], Consumer]) -> Drive:
    # The recorder's producer waits 2 ms for company (linger.ms) and sends one partition after
    # another.
    arrivals = LINGERS_US, Machine().service_us
    drive = Drive(
        [],
        _done_to(document),
        arrivals_us=arrivals,
        per_partition=float(document["rate_per_partition"]),
    )
    joined: set[tuple[str, int]] = set()
    given: dict[str, dict[str, None]] = {}
    for event in document["events"]:
        what, name, at = event["ev"], event["member"], event["t"] * MS
        if what == "sent" and event["api"] == KafkaApi.JOIN and (name, event["life"]) not in joined:
            joined.add((name, event["life"]))
            drive.lives.append(Life(specs[name, event["life"]], at))
        elif what == "rejoin" and "given member-id: " in event["reason"]:
            given.setdefault(name, {})[event["reason"].rpartition(": ")[2].strip()] = None
        elif what == "joined":
            given.setdefault(name, {})[event["id"]] = None
    drive.member_ids = {name: list(ids) for name, ids in given.items()}
    return drive
