"""What a replay of a Streams application predicts, in the trace's clock: pauses, tasks that begin
to run, states, and assignments.
"""

from __future__ import annotations

from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.simulation.streams.happenings import (
    ApplicationStateChanged,
    Happening,
    TaskChanged,
    TasksAssigned,
    ThreadBusy,
    ThreadStateChanged,
)
from rebalsim.simulation.streams.play import Played
from rebalsim.simulation.streams.stretches import stretches

Sequences = dict[str, list[Any]]
RUN_US = 95_000  # recorded applications tell of so long a run of records at once, when it is over


def prediction_of(played: Played) -> dict[str, Any]:
    """Pauses as a recording shows them: from the last record handled to the first one after."""
    rates = played.application.rates
    fetch_us = played.application.timing.fetch_us
    pauses = []
    for stretch in stretches(played.happenings):
        ended = stretch.ended_us
        end_us = played.horizon_us if ended is None else ended + stretch.first_us
        for p in played.topology.inputs[stretch.task]:
            rate = rates.get(p.topic, 0.0)
            every = int(1_000_000 / rate) if rate > 0 else 0
            start_us = stretch.started_us
            if stretch.why == "killed":
                start_us -= RUN_US  # the last run died with those who would have told of it
            if every:
                start_us = max(0, (start_us - fetch_us) // every * every + fetch_us)
            pauses.append({"partition": str(p), "start": start_us / 1000, "end": end_us / 1000})
    pauses += [pause for each in played.happenings for pause in _kept_waiting(each, played)]
    running = [
        {"t": each.at_us / 1000, "member": each.instance, "task": str(each.task)}
        for each in played.happenings
        if isinstance(each, TaskChanged) and each.what == "running"
    ]
    return {"pauses": pauses, "running": running}


def _kept_waiting(happening: Happening, played: Played) -> list[dict[str, Any]]:
    """Tasks that a thread kept stand still while it gives up, takes over and opens others."""
    if not isinstance(happening, ThreadBusy):
        return []
    rates, fetch_us = played.application.rates, played.application.timing.fetch_us
    found = []
    for p in (p for task in happening.tasks for p in played.topology.inputs[task]):
        every = int(1_000_000 / rates[p.topic]) if rates.get(p.topic, 0.0) > 0 else 0
        if every:
            last_us = (happening.since_us - fetch_us) // every * every + fetch_us
            found.append(
                {"partition": str(p), "start": last_us / 1000, "end": happening.at_us / 1000}
            )
    return found


def states_of(played: Played) -> Sequences:
    """By instance, and by thread: the states one after another, repeats as one."""
    found: Sequences = {}
    for each in played.happenings:
        if isinstance(each, ApplicationStateChanged):
            _add(found, each.instance, each.after)
        elif isinstance(each, ThreadStateChanged):
            _add(found, f"{each.instance}/{each.thread}", each.after)
    return found


def recorded_states(document: dict[str, Any]) -> Sequences:
    """The states of a recording, by instance and by thread, repeats as one."""
    found: Sequences = {}
    for event in document["events"]:
        if event["ev"] == "app_state":
            _add(found, event["member"], event["after"])
        elif event["ev"] == "thread_state":
            _add(found, f"{event['member']}/{event.get('thread', 1)}", event["after"])
    return found


def _add(found: Sequences, who: str, what: Any) -> None:
    told = found.setdefault(who, [])
    if not told or told[-1] != what:
        told.append(what)


def assignments_of(played: Played) -> Sequences:
    """By thread: each change of its active tasks' partitions, and of its standbys."""
    found: Sequences = {}
    inputs = played.topology.inputs
    for each in played.happenings:
        if isinstance(each, TasksAssigned):
            active = tuple(sorted(str(p) for task in each.active for p in inputs[task]))
            standby = tuple(str(task) for task in each.standby)
            _add(found, f"{each.instance}/{each.thread}", (active, standby))
    return found


def recorded_assignments(document: dict[str, Any]) -> Sequences:
    """The changes of a recording's assignments, by thread: under the streams protocol the log tells
    them whole; under the classic one the listener's partitions add up (standbys stay untold there).
    """
    found: Sequences = {}
    held: dict[str, set[str]] = {}
    for event in document["events"]:
        thread = f"{event['member']}/{event.get('thread', 1)}"
        if event["ev"] == "start":
            for each in [each for each in held if each.startswith(event["member"] + "/")]:
                held[each] = set()
        elif event["ev"] == Callback.ASSIGNED and isinstance(event.get("partitions"), list):
            held.setdefault(thread, set()).update(event["partitions"])
            _add(found, thread, tuple(sorted(held[thread])))
        elif event["ev"] in (Callback.REVOKED, Callback.LOST) and isinstance(
            event.get("partitions"), list
        ):
            held.setdefault(thread, set()).difference_update(event["partitions"])
        elif event["ev"] == "assigned_tasks":
            _add(found, thread, (_tasks(event["active"]), _tasks(event["standby"])))
    return found


def _tasks(text: str) -> tuple[str, ...]:
    from rebalsim.domain.task_ids import task_named

    names = [name.strip() for name in text.split(",") if name.strip()]
    return tuple(sorted(names, key=task_named))
