"""Clients whose own thread joins and beats: when a busy application holds a group up, and when it
does not.

The times of the first two are those of librdkafka 2.16 on Kafka 4.3.1, in a group played by this
very script.
"""

from __future__ import annotations

from typing import Any

import pytest

from rebalsim.analysis import analyse
from rebalsim.domain.habits import JAVA, Habits
from rebalsim.scenario.load import story_of
from rebalsim.scenario.profiles import AIOKAFKA, FRANZ_GO, LIBRDKAFKA, SARAMA
from rebalsim.simulation.world import World, play
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

STORY = """
topics: {orders: {partitions: 6, rate: 150/s}}
group:
  members: {"c{n}": {count: 2}}
  client: %(client)s
  config: {session.timeout.ms: 6s, heartbeat.interval.ms: 2s%(config)s}
  listener: {%(listener)s}
script:
%(script)s
replay: [%(variant)s]
horizon: 80s
"""
JOIN, HANG, LEAVE = (
    "  - {at: 15s, join: {names: [c2]}}",
    "  - {at: 30300ms, hang: {member: c0, for: 8s}}",
    "  - {at: 31500ms, leave: c2}",
)
LONG = "  - {at: 50300ms, hang: {member: c1, for: 15s}}"
CALLED = "on_revoked: 1ms"


def trace_of(
    client: str,
    variant: str,
    *script: str,
    config: str = "",
    listener: str = CALLED,
    static: str = "",
) -> Trace:
    text = STORY % {
        "client": client,
        "config": config,
        "listener": listener,
        "script": "\n".join(script),
        "variant": variant,
    }
    overrides = [f"group.group.instance.id={static}"] if static else []
    return play(story_of(text.encode(), "story.yaml", overrides).scenario())


def told(trace: Trace, kind: type, who: str, after: float = 0.0) -> list[Any]:
    return [
        e for e in trace.events if type(e) is kind and e.consumer == who and e.at_us >= after * 1e6
    ]


def callbacks(trace: Trace, who: str, after: float) -> list[tuple[str, int]]:
    return [(e.callback, len(e.partitions)) for e in told(trace, ev.CallbackBegan, who, after)]


# The callbacks of librdkafka 2.16 on Kafka 4.3.1 in a group played by this script: it is assigned
# (a), gives up (r), loses (l) so many partitions.
SEEN = {
    "eager": {"c0": "a3 r3 a2 r2 a3 r3 a6 r6 a3", "c1": "a3 r3 a2 r2 a3 l3 a3", "c2": "a2 r2"},
    "cooperative": {
        "c0": "a3 r1 a0 a0 a1 a3 r3 a0 a0",
        "c1": "a3 r1 a0 a0 a1 l3 a0 a3",
        "c2": "a0 a2 r2",
    },
}


@pytest.mark.parametrize("variant", SEEN)
def test_every_callback_of_every_member_is_the_one_that_was_seen(variant: str) -> None:
    trace = trace_of(
        "librdkafka", variant, JOIN, HANG, LEAVE, LONG, config=", max.poll.interval.ms: 10s"
    )
    found = {
        who: " ".join(f"{kind[0]}{count}" for kind, count in callbacks(trace, who, 0))
        for who in ("c0", "c1", "c2")
    }
    assert found == SEEN[variant]


def test_an_eager_member_with_a_callback_holds_the_group_up_while_its_application_is_busy() -> None:
    trace = trace_of("librdkafka", "eager", JOIN, HANG, LEAVE, config=", max.poll.interval.ms: 10s")
    assert callbacks(trace, "c0", 31) == [("revoked", 2), ("assigned", 3)]
    revoked = told(trace, ev.CallbackBegan, "c0", 31)[0].at_us
    assert 38.3e6 <= revoked <= 38.35e6  # seen: 38.308 s, the handler returned at 38.307
    assert 38.3e6 <= told(trace, ev.CallbackBegan, "c1", 34)[0].at_us <= 38.4e6  # seen: 38.311 s


def test_a_cooperative_member_joins_while_its_application_is_busy_and_takes_its_share_afterwards() -> (
    None
):
    trace = trace_of(
        "librdkafka", "cooperative", JOIN, HANG, LEAVE, config=", max.poll.interval.ms: 10s"
    )
    joined = told(trace, ev.GenerationJoined, "c0", 31)[0].at_us
    assert joined < 34e6  # seen: 32.85 s
    given = told(trace, ev.CallbackBegan, "c0", 31)[0]
    assert given.callback == "assigned" and 38.3e6 <= given.at_us <= 38.35e6  # seen: 38.338 s
    assert told(trace, ev.CallbackEnded, "c1", 31)[0].at_us < 34e6  # seen: 32.852 s


def test_without_a_callback_nobody_waits_for_the_application() -> None:
    trace = trace_of(
        "librdkafka", "eager", JOIN, HANG, LEAVE, config=", max.poll.interval.ms: 10s", listener=""
    )
    assert told(trace, ev.CallbackBegan, "c0", 31)[0].at_us < 34e6
    assert told(trace, ev.GenerationJoined, "c1", 31.5)[0].at_us < 34e6


def test_a_java_member_holds_everybody_up_where_librdkafka_does_not() -> None:
    java = trace_of("java", "cooperative", JOIN, HANG, LEAVE, config=", max.poll.interval.ms: 10s")
    assert told(java, ev.GenerationJoined, "c1", 31.5)[0].at_us >= 38.3e6


@pytest.mark.parametrize("listener", ["", CALLED])
def test_who_exceeds_the_poll_interval_leaves_at_a_look_every_half_second_and_joins_after_its_next_poll(
    listener: str,
) -> None:
    trace = trace_of(
        "librdkafka", "eager", LONG, config=", max.poll.interval.ms: 10s", listener=listener
    )
    expired = told(trace, ev.PollExpired, "c1")[0]
    assert (
        60.2e6 < expired.at_us <= 60.8e6
        and (expired.at_us - told(trace, ev.PollingBegan, "c1")[0].at_us) % 500_000 < 5_000
    )
    assert told(trace, ev.LeaveSent, "c1")[0].at_us == expired.at_us
    lost = next(e for e in told(trace, ev.CallbackBegan, "c1", 50) if e.callback == "lost")
    assert (lost.at_us == expired.at_us) == (not listener)
    assert lost.at_us >= 65.3e6 or not listener
    assert told(trace, ev.GenerationJoined, "c1", 60)[0].at_us >= 65.3e6
    assert not told(trace, ev.RequestSent, "c1", 60.9)[0].at_us < 65.3e6


def test_a_static_member_that_exceeds_it_does_not_leave() -> None:
    trace = trace_of(
        "librdkafka", "eager", LONG, config=", max.poll.interval.ms: 10s", static='"{name}"'
    )
    assert told(trace, ev.PollExpired, "c1") and not told(trace, ev.LeaveSent, "c1")
    assert [e.why for e in trace.events if type(e) is ev.MemberRemoved] == [
        "replaced"
    ]  # by itself, within its session


def test_franz_go_never_leaves_for_a_stuck_handler_and_rebalances_beside_it() -> None:
    trace = trace_of(
        "franz-go", "cooperative", JOIN, "  - {at: 30300ms, hang: {member: c0, for: 40s}}", LEAVE
    )
    assert not told(trace, ev.PollExpired, "c0")
    assert told(trace, ev.CallbackBegan, "c0", 31)[0].at_us < 34e6


def test_franz_go_beats_once_more_half_a_second_after_a_cooperative_join() -> None:
    trace = trace_of("franz-go", "cooperative", JOIN)
    follow_up = [r for r in analyse(trace).rebalances if 15e6 < r.prepared_us < 20e6]
    assert len(follow_up) == 2 and follow_up[1].prepared_us - follow_up[0].barrier_us < 0.1e6
    noticed = [
        e.at_us
        for e in trace.events
        if type(e) is ev.RebalanceNoticed and e.at_us > follow_up[0].barrier_us
    ]
    assert noticed and all(abs(at - follow_up[0].barrier_us - 500_000) < 50_000 for at in noticed)


def test_an_eager_only_member_makes_a_franz_go_group_eager() -> None:
    text = """
topics: {orders: 6}
group:
  client: franz-go
  config: {partition.assignment.strategy: [cooperative-sticky, range]}
  members: {a: {}, b: {}, old: {client: java, config: {partition.assignment.strategy: [range]}, starts_at: 20s}}
replay: as-written
horizon: 60s
"""
    trace = play(story_of(text.encode(), "story.yaml").scenario())
    assert callbacks(trace, "a", 19)[0][0] == "revoked" and callbacks(trace, "a", 19)[0][1] == 3


def test_what_franz_go_gives_up_late_has_two_owners_and_that_is_told_as_its_own_doing() -> None:
    text = """
topics: {orders: 6}
group:
  client: franz-go
  listener: {on_revoked: 2s}
  config: {partition.assignment.strategy: [cooperative-sticky, range]}
  members: {a: {}, b: {}, old: {client: java, config: {partition.assignment.strategy: [range]}, starts_at: 20s}}
replay: as-written
horizon: 60s
"""
    analysis = analyse(play(story_of(text.encode(), "story.yaml").scenario()))
    assert analysis.violations == []
    (alarm,) = analysis.alarms
    assert (alarm.kind, alarm.consumers) == ("held-twice", ("a", "b"))
    assert "old" in alarm.others and alarm.figures["longest_us"] >= 2_000_000
    for facts in analysis.header.consumers.values():
        facts.habits = JAVA  # of any other client it would be a bug
    assert "two-owners" in {broken.rule for broken in analyse(analysis.trace).violations}


@pytest.mark.parametrize(("client", "waits"), [("sarama", True), ("aiokafka", False)])
def test_sarama_waits_for_its_handlers_and_aiokafka_for_nobody(client: str, waits: bool) -> None:
    trace = trace_of(client, "eager", JOIN, HANG, LEAVE)
    assert (told(trace, ev.CallbackBegan, "c0", 31)[0].at_us >= 38.3e6) == waits


def test_sarama_is_put_out_after_a_minute_of_waiting_for_a_handler() -> None:
    trace = trace_of(
        "sarama",
        "eager",
        "  - {at: 5s, join: {names: [c2]}}",
        "  - {at: 10s, hang: {member: c0, for: 68s}}",
        "  - {at: 11s, leave: c2}",
    )
    removed = [e for e in trace.events if type(e) is ev.MemberRemoved and e.consumer == "c0"]
    assert [e.why for e in removed] == ["not-rejoined"] and 71e6 <= removed[0].at_us <= 71.1e6


@pytest.mark.parametrize(
    ("habits", "seconds"),
    [(JAVA, 300), (LIBRDKAFKA, 300), (AIOKAFKA, 10), (SARAMA, 60), (FRANZ_GO, 60)],
)
def test_how_long_the_group_waits_for_a_member_is_what_its_client_asks_for(
    habits: Habits, seconds: int
) -> None:
    assert habits.rebalance_timeout_of(10_000_000, 300_000_000) == seconds * 1_000_000


@pytest.mark.parametrize("client", ["librdkafka", "franz-go", "sarama", "aiokafka"])
@pytest.mark.parametrize("listener", ["", CALLED])
def test_sleeping_through_quiet_times_changes_nothing(client: str, listener: str) -> None:
    config = ", max.poll.interval.ms: 10s" if client in ("librdkafka", "aiokafka") else ""
    text = STORY % {
        "client": client,
        "config": config,
        "listener": listener,
        "script": "\n".join((JOIN, HANG, LEAVE, LONG)),
        "variant": "eager",
    }
    scenario = story_of(text.encode(), "story.yaml").scenario()
    assert play(scenario).events == play(scenario, plain=True).events
    assert not analyse(play(scenario)).violations


def test_a_computing_leader_sends_no_heartbeats_and_may_be_put_out() -> None:
    text = STORY % {
        "client": "librdkafka",
        "config": "",
        "listener": "",
        "script": JOIN,
        "variant": "eager",
    }
    trace = play(
        story_of(
            text.encode(),
            "story.yaml",
            ["group.assignor_cost.fixed=8s", "group.config.max.poll.interval.ms=10s"],
        ).scenario()
    )
    assert any(type(e) is ev.MemberRemoved for e in trace.events)


def test_a_request_without_an_answer_is_given_up_by_the_own_thread_while_the_handler_is_stuck() -> (
    None
):
    script = (
        "  - {at: 20s, cut: {member: c0, for: 50s}}",
        "  - {at: 21s, hang: {member: c0, for: 58s}}",
    )
    trace = trace_of("franz-go", "eager", *script, listener="")
    lost = [e for e in told(trace, ev.CoordinatorLost, "c0", 20) if e.why == "request timed out"]
    assert lost and 50e6 <= lost[0].at_us <= 52e6  # 30 s after its first beat into the cut


CUT_STORY = """
cluster: {brokers: 3}
topics: {orders: {partitions: 6, rate: 60/s, replicas: 3}}
group:
  members: 3
  client: %(client)s
  config: {partition.assignment.strategy: [%(assignor)s], session.timeout.ms: 45s}
script:
  - {at: 1m, cut: {members: c1, for: %(seconds)ss}}
replay: as-written
horizon: 6m
"""


def cut_trace(client: str, assignor: str, seconds: int) -> Trace:
    return play(
        story_of(
            (CUT_STORY % {"client": client, "assignor": assignor, "seconds": seconds}).encode(),
            "story.yaml",
        ).scenario()
    )


@pytest.mark.parametrize("seconds", [60, 100, 150])
@pytest.mark.parametrize(("client", "from_s"), [("librdkafka", 102), ("franz-go", 105)])
def test_a_client_that_minds_its_session_gives_everything_up_when_nobody_has_answered_for_so_long(
    client: str, from_s: int, seconds: int
) -> None:
    """librdkafka 45 s after the last answer, franz-go when it has tried a beat for 45 s;
    whatever coordinator was found meanwhile.
    """
    trace = cut_trace(client, "cooperative-sticky", seconds)
    lost = [e for e in told(trace, ev.CallbackBegan, "c1", 60) if e.callback == "lost"]
    assert lost and len(lost[0].partitions) == 2
    assert from_s * 1e6 <= lost[0].at_us <= (from_s + 3.1) * 1e6
    assert not any(
        e.at_us > lost[0].at_us and e.error for e in told(trace, ev.CommitRefused, "c1", 60)
    )


@pytest.mark.parametrize(
    ("client", "says"), [("librdkafka", "session timed out"), ("franz-go", "")]
)
def test_after_a_freeze_librdkafka_holds_its_session_for_over_and_franz_go_asks(
    client: str, says: str
) -> None:
    """No time passes for a request that nobody has sent: franz-go hears at its next beat that it
    is a member no more.
    """
    text = (CUT_STORY % {"client": client, "assignor": "range", "seconds": 0}).replace(
        "cut: {members: c1, for: 0s}", "freeze: {members: c1, for: 70s}"
    )
    trace = play(story_of(text.encode(), "story.yaml").scenario())
    reset = next(e for e in told(trace, ev.MemberReset, "c1", 130))
    assert reset.reason.startswith(says) and ("session" in reset.reason) == bool(says)


@pytest.mark.parametrize("client", ["sarama", "aiokafka"])
def test_a_client_that_does_not_mind_its_session_keeps_what_it_has_until_it_is_told(
    client: str,
) -> None:
    trace = cut_trace(client, "range", 100)
    lost = [e for e in told(trace, ev.CallbackBegan, "c1", 60) if e.callback == "lost"]
    assert lost and lost[0].at_us >= 160e6


@pytest.mark.parametrize(
    ("client", "assignor"),
    [
        (client, assignor)
        for client in ("librdkafka", "franz-go", "sarama", "aiokafka")
        for assignor in ("range", "cooperative-sticky")
        if (client, assignor) != ("aiokafka", "cooperative-sticky")
    ],
)  # which it does not have
@pytest.mark.parametrize("seconds", [50, 100])
def test_after_a_cut_has_healed_every_partition_is_read_again_by_its_owner_alone(
    client: str, assignor: str, seconds: int
) -> None:
    analysis = analyse(cut_trace(client, assignor, seconds))
    assert not analysis.violations
    assert [pause for pause in analysis.pauses if pause.ended_us >= analysis.horizon_us] == []
    for (_, partition), holdings in analysis.holdings.items():
        assert len([h for h in holdings if h.ended_us >= analysis.horizon_us]) == 1, partition


def commit_refused(client: str) -> tuple[Trace, int]:
    """The coordinator puts c1 out while c1 is cut off; its first word after that is a commit.
    Returns when that was refused.
    """
    text = (CUT_STORY % {"client": client, "assignor": "range", "seconds": 20}).replace(
        "45s", "6s, heartbeat.interval.ms: 5s, auto.commit.interval.ms: 500ms"
    )
    trace = play(story_of(text.encode(), "story.yaml").scenario())
    return trace, next(
        e.at_us for e in told(trace, ev.CommitRefused, "c1", 60) if e.error == "UNKNOWN_MEMBER_ID"
    )


def test_a_refused_commit_makes_aiokafka_give_everything_up_at_once_and_sarama_wait_for_its_next_beat() -> (
    None
):
    for client in ("aiokafka", "sarama"):
        trace, refused = commit_refused(client)
        lost = next(e for e in told(trace, ev.CallbackBegan, "c1", 60) if e.callback == "lost")
        reset = next(e for e in told(trace, ev.MemberReset, "c1", 60))
        assert ("OffsetCommit" in reset.reason) == (client == "aiokafka")
        assert (lost.at_us == refused) == (client == "aiokafka")


def test_a_refused_commit_makes_librdkafka_lose_everything_and_franz_go_join_at_once() -> None:
    """The coordinator forgets c1 while its session lives: what it commits next is refused."""
    for client in ("librdkafka", "franz-go"):
        text = (
            CUT_STORY % {"client": client, "assignor": "cooperative-sticky", "seconds": 1}
        ).replace("45s", "45s, auto.commit.interval.ms: 500ms")
        scenario = story_of(text.encode(), "story.yaml").scenario()
        world = World(scenario, scenario.seed, is_wire=False, drive=None)
        world.engine.at(
            80_000_000,
            0,
            lambda _, world=world: world.host_of("group").group.members.pop(
                world.consumers["c1"].member.member_id
            ),
            None,
        )
        trace = world.play()
        refused = next(
            e for e in told(trace, ev.CommitRefused, "c1", 80) if e.error == "UNKNOWN_MEMBER_ID"
        )
        lost = next(e for e in told(trace, ev.CallbackBegan, "c1", 80) if e.callback == "lost")
        joins = next(e for e in told(trace, ev.RequestSent, "c1", 80) if e.api == "JoinGroup")
        assert (
            joins.at_us == refused.at_us
            and (lost.at_us == refused.at_us) == (client == "librdkafka")
            and refused.at_us < 81e6
        )
