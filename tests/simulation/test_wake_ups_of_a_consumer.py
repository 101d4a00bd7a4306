"""When an asynchronous consumer acts on news between two rounds of records: its wait ends where
its background thread last said it should.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rebalsim.domain.machine import Machine
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play
from rebalsim.trace import events as ev

STORY = b"""
title: a third member takes partitions of two
topics:
  t: {partitions: 6, rate: 60/s}
group:
  members: 2
  handler: 0us
  config: {group.protocol: consumer}
script:
  - {at: 40s, scale: 3}
horizon: 1m
start: cold
"""
STEADY = Machine(
    looks_too_early=0.0,
    looks_too_early_warm=0.0,
    looks_too_early_committed=0.0,
    looks_too_early_validating=0.0,
    looks_too_early_called=0.0,
    looks_at_once=0.0,
    knows_leader=1.0,
    wakes_again=0.0,
    fetches_ahead=1.0,
)


def told_of_revocation(machine: Machine) -> list[tuple[Any, int, int, int, int]]:
    """Who is told to give something up while records flow: when the last records came, its beat
    left, it committed and was called back.
    """
    scenario = replace(story_of(STORY, "story.yaml").scenario("as-written"), machine=machine)
    events = play(scenario, seed=1, wire=True).events
    found = []
    for i, event in enumerate(events):
        if (
            type(event) is ev.CallbackBegan
            and event.callback == "revoked"
            and event.at_us > 40_000_000
        ):
            before = [e for e in events[:i] if getattr(e, "consumer", None) == event.consumer]
            answered = next(e.at_us for e in reversed(before) if type(e) is ev.AssignmentReceived)
            sent = max(
                e.at_us
                for e in before
                if type(e) is ev.RequestSent
                and e.api == "ConsumerGroupHeartbeat"
                and e.at_us < answered
            )
            commits = [
                e.at_us
                for e in before
                if type(e) is ev.RequestSent and e.api == "OffsetCommit" and e.at_us >= answered
            ]
            last = max(
                e.at_us for e in before if type(e) is ev.RecordsDelivered and e.at_us <= sent
            )
            found.append((event.consumer, last, sent, min(commits), event.at_us))
    return found


def test_who_is_awake_again_after_a_beat_commits_as_long_after_it_as_it_came_after_the_records() -> (
    None
):
    found = told_of_revocation(replace(STEADY, wakes_again=1.0))
    assert found
    for _, last, sent, commits, _ in found:
        assert abs((commits - sent) - (sent - last)) <= 5_000 or commits - sent <= 5_000


def test_else_it_waits_for_the_next_records() -> None:
    awake = {
        who: commits
        for who, _, _, commits, _ in told_of_revocation(replace(STEADY, wakes_again=1.0))
    }
    asleep = {who: commits for who, _, _, commits, _ in told_of_revocation(STEADY)}
    assert asleep.keys() == awake.keys()
    assert any(asleep[who] > awake[who] + 10_000 for who in asleep)


def test_an_acknowledgement_takes_its_time() -> None:
    """From the callback's end to the beat that tells of it."""
    for act_us in (0, 5_000):
        scenario = replace(
            story_of(STORY, "story.yaml").scenario("as-written"),
            machine=replace(STEADY, async_act_us=act_us),
        )
        events = play(scenario, seed=1, wire=True).events
        waits = []
        for i, event in enumerate(events):
            if (
                type(event) is ev.CallbackEnded
                and event.callback == "assigned"
                and event.at_us > 40_000_000
            ):
                waits.append(
                    next(
                        e.at_us
                        for e in events[i:]
                        if type(e) is ev.RequestSent
                        and e.consumer == event.consumer
                        and e.api == "ConsumerGroupHeartbeat"
                    )
                    - event.at_us
                )
        assert waits and min(waits) == act_us
