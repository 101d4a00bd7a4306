"""Where a simulator of Kafka Connect that only knows consumers goes wrong, one by one: who rejoins
after a revocation, what a delay is counted from, who hears of a change how, and who waits for whom.
"""

from __future__ import annotations

import re
from typing import Any

from played_stories import at, played

from rebalsim.trace.connect_events import TaskStarting, TaskStopped, TaskStopping, WorkAssigned
from rebalsim.trace.events import GenerationJoined, RejoinRequested, RequestSent
from rebalsim.trace.trace import Trace

HEAD = """
topics: {{orders: {{partitions: 4, rate: 40/s}}}}
connect:
  workers: {workers}
  config: {{scheduled.rebalance.max.delay.ms: 1m, connect.protocol: {protocol}{more}}}
  connectors:
    src: {{tasks.max: 9{src}}}
    snk: {{topics: [orders], tasks.max: 2}}
    new: {{exists: later, tasks.max: 3}}
    too: {{exists: later, tasks.max: 3}}
horizon: {horizon}
start: cold
script: [{script}]
"""


def story(script: str = "", **more: Any) -> Trace:
    said = {"workers": 3, "protocol": "sessioned", "more": "", "src": "", "horizon": "5m", **more}
    return played(HEAD.format(script=script, **said), wire=True)


def assigned(trace: Trace, since_s: float) -> list[WorkAssigned]:
    return [e for e in trace.events if type(e) is WorkAssigned and e.at_us >= since_s * 1_000_000]


def leader_of(trace: Trace) -> str:
    """Who came first, and leads as long as it stays."""
    joined = [e for e in trace.events if type(e) is GenerationJoined and e.consumer in WORKERS]
    return min(joined, key=lambda e: e.at_us).consumer


WORKERS = ("w0", "w1", "w2", "w3")


def others_than_the_leader() -> list[str]:
    first = leader_of(story())
    return [name for name in WORKERS[:3] if name != first]


def test_only_who_lost_work_asks_for_the_next_round_and_at_once_after_stopping_it() -> None:
    trace = story("{at: 2m, join: {group: connect, count: 1}}", src=", stop: 700ms")
    first = [e for e in assigned(trace, 120) if e.generation == assigned(trace, 120)[0].generation]
    losers = {e.consumer for e in first if e.revoked}
    assert losers and losers < {e.consumer for e in first}
    over = max(e.at_us for e in first)
    asked = [
        e
        for e in trace.events
        if type(e) is RejoinRequested and e.consumer in WORKERS and e.at_us >= 120_000_000
    ]
    joins = {
        e.consumer: e.at_us
        for e in reversed(trace.events)
        if type(e) is RequestSent and e.api == "JoinGroup" and e.consumer in WORKERS
        if e.at_us > over - 1_000_000 and e.at_us < over + 4_000_000
    }
    # who lost something has stopped it before it took the answer over, and joins within ms
    assert all(joins[who] <= over + 50_000 for who in losers)
    # the others hear of it at their next heartbeat
    heard = {
        e.consumer for e in asked if e.at_us > over and e.reason.startswith("group is already")
    }
    assert heard and not heard & losers


def test_a_delay_is_one_deadline_from_the_first_loss_on() -> None:
    one, two = others_than_the_leader()
    trace = story(f"{{at: 2m, crash: {one}}}, {{at: 2m30s, crash: {two}}}")
    delays = [e for e in assigned(trace, 120) if e.delay_us]
    ends = {round((e.at_us + e.delay_us) / 1_000_000) for e in delays}
    assert len({e.generation for e in delays}) == 2 and max(ends) - min(ends) <= 1
    given = [e.at_us for e in assigned(trace, 120) if e.given]
    assert len(given) == 1 and abs(given[0] / 1_000_000 - max(ends)) < 4


def test_a_connectors_tasks_all_stop_before_the_join_where_their_number_changes() -> None:
    trace = story("{at: 2m, reconfigure_connector: {connector: src, tasks.max: 8}}")
    stops = {e.task: e.at_us for e in trace.events if type(e) is TaskStopping and e.at_us > 120e6}
    assert sorted(stops) == [f"src-{n}" for n in range(9)]
    assert max(stops.values()) - 120_000_000 < 300_000  # no worker waited for a heartbeat
    first = assigned(trace, 120)[0]
    stopped = [e.at_us for e in trace.events if type(e) is TaskStopped and e.at_us > 120e6]
    assert max(stopped[:9]) < first.at_us


def test_of_a_new_connector_all_workers_hear_from_the_config_topic() -> None:
    slow = ", session.timeout.ms: 30s, heartbeat.interval.ms: 9s"
    trace = story("{at: 2m, create_connector: new}", more=slow)
    started = [t for t in at(trace, TaskStarting, 120) if t]
    assert len(started) == 3 and max(started) < 121


def test_a_task_that_stops_slowly_holds_everybody_who_must_join_but_stops_only_what_moves() -> None:
    script, often = "{at: 2m, join: {group: connect, count: 1}}", ", heartbeat.interval.ms: 500ms"
    slow, quick = story(script, src=", stop: 3s", more=often), story(script, more=often)
    held, free = (
        max(e.at_us for e in assigned(trace, 120) if e.consumer == "w3" and e.given)
        for trace in (slow, quick)
    )
    assert 2_000_000 < held - free < 4_000_000
    moved = {e.task for e in slow.events if type(e) is TaskStopping and e.at_us > 120e6}
    assert 0 < len(moved) < 9


def test_copies_that_a_freeze_made_are_both_stopped_the_healthy_one_too() -> None:
    who = others_than_the_leader()[0]
    trace = story(f"{{at: 2m, freeze: {{members: {who}, for: 80s}}}}")
    back_us = 200_000_000
    doubled = [e for e in assigned(trace, 200) if e.revoked]
    assert {e.consumer for e in doubled} > {who}  # the one that was frozen, and the new owners
    mine = set(next(e.revoked for e in doubled if e.consumer == who))
    theirs = {work for e in doubled if e.consumer != who for work in e.revoked}
    assert mine and mine <= theirs
    starts = [e.task for e in trace.events if type(e) is TaskStarting and e.at_us > back_us]
    assert set(starts) >= {work for work in mine if re.search(r"-\d+$", work)}


def test_a_change_that_is_read_during_a_round_sets_off_the_next_one_as_that_ends() -> None:
    script = "{at: 2m, create_connector: new}, {at: 120005ms, create_connector: too}"
    rounds: dict[int, list[WorkAssigned]] = {}
    for e in assigned(story(script), 120):
        rounds.setdefault(e.generation, []).append(e)
    first, second = list(rounds.values())[:2]
    assert {work for e in first for work in e.given} == {"new"}
    assert {work for e in second for work in e.given} == {"too"}
    assert max(e.at_us for e in second) - min(e.at_us for e in first) < 20_000


def test_workers_and_sinks_consumers_have_timers_of_their_own() -> None:
    who = next(
        e.consumer.partition("@")[2]
        for e in story().events
        if type(e) is GenerationJoined
        and "@" in e.consumer
        and e.consumer.partition("@")[2] in others_than_the_leader()
    )
    trace = story(f"{{at: 2m, crash: {who}}}")
    removed = {
        e.consumer: e.at_us / 1_000_000 - 120
        for e in trace.events
        if type(e).__name__ == "MemberRemoved" and e.at_us > 120e6 and e.why == "session-expired"
    }
    assert 6 < removed.pop(who) < 11
    assert removed and all(name.startswith("snk-") and 41 < s < 46 for name, s in removed.items())


def test_a_sinks_stop_waits_for_its_own_groups_round() -> None:
    """Under eager all of a sink's tasks stop at each round; as they start anew they wait out the
    initial delay of their group, and a second round meanwhile waits for them.
    """
    script = "{at: 2m, create_connector: new}"
    again = script + ", {at: 123s, create_connector: too}"
    one, both = (story(s, protocol="eager") for s in (script, again))

    def longest_stop(trace: Trace) -> float:
        begun: dict[tuple[str, str], int] = {}
        longest = 0
        for e in trace.events:
            if type(e) is TaskStopping and e.at_us > 122.5e6:
                begun[e.consumer, e.task] = e.at_us
            elif type(e) is TaskStopped and (e.consumer, e.task) in begun:
                longest = max(longest, e.at_us - begun.pop((e.consumer, e.task)))
        return longest / 1_000_000

    assert longest_stop(one) < 0.5
    assert longest_stop(both) > 2
