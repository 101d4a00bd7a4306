"""A consumer group (KIP-848) in the simulation: what decides how long a partition stands still,
and that quiet costs nothing.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pytest

from rebalsim.domain.ids import Partition
from rebalsim.quiet import Quiet
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import World, play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

SECOND = 1_000_000
STORY = """
title: a consumer group
topics:
  t: {{partitions: 6, rate: {rate}/s}}
group:
  members: {members}
  handler: 100us
  config: {{group.protocol: consumer{config}}}
horizon: {horizon}
{rest}
"""


def story(
    script: str = "",
    *,
    members: int = 3,
    config: str = "",
    horizon: str = "3m",
    rest: str = "",
    rate: int = 240,
) -> Any:
    text = STORY.format(
        rate=rate,
        members=members,
        config=", " + config if config else "",
        horizon=horizon,
        rest=(f"script:\n{script}\n" if script else "") + rest,
    )
    return story_of(text.encode(), "story.yaml").scenario("as-written")


@lru_cache(maxsize=32)
def played(script: str = "", *, seed: int = 1, **how: Any) -> Trace:
    return play(story(script, **how), seed=seed)


def told(trace: Trace, kind: type, **facts: Any) -> list[Any]:
    return [
        e
        for e in trace.events
        if type(e) is kind and all(getattr(e, key) == value for key, value in facts.items())
    ]


def first(trace: Trace, kind: type, after_us: int = 0, **facts: Any) -> Any:
    return next(e for e in told(trace, kind, **facts) if e.at_us >= after_us)


def owners_at_the_end(trace: Trace) -> dict[Partition, str]:
    owners: dict[Partition, str] = {}
    for e in trace.events:
        if type(e) is ev.CallbackBegan:
            for partition in e.partitions:
                if e.callback == "assigned":
                    owners[partition] = e.consumer
                elif owners.get(partition) == e.consumer:
                    del owners[partition]
    return owners


DEEDS = {
    "quiet": "",
    "scale out": "  - {at: 60s, scale: 4}",
    "crash": "  - {at: 60s, crash: c1}",
    "freeze": "  - {at: 60s, freeze: {members: c1, for: 60s}}",
    "short freeze": "  - {at: 60s, freeze: {members: c1, for: 10s}}",
    "hang": "  - {at: 60s, hang: {members: c1, for: 40s}}",
    "cut": "  - {at: 60s, cut: {members: c1, for: 20s}}",
    "leave": "  - {at: 60s, leave: c1}",
    "failover": "  - {at: 60s, coordinator_failover: {load: 3s}}",
    "growth": "  - {at: 60s, add_partitions: {topic: t, to: 9}}",
    "bounce": "  - {at: 60s, rolling_bounce: {down: 3s}}",
}


@pytest.mark.slow
@pytest.mark.parametrize("deed", DEEDS)
def test_whether_quiet_is_slept_through_or_not_changes_nothing(deed: str) -> None:
    scenario = story(DEEDS[deed], config="max.poll.interval.ms: 30s", horizon="150s", rate=90)
    lazy = play(scenario, seed=3)
    dense = play(scenario, seed=3, plain=True)
    assert [repr(event) for event in dense.events] == [repr(event) for event in lazy.events]


ROUNDS_AND_POLLS = """
topics: {t: {partitions: 4, rate: 32/s}}
group: {members: 2, handler: 12ms, config: {group.protocol: consumer}}
script: [{at: 50s, join: 1}]
horizon: 60s
"""
BUSY_AND_ROLLED = """
topics: {t: {partitions: 9, rate: 135/s}}
group: {members: 4, handler: 20ms, config: {group.protocol: consumer}, life: {start: 5s, stop: 1s}}
script: [{at: 20s, rolling_bounce: {max_unavailable: 1, ready_when: assigned}}]
horizon: 80s
"""

SELDOM_READ = """
cluster: {brokers: 2, latency: 1ms}
topics: {t: {partitions: 4, rate: 0.4/s}, u: {partitions: 2, rate: 0/s}}
group: {members: 3, handler: {per_record: 2ms, poll_timeout: 50ms}, config: {group.protocol: consumer}}
script: [{at: 41s, join: 1}, {at: 52.4s, leave: c0}]
horizon: 80s
"""
LONG_POLLS = """
cluster: {brokers: 3, latency: 500us}
topics: {t: {partitions: 3, rate: 0.3/s}}
group: {members: 1, handler: {per_record: 1ms, commit: sync-batch, poll_timeout: 1s}, config: {group.protocol: consumer, fetch.max.wait.ms: 333}}
script: [{at: 41s, join: 1}]
horizon: 80s
"""

NEVER_AT_REST = """
cluster: {brokers: 3}
topics: {t: {partitions: 4, rate: 2000/s}}
group: {members: 2, handler: 300us, config: {group.protocol: consumer}}
start: cold
script: [{at: 14.3s, join: 1}]
horizon: 24s
"""
SEVERAL_RECORDS_A_FETCH = """
cluster: {brokers: 2, latency: 1ms}
topics: {t: {partitions: 2, rate: 1666/s}}
group: {members: 1, handler: {per_record: 50us, commit: none}, config: {group.protocol: consumer}}
start: cold
script: [{at: 19s, hang: {members: c0, for: 3s}}]
horizon: 24s
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param(NEVER_AT_REST, id="rounds that hang on each other are learnt"),
        pytest.param(SEVERAL_RECORDS_A_FETCH, id="an answer brings more than one record"),
        pytest.param(ROUNDS_AND_POLLS, id="a poll() begins just as records land"),
        pytest.param(BUSY_AND_ROLLED, id="members rest while a group is rolled"),
        pytest.param(SELDOM_READ, id="an empty answer is noticed or not, by chance"),
        pytest.param(LONG_POLLS, id="answers of several brokers end waits of one poll()"),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_rounds_that_meet_polls_and_rolls_are_skipped_as_they_are_played(
    text: str, seed: int
) -> None:
    """The first: 125 ms from round to round, 25 of them handled: each poll() of 100 ms that is over
    begins anew as the next records land, sees them a little late, and the next round begins later
    for it.
    """
    scenario = story_of(text.encode(), "story.yaml").scenario("as-written")
    quiet, plain = play(scenario, seed=seed), play(scenario, seed=seed, plain=True)
    assert [repr(event) for event in plain.events] == [repr(event) for event in quiet.events]


@pytest.mark.slow
@pytest.mark.parametrize("deed", DEEDS)
def test_in_the_end_every_partition_has_one_owner_who_is_alive(deed: str) -> None:
    trace = played(DEEDS[deed], config="max.poll.interval.ms: 30s")
    owners = owners_at_the_end(trace)
    gone = {e.consumer for e in told(trace, ev.ConsumerExited)} - {
        e.consumer for e in told(trace, ev.ConsumerStarted) if e.life > 1
    }
    assert len(owners) == (9 if deed == "growth" else 6)
    assert not gone & set(owners.values())


@pytest.mark.parametrize("members", [3, 12])  # 12: half of them have nothing to read
def test_quiet_time_costs_nothing(members: int) -> None:
    def events(horizon: str) -> int:
        world = World(
            story(members=members, horizon=horizon), 1, is_wire=False, drive=None, quiet=Quiet()
        )
        world.play()
        return world.engine.entries

    # of what goes on in 50 minutes only the rounds around each commit are played
    assert events("60m") - events("10m") <= 50 * 60 / 5 * members * 30


def test_a_dead_member_is_noticed_when_the_brokers_session_ends_and_not_before() -> None:
    trace = played(DEEDS["crash"])
    removed = first(trace, ev.MemberRemoved, why="session-expired")
    assert removed.at_us - removed.last_heard_us == 45 * SECOND
    assert 40 * SECOND <= removed.at_us - 60 * SECOND <= 45 * SECOND


def test_a_client_that_asks_for_a_shorter_session_does_not_get_it() -> None:
    scenario = story(DEEDS["crash"])
    assert {c.config.session_timeout_us for g in scenario.groups for c in g.consumers} == {
        45 * SECOND
    }


def test_a_new_owner_waits_for_its_own_next_heartbeat() -> None:
    trace = played(DEEDS["scale out"])
    joined = first(trace, ev.MemberAdded, 60 * SECOND)
    released = first(trace, ev.PartitionsReleased, joined.at_us)
    awaited = first(trace, ev.ReleaseAwaited, joined.at_us)
    given = next(e for e in told(trace, ev.AssignmentReceived, consumer="c3") if e.partitions)
    assert awaited.consumer == "c3"
    assert set(released.partitions) <= set(awaited.partitions)
    assert released.at_us < given.at_us
    acknowledged = first(
        trace,
        ev.MemberStateChanged,
        joined.at_us,
        consumer="c3",
        side="client",
        after="ACKNOWLEDGING",
    ).at_us
    assert (given.at_us - acknowledged) % (
        5 * SECOND
    ) < SECOND // 10  # a beat comes an interval after the last


def test_members_that_keep_theirs_go_on() -> None:
    trace = played(DEEDS["scale out"])
    joined = first(trace, ev.MemberAdded, 60 * SECOND).at_us
    revoked = {
        p
        for e in told(trace, ev.CallbackBegan, callback="revoked")
        if e.at_us >= joined
        for p in e.partitions
    }
    assert len(revoked) <= 3


def test_positions_are_committed_before_partitions_are_given_up() -> None:
    trace = played(DEEDS["scale out"])
    joined = first(trace, ev.MemberAdded, 60 * SECOND).at_us
    for revoked in [
        e for e in told(trace, ev.CallbackBegan, callback="revoked") if e.at_us >= joined
    ]:
        commit = [
            e
            for e in told(trace, ev.RequestSent, api="OffsetCommit", consumer=revoked.consumer)
            if joined <= e.at_us <= revoked.at_us
        ]
        assert commit
        assert set(revoked.partitions) <= set(commit[-1].partitions or ())
    found = [e for e in told(trace, ev.PositionFound) if e.at_us >= joined]
    assert found
    assert all(e.offset == e.handled for e in found)


def test_one_that_leaves_sets_its_partitions_free_at_once() -> None:
    trace = played(DEEDS["leave"])
    left = first(trace, ev.MemberRemoved, why="left")
    bumped = first(trace, ev.EpochBumped, left.at_us)
    assert left.at_us - first(trace, ev.CloseBegan).at_us < SECOND // 10
    assert bumped.at_us == left.at_us
    taken = [
        e.at_us
        for e in told(trace, ev.CallbackBegan, callback="assigned")
        if e.at_us > left.at_us and e.partitions
    ]
    assert max(taken) - left.at_us < 6 * SECOND


def test_a_stuck_member_leaves_by_itself_and_joins_again_when_it_polls() -> None:
    trace = played(DEEDS["hang"], config="max.poll.interval.ms: 30s")
    expired = first(trace, ev.PollExpired)
    assert (
        30 * SECOND <= expired.at_us - expired.last_poll_us <= 35 * SECOND
    )  # looked at with its heartbeats
    assert first(trace, ev.MemberRemoved, why="left").at_us >= expired.at_us
    lost = first(trace, ev.CallbackBegan, callback="lost")
    assert lost.consumer == "c1"
    assert lost.at_us >= first(trace, ev.HandlerReturned).at_us
    assert first(
        trace, ev.MemberStateChanged, lost.at_us, consumer="c1", side="client", after="JOINING"
    )


def test_a_frozen_member_learns_from_the_next_answer_that_it_is_out() -> None:
    trace = played(DEEDS["freeze"])
    thawed = first(trace, ev.ConsumerThawed).at_us
    fenced = first(trace, ev.Fenced)
    assert fenced.error == "UNKNOWN_MEMBER_ID"
    assert thawed <= fenced.at_us <= thawed + SECOND // 10
    assert first(trace, ev.CallbackBegan, thawed, callback="lost").at_us <= thawed + SECOND // 10


def test_a_cut_member_keeps_reading_and_stays_in_the_group_while_its_session_lasts() -> None:
    trace = played(DEEDS["cut"])
    assert not told(trace, ev.MemberRemoved)
    assert not told(trace, ev.CallbackBegan, callback="lost")


def test_a_failover_costs_nobody_its_partitions() -> None:
    trace = played(DEEDS["failover"])
    assert told(trace, ev.CoordinatorMoved, is_loaded=True)
    assert not [e for e in told(trace, ev.CallbackBegan) if e.at_us > 60 * SECOND]


@pytest.mark.slow
def test_new_partitions_are_noticed_by_the_broker_at_the_next_heartbeat_of_anybody() -> None:
    trace = played(DEEDS["growth"])
    bumped = first(trace, ev.EpochBumped, 60 * SECOND, trigger="metadata-changed")
    assert bumped.at_us - 60 * SECOND <= 5 * SECOND
    taken = [
        e
        for e in told(trace, ev.CallbackBegan, callback="assigned")
        if e.at_us > 60 * SECOND and e.partitions
    ]
    assert {p.number for e in taken for p in e.partitions} >= {6, 7, 8}
    assert not [
        e for e in told(trace, ev.CallbackBegan, callback="revoked") if e.at_us > 60 * SECOND
    ]


STATIC = "group.instance.id: '{name}'"


def test_a_static_member_that_closes_and_returns_in_time_moves_nothing() -> None:
    trace = played("  - {at: 60s, rolling_bounce: {members: c1, down: 5s}}", config=STATIC)
    assert not [e for e in told(trace, ev.EpochBumped) if e.at_us > 60 * SECOND]
    assert told(trace, ev.MemberAdded, how="replacement")


def test_a_killed_static_member_that_returns_early_is_refused() -> None:
    trace = played("  - {at: 60s, crash: {members: c1, restart_after: 5s}}", config=STATIC)
    exited = [e for e in told(trace, ev.ConsumerExited, consumer="c1") if e.how == "fatal"]
    assert exited
    assert exited[0].error == "UnreleasedInstanceIdException"
    assert exited[0].at_us < 70 * SECOND


def test_a_burst_of_joins_waits_for_the_assignment_interval() -> None:
    trace = played("  - {at: 60s, scale: 5}")
    joins = [e.at_us for e in told(trace, ev.MemberAdded) if e.at_us >= 60 * SECOND]
    computed = [e.at_us for e in told(trace, ev.AssignmentComputed) if e.at_us >= 60 * SECOND]
    waited = first(trace, ev.IntervalWaited, 60 * SECOND)
    assert len(joins) == 2
    assert computed[1] >= waited.until_us
    assert waited.until_us - computed[0] <= SECOND


def test_seeds_decide_who_gets_what() -> None:
    def owners(seed: int) -> tuple[tuple[Partition, str], ...]:
        return tuple(sorted(owners_at_the_end(played(seed=seed)).items()))

    assert len({owners(seed) for seed in range(1, 7)}) > 1
