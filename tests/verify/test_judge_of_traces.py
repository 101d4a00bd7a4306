"""The judge counts as the recordings' own judge does, and each of its rules does what it says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from tampered import tampered

from rebalsim.verify.judge import Judgement, judge, total

REALITY = Path(__file__).parents[1] / "reality"
JUDGED: dict[str, Any] = json.loads((REALITY / "judged.json").read_text(encoding="utf-8"))


def load(name: str) -> dict[str, Any]:
    with gzip.open(REALITY / "traces" / f"{name}.json.gz", "rt", encoding="utf-8") as f:
        document: dict[str, Any] = json.load(f)
    return document


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_counts_as_the_recordings_own_judge_did(name: str) -> None:
    document = load(name)
    ours = total([judge(document, tampered(document))])
    assert {what: ours[what] for what in JUDGED[name]} == JUDGED[name]
    # what commits were refused is counted here alone
    assert ours.keys() - JUDGED[name].keys() == {"commits_refused", "commits_refused_recorded"}


def recording(gaps: list[tuple[float, float, float]]) -> dict[str, Any]:
    """One partition of c0's, delivered each 40 ms but for these gaps (start, end, age of what
    ended it).
    """
    events: list[dict[str, Any]] = [
        {"t": 0, "member": "c0", "ev": "assigned_begin", "partitions": ["t-0"]},
        {"t": 0, "member": "c0", "ev": "assigned_end"},
        {"t": 0, "member": "c0", "ev": "joined", "generation": 1},
    ]
    at = 10.0
    while at < 20_000:
        gap = next((g for g in gaps if g[0] <= at < g[1]), None)
        if gap is not None:
            at = gap[1]
        events.append(
            {"t": at, "member": "c0", "ev": "records", "n": {"t-0": [0, 0, gap[2] if gap else 5]}}
        )
        at += 40
    return {
        "conf": {"x.poll_ms": 200},
        "steps": [[0, "start", "c0"], [5000, "kill", "c1"]],
        "events": events,
    }


def judged(
    gaps: list[tuple[float, float, float]],
    pauses: list[tuple[float, float]],
    callbacks: list[dict[str, Any]] | None = None,
) -> Judgement:
    mine = (
        callbacks
        if callbacks is not None
        else [{"t": 0, "member": "c0", "kind": "assigned", "partitions": ["t-0"]}]
    )
    return judge(
        recording(gaps),
        {
            "generations": 1,
            "callbacks": mine,
            "pauses": [{"partition": "t-0", "start": a, "end": b} for a, b in pauses],
        },
    )


def test_a_pause_is_right_within_100_ms_or_5_percent() -> None:
    assert judged([(6000, 7000, 990)], [(6000, 7090)]).pauses[0].is_right
    assert not judged([(6000, 7000, 990)], [(6000, 7200)]).pauses[0].is_right
    assert judged([(6000, 10_000, 3990)], [(6000, 10_190)]).pauses[0].is_right


def test_a_missing_pause_counts_as_none_and_a_phantom_as_an_error() -> None:
    [missing] = judged([(6000, 7000, 990)], []).pauses
    assert missing.ours == 0 and not missing.is_right
    [phantom] = judged([], [(6000, 7000)]).pauses
    assert (phantom.real, phantom.ours, phantom.is_right) == (40, 1000, False)


def test_a_gap_that_young_records_end_is_the_producers() -> None:
    assert judged([(6000, 7000, 20)], []).pauses == []


def test_short_gaps_are_no_pauses() -> None:
    assert judged([(6000, 6150, 170)], []).pauses == []


def test_callbacks_are_compared_in_order_and_with_their_partitions() -> None:
    assert judged([], []).members_same == 1
    assert judged(
        [], [], [{"t": 3, "member": "c0", "kind": "assigned", "partitions": ["t-1"]}]
    ).differing == ["c0"]
    assert judged(
        [], [], [{"t": 3, "member": "c0", "kind": "assigned", "partitions": ["t-0"]}]
    ).callbacks_off == [3]
