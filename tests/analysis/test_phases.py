"""What a partition was waiting for: small traces, told by their coordinator or by members alone,
with their phases.
"""

from __future__ import annotations

import random

import pytest
from builders import seconds, trace

from rebalsim.analysis import analyse
from rebalsim.analysis.values import Pause
from rebalsim.trace import events as ev


def phases(pause: Pause) -> list[tuple[str, float]]:
    return [(str(p.kind), seconds(p.length_us)) for p in pause.phases]


def first(text: str, **facts: object) -> Pause:
    return analyse(trace(text, **facts)).pauses[0]  # type: ignore[arg-type]


EAGER = (
    "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c3(@9 g{joined.c3@10 c3j@10 "
    "c1?@11 c1[p0@11 c1]@12 c1j@12 c2?@13 c2[p1@13 c2]@13 c2j@13 g|2.c2@13.5 c1=2@13.5 c2=2@13.5 "
    "c3=2@13.5 g}2@14 "
    "c1:2@14 c1<p0@14.5 c1>@15 c1*p0@15.5 c3<p1@16 c3>@16 c3*p1@17"
)


def test_eager_everybody_waits_for_the_last() -> None:
    kept, moved = analyse(trace(EAGER)).pauses
    assert phases(kept) == [
        ("revoke", 1),
        ("barrier", 1.5),
        ("assignment", 1),
        ("restore", 0.5),
        ("fetch", 0.5),
    ]
    assert phases(moved) == [("barrier", 0.5), ("assignment", 2.5), ("fetch", 1)]
    barrier = kept.phases[1].facts
    assert (barrier.consumer, barrier.doing, barrier.timer, seconds(barrier.until_us)) == (
        "c2",
        "unaware",
        "heartbeat.interval.ms",
        13,
    )
    assert kept.cause.kind == moved.cause.kind == "scale-out"
    assert kept.cause.consumer == "c3"


def test_the_barrier_names_the_dead() -> None:
    """c1 waits for c2, which is dead until its session runs out."""
    pause = analyse(
        trace(
            "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c2h@9 c2!@9.5 c3(@19 g{joined.c3@20 c3j@20 c1?@21 "
            "c1-p0@21 c1j@21 "
            "g%c2@54 g|2.c2@54 c1=2@54 c3=2@54 g}2@54.1 c1:2@54.1 c1<p0@54.1 c1>@54.1 c1*p0@54.3"
        )
    ).pauses[1]
    assert phases(pause) == [("barrier", 33), ("assignment", 0.1), ("fetch", 0.2)]
    facts = pause.phases[0].facts
    assert (facts.consumer, facts.doing, facts.timer) == ("c2", "dead", "session.timeout.ms")
    assert (seconds(facts.since_us), seconds(facts.until_us)) == (9.5, 54)


def test_the_barrier_names_the_dead_though_another_process_has_its_name() -> None:
    """c2 died at 9.5 s and was started again at 15: the group waits for the member that died,
    not for its successor.
    """
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c2h@9 c2!@9.5 c2(2@15 g{joined.c2@20 c2j@20 c1?@21 "
        "c1-p0@21 c1j@21 "
        "g%c2.9@54 g|2.c2@54 c1=2@54 c2=2@54 g}2@54.1 c1:2@54.1 c1<p0@54.1 c1>@54.1 c1*p0@54.3"
    )
    next(e for e in told.events if type(e) is ev.BarrierCompleted).by = "removal"
    pause = analyse(told).pauses[1]
    facts = pause.phases[0].facts
    assert (pause.phases[0].kind, facts.consumer, facts.doing, facts.timer) == (
        "barrier",
        "c2",
        "dead",
        "session.timeout.ms",
    )
    assert (seconds(facts.since_us), seconds(facts.until_us)) == (9.5, 54)


def test_a_barrier_whose_time_runs_out_names_who_kept_its_place() -> None:
    """A static member is not thrown out of the round that it did not join."""
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c2#@5 g{joined.c3@10 c3j@10 c1?@11 c1-p0@11 c1j@11 g|2@50 "
        "c1=2@50 c3=2@50 g}2@50 c1:2@50 c1+p0@51",
        statics=("c1", "c2"),
    )
    next(e for e in told.events if type(e) is ev.BarrierCompleted).by = "timer"
    facts = next(
        phase
        for p in analyse(told).pauses
        if p.owner_before == "c1"
        for phase in p.phases
        if phase.kind == "barrier"
    ).facts
    assert (facts.consumer, facts.doing, facts.timer) == ("c2", "stuck", "rebalance_timeout_ms")


def test_who_closes_without_a_word_stopped_and_did_not_leave() -> None:
    silent = (
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c1x@10 c1-p0@10 c1)@10 g%c1@55 g{session-expired.c1@55 "
        "c2?@56 c2j@56 g|2.c2@56 c2=2@56 g}2@56 c2:2@56 c2+p0@56"
    )
    assert [
        analyse(trace(words)).pauses[0].cause.kind
        for words in (silent, silent.replace("c1)@10", "c1l@10 c1)@10"))
    ] == ["stopped", "left"]


def test_the_barrier_waits_for_a_callback_that_began_before() -> None:
    """c2 had been in its callback for a second when c1 came to the barrier."""
    pause = analyse(
        trace(
            "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 g{joined.c3@10 c3j@10 c2?@11 c2[p1@11 c1?@12 c1-p0@12 "
            "c1j@12 c2]@21 c2j@21 g|2.c2@21 "
            "c1=2@21 c2=2@21 c3=2@21 g}2@21 c1:2@21 c1+p0@21.5"
        )
    ).pauses[1]
    facts = pause.phases[0].facts
    assert (pause.phases[0].kind, facts.consumer, facts.doing) == ("barrier", "c2", "in-callback")


def test_a_static_member_that_is_replaced_did_not_wait_for_its_session() -> None:
    """c1 freezes, and c2 comes with its id: nobody's session ran out."""
    pause = first(
        "c1+p0@0 c1=1@0 c1~@5 c2(@14 g&c1@15 c2=1@15 c2:1@15 c2+p0@15", statics=("c1", "c2")
    )
    facts = pause.phases[0].facts
    assert (pause.phases[0].kind, facts.consumer, facts.doing, facts.timer) == (
        "detection",
        "c1",
        "frozen",
        "",
    )


def test_who_comes_back_in_time_did_not_wait_for_its_session() -> None:
    """c1 freezes for 25 s of the 45 that its session has, and goes on as if nothing had been."""
    pause = first("c1+p0@0 c1=1@0 c1~@5 c1^@30 c1*p0@30.1")
    assert next((str(p.kind), p.facts.timer) for p in pause.phases) in (
        ("detection", ""),
        ("away", ""),
    )


def test_a_replacement_that_joins_ends_the_detection_and_no_timer_does() -> None:
    """The group waits for the dead c1's session only from then on, at the barrier."""
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c1h@9 c1!@10 c1(2@16 c1j@16 g{joined.c1@16 c2?@18 "
        "c2-p1@18 c2j@18 g%c1.9@54 g|2.c1@54 c1=2@54 c2=2@54 "
        "g}2@54.1 c1:2@54.1 c1+p0@54.2"
    )
    next(e for e in told.events if type(e) is ev.BarrierCompleted).by = "removal"
    pause = next(p for p in analyse(told).pauses if p.owner_before == "c1")
    assert [
        (str(p.kind), p.facts.doing, p.facts.timer, seconds(p.length_us)) for p in pause.phases
    ][:2] == [("detection", "dead", "", 6), ("barrier", "dead", "session.timeout.ms", 38)]


def test_the_assignment_waits_for_a_busy_leader() -> None:
    """c1 leads, and reads the answer to its JoinGroup seven seconds after the barrier, in its
    next poll.
    """
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 g{joined.c3@10 c3j@10 c2?@11 c2-p1@11 c2j@11 c1?@11 "
        "c1j@12 g|2.c1@12 c2=2@12 c3=2@12 c1=2@19 "
        "g}2@19.1 c2:2@19.1 c3:2@19.1 c3<p1@19.2 c3>@19.2 c3*p1@19.3",
        protocol="cooperative",
    )
    barrier = next(e for e in told.events if type(e) is ev.BarrierCompleted)
    barrier.leader = "c1"
    pause = next(p for p in analyse(told).pauses if str(p.partition) == "t-1")
    facts = pause.phases[1].facts
    assert phases(pause) == [("barrier", 1), ("assignment", 7.2), ("fetch", 0.1)]
    assert (facts.consumer, facts.doing, seconds(facts.until_us)) == ("c1", "busy", 19)


def test_the_assignment_waits_for_one_that_never_read_of_it_and_not_for_who_came_later() -> None:
    """c2 was at the barrier, and in its handler when the answer came; c4, which has the
    partition in the end, did not exist yet.
    """
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 g{joined.c3@10 c3j@10 c2?@11 c2-p1@11 c2j@11 c2#@11.5 "
        "c1?@12 c1-p0@12 c1j@12 g|2.c1@12.5 c1=2@12.5 c3=2@12.5 "
        "g}2@12.5 c1:2@12.5 c3:2@12.5 c4(@40 g{joined.c4@40 c4j@40 c1?@41 c1j@41 c3?@41 c3j@41 "
        "g%c2@60 g|3@60 c1=3@60 c3=3@60 c4=3@60 g}3@60 c4:3@60 c4+p0@60"
    )
    pause = next(p for p in analyse(told).pauses if p.owner_before == "c1")
    waited = next(phase for phase in pause.phases if phase.kind == "assignment")
    assert (waited.facts.consumer, waited.facts.doing, seconds(waited.length_us)) == (
        "c2",
        "stuck",
        27.5,
    )


def test_the_assignment_waits_for_the_assignor() -> None:
    """The leader knew at once that it leads: then it is the assignor, or the log, that takes the
    time.
    """
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 g{joined.c3@10 c3j@10 c1?@11 c1-p0@11 c1j@11 c2?@11 "
        "c2-p1@11 c2j@11 g|2.c2@12 c1=2@12 c2=2@12 c3=2@12 "
        "g}2@19 c1:2@19 c3:2@19 c3<p1@19 c3>@19 c3*p1@19.3"
    )
    barrier = next(e for e in told.events if type(e) is ev.BarrierCompleted)
    barrier.leader = "c1"
    pause = next(p for p in analyse(told).pauses if p.owner_after == "c3")
    assert (str(pause.phases[1].kind), pause.phases[1].facts.doing) == ("assignment", "assigning")


def test_an_owner_that_is_busy_with_other_records_keeps_a_partition_waiting() -> None:
    pause = first("c1+p0@0 c1=1@0 c1-p0@10 c2<p0@11 c2>@11 c2*p0@61")
    assert (
        str(pause.phases[-1].kind),
        pause.phases[-1].facts.consumer,
        pause.phases[-1].facts.doing,
    ) == ("fetch", "c2", "busy")


def test_what_the_leader_gave_up_before_its_own_join_is_blamed_on_the_topic() -> None:
    """c1, the leader, sees that the topic has grown, gives up what it has, and only then its
    JoinGroup begins the round.
    """
    told = trace(
        "c1(@0 c1j@1 g{joined.c1@1 g|1.c1@2 c1=1@2 g}1@2 c1:1@2 c1+p0@2 t+2@10 c1-p0@20 c1j@20 "
        "g{metadata-changed.c1@20.1 g|2.c1@20.1 "
        "c1=2@20.2 g}2@20.3 c1:2@20.3 c1+p0,p1@20.4"
    )
    place = next(
        n
        for n, e in enumerate(told.events)
        if type(e) is ev.CallbackBegan and e.callback == "revoked"
    )
    told.events.insert(place, ev.RejoinRequested(20_000_000, "c1", "cached metadata has changed"))
    assert {(p.why, p.cause.kind, p.cause.consumer) for p in analyse(told).pauses} == {
        ("grown", "topic-changed", ""),
        ("revoked", "topic-changed", ""),
    }


@pytest.mark.parametrize(
    ("reason", "kind"),
    [
        (
            "Updating metadata for member c2-id during Stable; client reason: rebalance enforced "
            "by user",
            "enforced",
        ),
        (
            "Updating metadata for member c2-id during Stable; client reason: subscription has "
            "changed",
            "subscription-changed",
        ),
        (
            "Updating metadata for member c2-id during Stable; client reason: cached metadata "
            "has changed",
            "topic-changed",
        ),
        (
            "Updating metadata for member c2-id during CompletingRebalance; client reason: "
            "rebalance failed due to DisconnectException",
            "rejoined",
        ),
    ],
)
def test_what_a_member_says_of_its_joining_again_is_the_cause(reason: str, kind: str) -> None:
    """The broker calls all of it the member's metadata."""
    told = trace(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 g{metadata-changed.c2@10 c2j@10 c1?@11 c1-p0@11 c1j@11 "
        "g|2.c1@11 c1=2@11 c2=2@11 g}2@11.1 "
        "c1:2@11.1 c2:2@11.1 c1+p0@11.3"
    )
    next(e for e in told.events if type(e) is ev.GroupStateChanged).reason = reason
    assert next(p for p in analyse(told).pauses if p.owner_before == "c1").cause.kind == kind


def test_nobody_is_said_to_be_back_who_never_came() -> None:
    """The group's last member left, and another one came: nobody was there, and c1 never was
    again.
    """
    told = trace(
        "c1+p0@0 c1=1@0 c1x@10 c1-p0@10 c1l@10 c1)@10 g{left.c1@10 c2(@40 g{joined.c2@41 c2j@41 "
        "g|3.c2@47 c2=3@47 g}3@47 c2:3@47 c2+p0@47.5"
    )
    told.events.insert(
        next(n for n, e in enumerate(told.events) if type(e) is ev.GroupStateChanged) + 1,
        ev.GroupStateChanged(10_000_000, "group", "PreparingRebalance", "Empty", 2),
    )
    away = next(phase for phase in analyse(told).pauses[0].phases if phase.kind == "away")
    assert (away.facts.consumer, away.facts.doing, seconds(away.length_us)) == ("c2", "new", 31)


def test_who_gave_it_up_for_another_may_vanish_unnoticed() -> None:
    """c1 let p1 go for c3, then its process ended: the group waits for c1 at the barrier, and p1
    waits for the group.
    """
    gone = COOPERATIVE.replace("c2?@15 c2j@15", "c1)@14 c2?@15 c2j@15")
    pause = next(
        p
        for p in analyse(trace(gone, protocol="cooperative", statics=("c1",))).pauses
        if p.partition.number == 1
    )
    assert phases(pause)[0][0] == "revoke" and "detection" not in [
        kind for kind, _ in phases(pause)
    ]


def test_one_that_left_because_of_its_batch_is_busy_and_not_away() -> None:
    """The only member outlasted max.poll.interval.ms while nothing else kept it: the group waits
    for its batch.
    """
    told = trace(
        "c1(@0 c1+p0@0 c1=1@0 c1e@10 c1l@10 c1/p0@10 g{poll-expired.c1@10 g{joined.c1@20 c1j@20 "
        "g|3.c1@23 c1=3@23 g}3@23 c1:3@23 c1+p0@23"
    )
    told.events.insert(
        next(n for n, e in enumerate(told.events) if type(e) is ev.GroupStateChanged) + 1,
        ev.GroupStateChanged(10_000_000, "group", "PreparingRebalance", "Empty", 2),
    )
    away = next(phase for p in analyse(told).pauses for phase in p.phases if phase.kind == "away")
    assert (away.facts.consumer, away.facts.doing, seconds(away.length_us)) == ("c1", "busy", 10)


def test_a_follow_up_of_which_an_answer_told_has_no_heartbeat_to_blame() -> None:
    """c3's SyncGroup came too late and was answered that the group rebalances again; until then
    c3 was busy.
    """
    pause = next(
        p
        for p in analyse(
            trace(COOPERATIVE.replace("c3?@15.5", "c3?sync@15.5"), protocol="cooperative")
        ).pauses
        if p.why == "revoked"
    )
    facts = pause.phases[1].facts
    assert (str(pause.phases[1].kind), facts.consumer, facts.doing, facts.timer) == (
        "follow-up",
        "c3",
        "busy",
        "",
    )


COOPERATIVE = (
    "c1+p0,p1@0 c2+p2@0 c1=1@0 c2=1@0 g{joined.c3@10 c3j@10 c1?@11 c1j@11 c2?@11 c2j@11 "
    "g|2.c2@11.5 c1=2@11.5 c2=2@11.5 c3=2@11.5 "
    "g}2@12 c1:2@12 c1[p1@12 c1]@12.5 c1j@12.5 g{leader-rejoined.c1@12.5 c2?@15 c2j@15 c3?@15.5 "
    "c3j@15.6 g|3.c3@15.6 "
    "c1=3@15.6 c2=3@15.6 c3=3@15.6 g}3@16 c3:3@16 c3<p1@16 c3>@16 c3*p1@16.2"
)


def test_a_cooperative_hand_over_waits_for_the_next_rebalance() -> None:
    analysis = analyse(trace(COOPERATIVE, protocol="cooperative"))
    held_up, pause = analysis.pauses
    assert (held_up.why, str(held_up.partition)) == ("callback", "t-0")
    assert phases(pause) == [
        ("revoke", 0.5),
        ("follow-up", 3),
        ("barrier", 0.1),
        ("assignment", 0.4),
        ("fetch", 0.2),
    ]
    facts = pause.phases[1].facts
    assert (facts.consumer, facts.doing, seconds(facts.until_us)) == ("c3", "unaware", 15.5)
    assert [r.generation for r in analysis.rebalances] == [2, 3]
    assert [
        (seconds(d.started_us), seconds(d.ended_us), d.rebalances) for d in analysis.disturbances
    ] == [(10, 16, (0, 1))]


def test_members_alone_tell_the_same() -> None:
    """Without a coordinator's events (a recording, clients' logs) the rounds are put together
    from what members sent.
    """
    for text, protocol in ((EAGER, "eager"), (COOPERATIVE, "cooperative")):
        alone = " ".join(word for word in text.split() if not word.startswith("g"))
        told = analyse(trace(text, protocol=protocol))
        guessed = analyse(trace(alone, protocol=protocol))
        assert [[str(x.kind) for x in p.phases] for p in told.pauses] == [
            [str(x.kind) for x in p.phases] for p in guessed.pauses
        ]
        assert [
            (r.generation, r.trigger, r.last)
            for r in guessed.rounds_by_group["group"]
            if r.generation > 1
        ] == [(r.generation, r.trigger, r.last) for r in told.rounds_by_group["group"]]


def test_nobody_knows_until_the_session_runs_out() -> None:
    pause = first(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c1!@5 g%c1@40 g{session-expired.c1@40 c2?@42 c2j@42 "
        "g|2.c2@42.5 c2=2@42.5 g}2@43 c2:2@43 c2+p0@43.5"
    )
    assert phases(pause) == [("detection", 35), ("notice", 2), ("barrier", 0.5), ("assignment", 1)]
    assert (
        pause.phases[0].facts.consumer,
        pause.phases[0].facts.doing,
        pause.phases[0].facts.timer,
    ) == ("c1", "dead", "session.timeout.ms")
    assert pause.cause.kind == "crashed"


def emptied(text: str, at: float, until: float = 100.0) -> list[Pause]:
    """The pauses of a trace whose coordinator found nobody left for the round that it had begun."""
    told = trace(text, until)
    empty = [
        ev.BarrierCompleted(round(at * 1_000_000), "group", 2, 0, "removal", "c1"),
        ev.GroupStateChanged(round(at * 1_000_000), "group", "PreparingRebalance", "Empty", 2),
    ]
    place = next(
        (n for n, e in enumerate(told.events) if e.at_us > at * 1_000_000), len(told.events)
    )
    told.events[place:place] = empty
    return analyse(told).pauses


def test_a_lone_members_session_ends_when_the_coordinator_says_so() -> None:
    """Nobody is left for a rebalance. From the removal on everybody knows, and nobody is there
    until it has thawed.
    """
    (pause,) = emptied(
        "c1+p0@0 c1=1@0 c1~@5 g%c1.4@49 g{session-expired.c1@49 c1^@80 c1*p0@80.5", 49
    )
    assert phases(pause) == [("detection", 44), ("away", 31), ("fetch", 0.5)]
    known, away = pause.phases[0].facts, pause.phases[1].facts
    assert (known.timer, seconds(known.until_us)) == ("session.timeout.ms", 49)
    assert (away.consumer, away.doing, seconds(away.until_us)) == ("c1", "frozen", 80)


def test_one_that_is_restarted_out_of_its_handler_is_back_and_has_not_come_out_of_it() -> None:
    told = (
        "c1(@0 c1+p0@0 c1=1@0 c1#@5 c1e@30 g%c1@30 g{{poll-expired.c1@30 {} g{{joined.c1@80 "
        "c1j@80 g|3.c1@83 c1=3@83 g}}3@83 c1:3@83 c1+p0@83"
    )
    for meanwhile, doing in (("c1.@79", "stuck"), ("c1!@60 c1(2@79", "away")):
        away = next(
            phase
            for p in emptied(told.format(meanwhile), 30)
            for phase in p.phases
            if phase.kind == "away"
        )
        assert (away.facts.consumer, away.facts.doing) == ("c1", doing)


def test_where_all_are_dead_the_round_waits_for_the_last_of_them_and_then_for_nobody() -> None:
    pause = emptied(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c1!@5 c2!@5 g%c2@47 g{session-expired.c2@47 g%c1@49", 49
    )[1]
    assert str(pause.partition) == "t-1" and pause.is_open
    assert phases(pause) == [("detection", 42), ("barrier", 2), ("away", 51)]
    waited, away = pause.phases[1].facts, pause.phases[2].facts
    assert (waited.consumer, waited.doing, waited.timer) == ("c1", "dead", "session.timeout.ms")
    assert away.consumer == ""


def test_nobody_waits_for_the_callback_of_one_that_was_removed_in_it() -> None:
    """From then on the partition is the group's to give, and that c1's process ends later is no
    silence that anybody has to detect.
    """
    pause = first(
        "c1+p0@0 c1=1@0 g{joined.c2@10 c2j@10 c1?@11 c1[p0@11 g%c1@40 g|2.c2@40 c2=2@40 g}2@40 "
        "c2:2@40 c1]@50 c1)@51 c2+p0@52"
    )
    assert phases(pause) == [("revoke", 29), ("assignment", 12)]


@pytest.mark.parametrize(
    ("removed", "expected"),
    [
        ("c1-id", [("revoke", 9), ("barrier", 10), ("assignment", 1)]),
        ("c1-that-was", [("revoke", 19), ("assignment", 1)]),
    ],
)
def test_what_a_member_was_before_its_restart_may_be_removed_meanwhile(
    removed: str, expected: list[tuple[str, float]]
) -> None:
    told = trace(
        "c1(2@3 g{joined.c1@4 c1j@4 g|2.c1@4 c1=2@4 g}2@4 c1:2@4 c1+p0@5 g{joined.c2@10 c2j@10 "
        "c1?@11 c1[p0@11 g%c1@20 c1]@30 c1j@30 g|3.c1@30 "
        "c1=3@30 c2=3@30 g}3@30 c2:3@30 c2+p0@31"
    )
    next(e for e in told.events if type(e) is ev.MemberRemoved).member_id = removed
    assert phases(next(p for p in analyse(told).pauses if p.why == "revoked")) == expected


def test_a_static_member_is_simply_away() -> None:
    pause = first(
        "c1+p0@0 c1=1@0 c1x@5 c1-p0@5.5 c1)@6 c1(2@20 c1j@20.5 c1=1@20.6 c1:1@20.7 c1<p0@21 "
        "c1>@21 c1*p0@22",
        statics=("c1",),
    )
    assert phases(pause) == [("revoke", 1), ("away", 14.5), ("assignment", 0.5), ("fetch", 1)]
    assert pause.cause.kind == "static-restart"


def test_stuck_until_max_poll_interval_and_then_the_group_acts() -> None:
    pause = first(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c1#@5 c1e@30 g{poll-expired.c1@30 c2?@31 c2j@31 g|2.c2@31 "
        "c2=2@31 g}2@31.5 c2:2@31.5 c2+p0@32"
    )
    assert phases(pause) == [("stuck", 25), ("notice", 1), ("assignment", 1)]
    assert pause.phases[0].facts.timer == "max.poll.interval.ms"


def test_stuck_and_back_in_time() -> None:
    pause = first("c1+p0@0 c1#@5 c1.@8 c1*p0@8.5")
    assert phases(pause) == [("stuck", 3), ("fetch", 0.5)]
    assert (pause.cause.kind, pause.phases[0].facts.timer) == ("stuck", "")


def test_an_open_pause_ends_with_what_it_is_waiting_for() -> None:
    pause = first(
        "c1+p0@0 c2+p1@0 c1=1@0 c2=1@0 c3j@10 g{joined.c3@10 c1?@11 c1-p0@11 c1j@11", until=30
    )
    assert pause.is_open
    assert phases(pause) == [("barrier", 19)]


def test_partitions_that_stood_still_together_share_their_story() -> None:
    one, other = analyse(trace("c1+p0,p1@0 c1-p0,p1@5 c2+p0,p1@9")).pauses
    assert one.story is other.story


@pytest.mark.parametrize("seed", range(60))
def test_phases_add_up_exactly_on_whatever_happens(seed: int) -> None:
    check_random_trace(seed)


@pytest.mark.soak
def test_phases_add_up_exactly_in_ten_thousand_random_runs() -> None:
    for seed in range(1_000, 11_000):
        check_random_trace(seed)


def check_random_trace(seed: int) -> None:
    """Words in any order make no sense as a story, but every pause in it is still cut into
    phases that cover it.
    """
    words = random_words(random.Random(seed))
    for protocol in ("eager", "cooperative", "consumer"):
        analysis = analyse(trace(words, protocol=protocol, statics=("c2",), until=60))
        for pause in analysis.pauses:
            at = pause.started_us
            for phase in pause.phases:
                assert phase.started_us == at < phase.ended_us, f"{pause} in {words}"
                at = phase.ended_us
            assert at == pause.ended_us, f"{pause} in {words}"
            assert all(
                0 <= n < len(analysis.trace.events)
                for phase in pause.phases
                for n in phase.evidence
            )
            assert all(0 <= n < len(analysis.trace.events) for n in pause.cause.evidence)
        for lane in analysis.lanes:
            at = 0
            for segment in lane.segments:
                assert segment.started_us == at, f"{lane.partition} in {words}"
                at = segment.ended_us
            assert at == analysis.horizon_us
        assert analysis.measure("partition_seconds") == sum(
            analysis.measure(f"partition_seconds_{kind}") or 0
            for kind in (
                "stuck",
                "detection",
                "away",
                "notice",
                "revoke",
                "release",
                "interval",
                "barrier",
                "follow_up",
                "pickup",
                "assignment",
                "restore",
                "fetch",
            )
        )


def random_words(stream: random.Random) -> str:
    """Thirty things that happen to three members, four partitions and their group."""
    at, generation, words = 0.0, 1, []
    inside: dict[str, bool] = {}
    for _ in range(30):
        at += stream.choice((0, 0, 0.25, 0.5, 1, 2.5))
        who = f"c{stream.randrange(1, 4)}"
        some = ",".join(f"p{n}" for n in sorted(stream.sample(range(4), stream.randrange(1, 4))))
        what = stream.choice(
            (
                f"{who}+{some}",
                f"{who}+{some}",
                f"{who}-{some}",
                f"{who}/{some}",
                f"{who}*{some}",
                f"{who}!",
                f"{who})",
                f"{who}~",
                f"{who}^",
                f"{who}#",
                f"{who}.",
                f"{who}x",
                f"{who}l",
                f"{who}e",
                f"{who}?",
                f"{who}w",
                f"{who}j",
                f"{who}h",
                f"{who}={generation}",
                f"{who}:{generation}",
                f"{who}<{some}",
                f"{who}[{some}",
                f"{who}(2",
                f"g{{joined.{who}",
                f"g{{left.{who}",
                f"g|{generation}.{who}",
                f"g}}{generation}",
                f"g%{who}",
                "t+5",
            )
        )
        if what[2:3] in ("<", "["):
            if inside.get(who):
                continue
            inside[who] = True
            words += [f"{what}@{at}", f"{who}{'>' if what[2] == '<' else ']'}@{at}"]
            inside[who] = False
            continue
        if what.startswith("g{"):
            generation += 1
        words.append(f"{what}@{at}")
    return " ".join(words)
