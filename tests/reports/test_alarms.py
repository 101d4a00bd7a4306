"""What must be told before any figure: the dead, groups that are not stable, records that nobody
will read. In every form.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import SECOND, trace
from told import one

from rebalsim.analysis import analyse
from rebalsim.domain.ids import Partition
from rebalsim.reports import from_json, to_html, to_json, to_markdown, to_terminal
from rebalsim.reports.alarms_told import tell_alarms
from rebalsim.reports.report import Report, VariantReport
from rebalsim.reports.view import View
from rebalsim.trace import events as ev
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.trace import Trace

REFUSED = "InconsistentGroupProtocolException"
TWO = "c0(@0 c1(@0 c0+p0@1 c1+p1@1"


def lived(words: str, *events: TraceEvent, until: float = 100, **options: Any) -> Trace:
    """The trace that the words tell, with these events among them."""
    made = trace(words, until, **options)
    return Trace(made.header, sorted([*made.events, *events], key=lambda e: e.at_us))


def died(at: float, consumer: str, error: str = REFUSED, life: int = 1) -> TraceEvent:
    return ev.ConsumerExited(round(at * SECOND), consumer, life, "fatal", error)


def told(made: Trace) -> list[str]:
    return [alarm.text for alarm in tell_alarms(analyse(made))]


def stuck_in_sync() -> Trace:
    """Two members join, the leader computes for forty seconds, the other one gives up after
    thirty.
    """
    return lived(
        "c0(@0 c1(@0 g{joined.c0@1 c0=1@6 c1=1@6",
        ev.BarrierCompleted(6 * SECOND, "group", 1, 2, "initial-delay", "c1", (), "c0", "range"),
        ev.RequestSent(6 * SECOND, "c1", "SyncGroup", 7, 1),
        ev.CoordinatorLost(36 * SECOND, "c1", "request timed out"),
        ev.RequestSent(46 * SECOND, "c0", "SyncGroup", 8, 1),
        until=60,
    )


def forms(report: Report) -> dict[str, str]:
    return {
        "terminal": to_terminal.render(report, View(400)),
        "markdown": to_markdown.render(report).replace("\\", ""),
        "page": to_html.render(report).replace("\u00a0", " "),
        "json": to_json.render(report),
    }


def test_who_died_of_an_error_is_told_with_when_and_why() -> None:
    text = (
        f"c1 died at 20.000 s of {REFUSED} (it offers no assignor that all the others offer, "
        "too) and did not come back."
    )
    assert told(lived(TWO, died(20, "c1"))) == [text]


FULL = "GroupMaxSizeReachedException"
EPOCH = ev.EpochBumped(10 * SECOND, "group", 3, "joined", "c0")


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ((died(20, "c1", FULL),), "the group had group.max.size members already"),
        ((EPOCH, died(20, "c1", FULL)), "the group had group.consumer.max.size members already"),
        (
            (
                EPOCH,
                ev.GroupStateChanged(
                    15 * SECOND, "group", "Stable", "PreparingRebalance", 3, "joined", "c0"
                ),
                died(20, "c1", FULL),
            ),
            "the group had group.max.size members already",
        ),
        (
            (EPOCH, died(20, "c1", REFUSED)),
            "the group speaks the consumer protocol, and group.consumer.migration.policy lets no "
            "classic member in",
        ),
        ((died(20, "c1", REFUSED),), "it offers no assignor that all the others offer, too"),
    ],
)
def test_who_is_refused_is_told_by_which_setting_of_what_the_group_was_then(
    events: tuple[TraceEvent, ...], reason: str
) -> None:
    made = lived(TWO, *events)
    for facts in made.header.consumers.values():
        facts.assignors = ("range",)
    text = f"c1 died at 20.000 s of {events[-1].error} ({reason}) and did not come back."
    assert text in told(made)


def test_an_assignor_that_the_other_classic_members_lack_is_named_before_any_policy() -> None:
    made = lived(TWO, EPOCH, died(20, "c1", REFUSED))
    made.header.consumers["c0"].assignors, made.header.consumers["c1"].assignors = (
        ("sticky",),
        ("range",),
    )
    assert any(
        "it offers no assignor that all the others offer, too" in text for text in told(made)
    )


def test_who_was_started_again_is_told_as_that() -> None:
    assert told(lived(f"{TWO} c1(2@30", died(20, "c1", "KafkaException"))) == [
        "c1 died at 20.000 s of KafkaException; it was started again at 30.000 s."
    ]


def test_who_dies_again_and_again_is_told_once() -> None:
    crashes = [
        died(20, "c1", "RuntimeException"),
        died(40, "c1", "RuntimeException", 2),
        died(60, "c1", "RuntimeException", 3),
    ]
    assert told(lived(f"{TWO} c1(2@30 c1(3@50 c1(4@70", *crashes)) == [
        "c1 died 3 times of RuntimeException, for the first time at 20.000 s, and was started "
        "again each time."
    ]


def test_many_that_died_alike_share_a_sentence() -> None:
    names = [f"c{i}" for i in range(5)]
    (text,) = told(
        lived(" ".join(f"{n}(@0" for n in names), *(died(20 + i, n) for i, n in enumerate(names)))
    )
    assert text.startswith(f"c0, c1 and 3 more died from 20.000 s to 24.000 s of {REFUSED}")


def test_the_killed_are_told_only_if_they_stay_away() -> None:
    assert told(trace(f"{TWO} c1!@20")) == ["c1 was killed at 20.000 s and did not come back."]
    assert told(trace(f"{TWO} c1!@20 c1(2@30")) == []


def test_whoever_stopped_by_its_own_will_is_no_alarm() -> None:
    assert told(trace(f"{TWO} c1x@20 c1)@21")) == []


def test_a_fenced_consumer_is_told_with_whoever_has_its_identity() -> None:
    made = lived(TWO, died(20, "c1", "FencedInstanceIdException"), statics=("c0", "c1"))
    made.header.consumers.update(
        {c: replace(f, instance_id="one") for c, f in made.header.consumers.items()}
    )
    assert told(made) == [
        "c1 died at 20.000 s of FencedInstanceIdException (its group.instance.id is c0's now) "
        "and did not come back."
    ]


def test_a_group_that_never_became_stable_is_told_with_its_reason() -> None:
    (text,) = told(stuck_in_sync())
    assert text.startswith(
        "The group never became stable: after 1 m and 1 generation nobody has been assigned "
        "anything. c1 gave up waiting for SyncGroup "
        "after 30.0 s (request.timeout.ms), while the leader c0 took 40.0 s to send the assignment"
    )


def test_a_group_that_nobody_had_a_partition_of_did_not_stand_still_for_nought_seconds() -> None:
    text = to_terminal.render(one(stuck_in_sync()), View(100))
    assert "No partition stood still, for nobody ever had one." in text
    assert "longest pause        -\n" in text and "time to settle       not within 1 m\n" in text
    assert "\n  group     " in text, "the group's states are shown all the same"


def test_a_group_that_was_not_stable_at_the_end_is_told_as_that() -> None:
    words = "c0(@0 g{joined.c0@1 g|1.c0@2 c0=1@2 g}1@2 c0:1@2 c0+p0@2 g{joined.c1@90"
    assert told(trace(words)) == [
        "The group was not stable when the observation ended: it has not been since 1:30.000, "
        "when c1 joined."
    ]


def torn() -> Trace:
    """c0 gives t-1 up for c1, is killed before it can join again, and takes its old place."""
    words = (
        "c0(@0 g|1.c0@1 c0=1@1 g}1@1 c0:1@1 c0+p0,p1@1 c1(@10 g{joined.c1@10 g|2.c0@11 c0=2@11 "
        "c1=2@11 g}2@11 c0:2@11 c1:2@11 "
        "c0[p1@11 c0!@12 c0(2@13 c0=2@14 c0:2@14 c0+p0@14"
    )
    made = lived(
        words,
        ev.MemberAdded(14 * SECOND, "group", "c0", "c0-2", "replacement"),
        statics=("c0", "c1"),
    )
    for n, e in enumerate(made.events):
        if type(e) is ev.BarrierCompleted:
            made.events[n] = replace(e, assignor="cooperative-sticky")
        elif type(e) is ev.AssignmentReceived and e.consumer == "c0":
            made.events[n] = replace(e, partitions=(Partition("t", 0),))
    return made


def test_what_a_stable_group_has_given_to_nobody_is_told_with_its_reason() -> None:
    (text,) = told(torn())
    assert text == (
        "Nobody has t-1 since 12.000 s, though the group is stable: c0 was giving it up for "
        "others, restarted under its static id before joining "
        "again, and took its old place without a rebalance, so the second round of the hand-over "
        "never came. Any later rebalance ends it."
    )
    assert "\x1b[1;31m! Nobody has t-1" in to_terminal.render(
        one(torn()), View(400, is_coloured=True)
    )


def test_skipped_records_are_told_as_lost_and_warned_of() -> None:
    p = Partition("t", 0)
    begun, skip = (
        ev.PositionFound(SECOND, "c0", p, 0, "latest"),
        ev.PositionFound(31 * SECOND, "c1", p, 700, "latest", 100),
    )
    made = lived("c0(@0 c1(@0 c0+p0@1 c0-p0@30 c1+p0@31", begun, skip)
    (text,) = told(made)
    assert (
        text == "600 records of t-0 will never be read: their owners began behind them "
        "(auto.offset.reset: latest)."
    )
    coloured = to_terminal.render(one(made), View(100, is_coloured=True))
    assert "\x1b[1;33m600\x1b[0m" in coloured and "skipped, never read" in coloured


PS = (Partition("t", 0), Partition("t", 1))
NO_LEADER = lived(
    TWO,
    ev.BrokerChanged(20 * SECOND, 1, False, leaderless=PS),
    ev.BrokerChanged(50 * SECOND, 1, True),
)


def test_partitions_without_a_leader_are_told_though_their_owner_did_not_stop() -> None:
    (text,) = told(NO_LEADER)
    assert text == (
        "t-0 and t-1 had no leader for 30.0 s, from 20.000 s on, when broker 1 went down: nobody "
        "could read or write there. That counts as lag "
        "and not as a pause, since the owner did not stop."
    )


def test_partitions_that_lose_and_find_their_leaders_apart_are_told_apart() -> None:
    down = [
        ev.BrokerChanged(20 * SECOND, 1, False, leaderless=PS[:1]),
        ev.BrokerChanged(30 * SECOND, 2, False, leaderless=PS),
    ]
    first, second = told(
        lived(TWO, *down, ev.BrokerChanged(40 * SECOND, 1, True, leaderless=PS[1:]))
    )
    assert first.startswith(
        "t-0 had no leader for 20.0 s, from 20.000 s on, when broker 1 went down"
    )
    assert second.startswith("t-1 had no leader from 30.000 s to the end, when broker 2 went down")


def test_alarms_are_red() -> None:
    assert "\x1b[1;31m! c1 died at 20.000 s" in to_terminal.render(
        one(lived(TWO, died(20, "c1"))), View(400, is_coloured=True)
    )


@pytest.mark.parametrize("form", ["terminal", "markdown", "page", "json"])
def test_every_form_tells_the_dead(form: str) -> None:
    assert f"c1 died at 20.000 s of {REFUSED}" in forms(one(lived(TWO, died(20, "c1"))))[form]


def test_the_same_of_two_variants_is_told_once() -> None:
    variants = tuple(
        VariantReport(name, analyse(lived(TWO, died(20, "c1"))))
        for name in ("eager", "cooperative")
    )
    text = to_terminal.render(Report("t", variants), View(400))
    assert text.count("c1 died at") == 1 and "! eager and cooperative alike: c1 died" in text


def test_alarms_survive_a_result_that_was_kept() -> None:
    for made in (lived(TWO, died(20, "c1")), stuck_in_sync(), torn(), NO_LEADER):
        document = to_json.document_of(one(made))
        kept = from_json.report_from(document, "kept.json")
        assert kept.variants[0].analysis.alarms == analyse(made).alarms
        assert [a.text for a in tell_alarms(kept.variants[0].analysis)] == told(made)
