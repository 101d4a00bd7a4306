"""A recording of a Kafka Streams application as something to play: the application from its header,
and the moments and ids that nobody can know beforehand.

Driven are each life's start and first request, close, kill, freeze and thaw; given are process
ids and member ids, where each thread's poll loop stood, and when stores were open. All else has to
be predicted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from rebalsim.assignors.streams.settings import TaskAssignorSettings
from rebalsim.assignors.streams.tasks import TaskId
from rebalsim.assignors.streams.versions import version_of
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.domain.task_ids import task_named
from rebalsim.simulation.streams.application import (
    Application,
    GroupSettings,
    Part,
    Store,
    ThreadSettings,
    Timing,
)
from rebalsim.simulation.streams.known_loop import Recorded
from rebalsim.simulation.streams.play import Act, Known

MS = 1_000
RECORD_BYTES = 55  # what the recorded applications write
RECORD_US = 8  # a changelog record beside what the listener sleeps
TAG = "client.tag."
LONGEST_POLL_US = 250 * MS  # what passed later was waited for by the loop
Document = dict[str, Any]
Event = dict[str, Any]

_DEEDS = {
    "close_begin": "stop",
    "do_kill": "kill",
    "do_freeze": "freeze",
    "do_thaw": "thaw",
}
_REQUESTS = (KafkaApi.JOIN, KafkaApi.STREAMS_HEARTBEAT)


def application_of(document: Document) -> Application:
    """What was recorded, from the header alone."""
    conf, broker = document["conf"], document["broker"]
    parts = []
    preload = int(document.get("preload", 0))
    for entry in str(conf["x.topology"]).split(","):
        kind, _, topic = entry.partition(":")
        store = Store(preload, RECORD_BYTES, 1.0, kind == "stateful-mem")
        parts.append(Part((topic,), {"s": store} if kind.startswith("stateful") else {}))
    rate = float(document["rate_per_partition"])
    return Application(
        str(document.get("group", document["name"])),
        {name: int(count) for name, count in document["topics"].items()},
        dict.fromkeys(document["topics"], rate),
        tuple(parts),
        "streams-sticky" if "Sticky" in str(conf.get("task.assignor.class")) else "streams-ha",
        TaskAssignorSettings(
            int(conf.get("num.standby.replicas", 0)),
            int(conf.get("acceptable.recovery.lag", 10_000)),
            int(conf.get("max.warmup.replicas", 2)),
            int(conf.get("probing.rebalance.interval.ms", 600_000)),
            tags=tuple(_listed(conf.get("rack.aware.assignment.tags", ""))),
        ),
        GroupSettings(
            int(broker.get("group.initial.rebalance.delay.ms", 3000)) * MS,
            int(broker.get("group.streams.session.timeout.ms", 45_000)) * MS,
            int(broker.get("group.streams.heartbeat.interval.ms", 5000)) * MS,
            int(conf.get("x.group_standbys", broker.get("group.streams.num.standby.replicas", 0))),
            int(broker.get("group.streams.initial.rebalance.delay.ms", 3000)) * MS,
            int(
                conf.get(
                    "x.group_interval", broker.get("group.streams.assignment.interval.ms", 1000)
                )
            )
            * MS,
        ),
    )


def settings_of(conf: dict[str, Any]) -> ThreadSettings:
    """A life's settings."""
    exactly_once = conf.get("processing.guarantee") == "exactly_once_v2"
    restore = float(conf.get("x.restore_us", 0))
    known = ThreadSettings()
    return replace(
        known,
        threads=int(conf.get("num.stream.threads", 1)),
        group_protocol=str(conf.get("group.protocol", "classic")),
        session_us=int(conf.get("session.timeout.ms", 45_000)) * MS,
        heartbeat_us=int(conf.get("heartbeat.interval.ms", 3000)) * MS,
        max_poll_us=int(conf.get("max.poll.interval.ms", 300_000)) * MS,
        poll_us=int(conf.get("poll.ms", 100)) * MS,
        commit_us=int(conf.get("commit.interval.ms", 100 if exactly_once else 30_000)) * MS,
        restore_us=restore + RECORD_US,
        standby_us=float(conf.get("x.standby_us", restore)) + RECORD_US,
        handler_us=float(conf.get("x.record_us", 0)),
        exactly_once=exactly_once,
        transaction_timeout_us=int(_of_producer(conf, "transaction.timeout.ms", 10_000)) * MS,
        instance_id=conf.get("group.instance.id"),
        rack=conf.get("client.rack"),
        tags={key.removeprefix(TAG): str(conf[key]) for key in sorted(conf) if key.startswith(TAG)},
        leave_on_close=conf.get("x.close") == "leave",
        keeps_disk="x.wipe" not in conf,
        eager=is_old(conf) or str(conf.get("upgrade.from", "")).startswith("2."),
        restores_inside=is_old(conf),
        metadata_version=version_of(_kafka(conf)),
    )


def _of_producer(conf: dict[str, Any], key: str, usual: int) -> Any:
    """Kafka Streams takes it with its prefix, too."""
    return conf.get(f"producer.{key}", conf.get(key, usual))


def _listed(text: Any) -> list[str]:
    """A list of Kafka's: names between commas."""
    return [name.strip() for name in str(text).split(",") if name.strip()]


def _kafka(conf: dict[str, Any]) -> tuple[int, int]:
    major, minor, *_ = f"{conf.get('x.version', '4.3')}.0".split(".")
    return int(major), int(minor)


def is_old(conf: dict[str, Any]) -> bool:
    """A client of 2.3 and before: eager, and restoring in the stream thread."""
    return str(conf.get("x.version", "4")).startswith("2.")


def acts_of(document: Document) -> list[Act]:
    """What was done to whom, when."""
    acts: list[Act] = []
    settings = dict(_lives(document))
    first = _first_requests(document["events"])
    hung: dict[str, int] = {}
    for event in document["events"]:
        what, member, at_us = event["ev"], event["member"], int(event["t"] * MS)
        if what == "start":
            life = (member, event.get("life", 1))
            requests = first.get(life, {})
            acts.append(Act(at_us, "start", member, settings.get(life), requests))
        elif what in _DEEDS:
            acts.append(Act(at_us, _DEEDS[what], member))  # type: ignore[arg-type]
        elif what == "hang_begin":
            hung[member] = at_us
            acts.append(Act(at_us, "hang", member, length_us=int(event["ms"]) * MS))
    return acts


def _lives(document: Document) -> Iterator[tuple[tuple[str, int], ThreadSettings]]:
    """Each life's settings: of all, of the instance, of that start."""
    count: dict[str, int] = {}
    for step in document["steps"]:
        _, action, member, *extra = step
        if action == "start":
            count[member] = count.get(member, 0) + 1
            own = document.get("members", {}).get(member, {})
            conf = {**document["conf"], **own, **(extra[0] if extra else {})}
            yield (member, count[member]), settings_of(conf)


def _first_requests(events: list[Event]) -> dict[tuple[str, int], dict[int, int]]:
    """When each thread of a life sent its first request to join; from the client's log where the
    wire was not recorded.
    """
    found: dict[tuple[str, int], dict[int, int]] = {}
    logged: dict[tuple[str, int], dict[int, int]] = {}
    for event in events:
        life = (event["member"], event.get("life", 1))
        thread = int(event.get("thread", 1))
        at_us = int(event["t"] * MS)
        if event["ev"] == "sent" and event.get("api") in _REQUESTS:
            found.setdefault(life, {}).setdefault(thread, at_us)
        elif event["ev"] == "join_sent":
            logged.setdefault(life, {}).setdefault(thread, at_us)
    return {life: {**logged.get(life, {}), **found.get(life, {})} for life in {**logged, **found}}


def known_of(document: Document, attempt: int = 0) -> Known:
    """Process ids and member ids. Clients of 2.3 tell no process id: each `attempt` has others."""
    processes = _process_ids(document["events"], attempt)
    members: dict[str, list[str]] = {}
    static = {
        member: own["group.instance.id"]
        for member, own in document.get("members", {}).items()
        if "group.instance.id" in own
    }
    ids = _member_ids(document["events"])
    for (member, life, thread), told in sorted(ids.items()):
        client = f"{member}-StreamThread-{thread}-consumer"
        made_up = f"{client}-{uuid5(NAMESPACE_OID, f'{client} {life} {attempt}')}"
        if member in static:
            client = f"{static[member]}-{thread}"
        members.setdefault(client, []).extend(told or [made_up])
    return Known(processes, members, loops_of(document["events"]))


def tells_process_ids(document: Document) -> bool:
    """Every life's, so that its place among the others is no guess."""
    told = [event["ev"] for event in document["events"]]
    return told.count("start") == told.count("process_id")


def _process_ids(events: list[Event], attempt: int) -> dict[str, list[str]]:
    """Of each life in order, as told, or made up."""
    told: dict[str, str] = {}
    found: dict[str, list[str]] = {}
    for event in events:
        member = event["member"]
        if event["ev"] == "process_id":
            told[member] = str(event["id"])
        elif event["ev"] == "start":
            lives = found.setdefault(member, [])
            made_up = uuid5(NAMESPACE_OID, f"{member} {len(lives)} {attempt}")
            lives.append(told.pop(member, str(made_up)))
    return found


def _member_ids(events: list[Event]) -> dict[tuple[str, int, int], list[str]]:
    """By life and thread, in order; none where a client's log tells none."""
    found: dict[tuple[str, int, int], list[str]] = {}
    known: set[str] = set()
    for event in events:
        if event["ev"] not in ("join_sent", "rejoin", "joined", "state"):
            continue
        key = (event["member"], int(event.get("life", 1)), int(event.get("thread", 1)))
        ids = found.setdefault(key, [])
        member_id = _member_id(event)
        if member_id is not None and member_id not in known:
            known.add(member_id)
            ids.append(member_id)
    return found


def loops_of(events: list[Event]) -> dict[tuple[str, int, int], Recorded]:
    """Where each thread's loop stood, which is chance: from each assignment to the end of the poll
    that brought it, and to each opened task.
    """
    loops: dict[tuple[str, int, int], _Loop] = {}
    for event in events:
        if event["ev"] not in ("thread_state", "task", "assigned_tasks", "updater"):
            continue
        key = (event["member"], int(event.get("life", 1)), int(event.get("thread", 1)))
        loops.setdefault(key, _Loop()).see(event)
    return {key: Recorded(loop.polls, loop.openings, loop.takeovers) for key, loop in loops.items()}


class _Loop:
    """One life of a thread, event by event."""

    def __init__(self) -> None:
        self.polls: list[int | None] = []
        self.openings: dict[TaskId, list[int]] = {}
        self.takeovers: list[int | None] = []
        self._assigned_us = 0
        self._told_us: int | None = None

    def see(self, event: Event) -> None:
        at_us = int(event["t"] * MS)
        after, what = event.get("after"), str(event.get("what", ""))
        if event["ev"] == "assigned_tasks":
            self._told_us = at_us
            self.takeovers.append(None)
        elif event["ev"] == "updater" and "removed" in str(event.get("how")):
            self._told_us = None  # the thread waited for its state updater as well
        elif after in ("PARTITIONS_ASSIGNED", "PARTITIONS_REVOKED") and self._told_us is not None:
            passed, self._told_us = at_us - self._told_us, None
            self.takeovers[-1] = passed if passed <= LONGEST_POLL_US else None
        if event["ev"] == "task" and what.startswith("Initialized"):
            passed = at_us - self._assigned_us
            self._over(max(0, passed - Timing().open_store_us))
            self.openings.setdefault(task_named(event["task"]), []).append(passed)
        elif after == "PARTITIONS_ASSIGNED":
            self._assigned_us = at_us
            self.polls.append(None)
        elif after == "RUNNING":
            self._over(at_us - self._assigned_us)

    def _over(self, passed_us: int) -> None:
        """The first thing after an assignment tells that its poll is over; a poll is short."""
        if self.polls and self.polls[-1] is None and passed_us <= LONGEST_POLL_US:
            self.polls[-1] = passed_us


def _member_id(event: Event) -> str | None:
    """The id that an event tells: handed out (classic) or the member's own (streams protocol)."""
    given = "given member-id: "
    if event["ev"] == "rejoin" and given in str(event.get("reason", "")):
        return str(event["reason"]).partition(given)[2].strip()
    if event["ev"] in ("joined", "state") and event.get("id"):
        return str(event["id"])
    return None
