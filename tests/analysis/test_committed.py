"""Committed offsets: exact where the trace tells, reckoned in steady times, and never beyond
where the next owner began.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from builders import trace

from rebalsim.analysis import Analysis, analyse
from rebalsim.analysis.committed import committed_at
from rebalsim.domain.ids import Partition
from rebalsim.scenario.load import load_scenario
from rebalsim.simulation.world import World
from rebalsim.trace import events as ev
from rebalsim.trace.trace import Trace

SECOND = 1_000_000
P = Partition("t", 0)
CRASH = "c0(@0 c1(@0 c0+p0@1 c0!@18 g%c0@60 c1+p0@60"


def told(words: str, **facts: object) -> Trace:
    made = trace(words)
    made.header.consumers.update(
        {
            name: replace(f, **{"auto_commit_us": 5 * SECOND, **facts})
            for name, f in made.header.consumers.items()
        }
    )  # type: ignore[arg-type]
    return made


def committed(a: Analysis, at: float) -> int | None:
    """Ten records a second are handled at once."""
    return committed_at(a, "group", round(at * SECOND), lambda _, at_us: at_us // 100_000).get(P)


def test_steady_times_are_reckoned_by_the_interval_since_the_assignment() -> None:
    a = analyse(told(CRASH))
    assert [committed(a, at) for at in (0.5, 5, 6, 10.9, 11, 17, 30)] == [
        None,
        None,
        60,
        60,
        110,
        160,
        160,
    ]


@pytest.mark.parametrize("variant", ["eager", "cooperative", "consumer"])
def test_what_is_reckoned_is_when_the_periodic_commits_were_sent(variant: str) -> None:
    """Played with every tick an event, which tells each of them."""
    scenario = load_scenario("scale-out", ["replay=[eager,cooperative,consumer]"]).scenario(variant)
    a = analyse(World(scenario, 1, is_wire=True, drive=None).play())
    holder = {p: holdings[-1] for (_, p), holdings in a.holdings.items()}
    sent = [
        (e.at_us, e.consumer)
        for e in a.trace.events
        if type(e) is ev.RequestSent and e.api == "OffsetCommit"
    ]
    for at in (75, 83, 91, 111):
        reckoned = committed_at(a, "group", at * SECOND, lambda _, at_us: at_us)
        for p, h in holder.items():
            last = max(at_us for at_us, who in sent if who == h.consumer and at_us <= at * SECOND)
            assert abs(reckoned[p] - last) < 200_000, (p, h.consumer, at)


def test_where_the_next_owner_finds_nothing_committed_nobody_had_committed() -> None:
    made = told(CRASH)
    made.events.append(ev.PositionFound(60 * SECOND, "c1", P, 0, "earliest", 180))
    made.events.sort(key=lambda e: e.at_us)
    assert committed(analyse(made), 30) is None


def test_where_the_next_owner_began_is_what_had_been_committed() -> None:
    """The trace says 140: the last commit came a little before it was reckoned; whoever is dead
    commits nothing more.
    """
    made = told(CRASH)
    made.events.append(ev.PositionFound(60 * SECOND, "c1", P, 140, "committed", 180))
    made.events.sort(key=lambda e: e.at_us)
    a = analyse(made)
    assert [committed(a, at) for at in (12, 17, 30, 60)] == [110, 140, 140, 140]


def test_who_is_stuck_commits_nothing() -> None:
    a = analyse(told("c0(@0 c0+p0@1 c0#@12 c0.@40 c0*p0@40"))
    assert [committed(a, at) for at in (11, 39, 41)] == [110, 110, 400]


def test_a_commit_before_a_rebalance_is_told_unless_it_was_refused() -> None:
    sent = told("c0(@0 c0+p0@1 c0w@13")
    assert committed(analyse(sent), 14) == 130
    sent.events.append(ev.CommitRefused(13 * SECOND + 1, "c0", "UNKNOWN_MEMBER_ID"))
    assert committed(analyse(sent), 14) == 110


def test_an_application_commits_with_its_batches_or_not_at_all() -> None:
    by_hand = {"is_auto_commit": False, "auto_commit_us": -1}
    assert committed(analyse(told("c0(@0 c0+p0@1", commit="sync-batch", **by_hand)), 13) == 130
    assert committed(analyse(told("c0(@0 c0+p0@1", commit="none", **by_hand)), 13) is None
