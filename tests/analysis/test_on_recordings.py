"""Recordings of real consumers are analysed without complaint, and their pauses are those that
the deliveries show.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from rebalsim.analysis import Analysis, analyse
from rebalsim.domain.metrics import HEADLINES, METRICS
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.recording import trace_of_recording

TRACES = sorted((Path(__file__).parents[1] / "reality" / "traces").glob("*.json.gz"))
NAMES = [path.name.removesuffix(".json.gz") for path in TRACES]


@cache
def document(name: str) -> dict[str, Any]:
    return dict(json.loads(text_of(TRACES[NAMES.index(name)])))


@cache
def analysis(name: str) -> Analysis:
    return analyse(trace_of_recording(document(name), name))


@pytest.mark.parametrize("name", NAMES)
def test_phases_add_up_and_nothing_is_violated(name: str) -> None:
    found = analysis(name)
    assert found.violations == []
    assert found.pauses
    for pause in found.pauses:
        at = pause.started_us
        for phase in pause.phases:
            assert phase.started_us == at < phase.ended_us
            at = phase.ended_us
        assert at == pause.ended_us


@pytest.mark.parametrize("name", NAMES)
def test_every_metric_can_be_measured(name: str) -> None:
    found = analysis(name)
    for metric in METRICS:
        value = found.measure(metric)
        assert value is None or value >= 0, metric
    assert list(found.summary) == list(HEADLINES)
    is_new = found.header.consumers["c0"].protocol == "consumer"
    assert (found.measure("generations") is None) == is_new


@pytest.mark.parametrize("name", NAMES)
def test_pauses_are_the_gaps_between_deliveries(name: str) -> None:
    """Every gap over 300 ms that no busy handler explains is a pause, off by no more than the
    spacing of batches; and the other way round.
    """
    doc = document(name)
    if doc["conf"].get("x.record_us"):
        pytest.skip("its handler's batches are as long as pauses")
    gaps, pauses = _gaps(doc), analysis(name).pauses
    found: dict[str, list[tuple[float, float]]] = {}
    for p in pauses:
        found.setdefault(str(p.partition), []).append((p.started_us / 1000, p.ended_us / 1000))
    other_lengths = []
    for partition, start, end in gaps:
        twin = max(found.get(partition, [(0, 0)]), key=lambda p: min(p[1], end) - max(p[0], start))
        if abs((twin[1] - twin[0]) - (end - start)) > 150:
            other_lengths.append((partition, start, end, twin))
    assert other_lengths == []
    no_gaps = [
        p
        for p in pauses
        if p.length_us > 500_000
        and not p.is_open
        and p.owner_before
        and not any(
            q == str(p.partition)
            and abs(a - p.started_us / 1000) <= 150
            and abs(b - p.ended_us / 1000) <= 250
            for q, a, b in gaps
        )
    ]
    assert no_gaps == []
    assert gaps or all(p.length_us <= 500_000 for p in pauses if not p.is_open and p.owner_before)


def _gaps(doc: dict[str, Any]) -> list[tuple[str, float, float]]:
    """Gaps between deliveries to the partition's owner, where the records waited all the time."""
    owner: dict[str, str] = {}
    last: dict[str, float] = {}
    gaps = []
    for e in doc["events"]:
        if e["ev"] == "assigned_begin":
            owner.update(dict.fromkeys(e["partitions"], e["member"]))
        elif e["ev"] == "records":
            for p, (_, _, age) in e["n"].items():
                if owner.get(p) == e["member"]:
                    if p in last and e["t"] - last[p] > 300 and age > e["t"] - last[p] - 200:
                        gaps.append((p, last[p], e["t"]))
                    last[p] = e["t"]
    return gaps


def test_rebalances_are_counted_as_the_house_does() -> None:
    """The group's birth is none; a cooperative hand-over is two; an eager one is one; a static
    return is none.
    """
    assert analysis("scale-out-coop").measure("rebalances") == 4
    assert analysis("scale-out-coop").measure("disturbances") == 2
    assert analysis("scale-out-eager").measure("rebalances") == 2
    static = analysis("static-eager")
    assert [r.trigger for r in static.rebalances if not r.is_formation] == [
        "session-expired",
        "joined",
    ]  # c1 came back unnoticed
    assert static.client_metrics["c1"]["rebalance-total"] == 4  # but counts its return itself


def test_the_barrier_is_blamed_on_the_right_member() -> None:
    """slow-poll: c1 hangs for 9 s with max.poll.interval.ms 6.3 s."""
    stuck = [p for p in analysis("slow-poll-eager").pauses if p.why == "stuck"]
    assert {p.phases[0].facts.timer for p in stuck} == {"max.poll.interval.ms"}
    assert {p.cause.kind for p in stuck} == {"stuck"}
    storm = analysis("storm-coop")
    blamed = {
        (p.facts.consumer, p.facts.doing)
        for pause in storm.pauses
        for p in pause.phases
        if p.kind == "barrier" and p.length_us > 1_000_000
    }
    assert blamed == {("c2", "stuck"), ("c3", "stuck")}
    answers = {a.question: a.is_yes for a in storm.answers}
    assert answers == {
        "crash-loop": False,
        "outlasts-poll-interval": True,
        "shared-instance-id": False,
        "cooperative-in-use": True,
    }


def test_the_cooperative_wait_is_the_follow_up() -> None:
    for pause in analysis("scale-out-coop").pauses:
        spent = {str(p.kind): p.length_us for p in pause.phases}
        assert 900_000 <= spent["follow-up"] <= 1_100_000  # a whole heartbeat interval
        assert sum(spent.values()) == pause.length_us
    assert analysis("scale-out-coop").measure("pause_follow_up") < analysis(
        "scale-out-coop"
    ).measure("longest_pause")  # type: ignore[operator]
