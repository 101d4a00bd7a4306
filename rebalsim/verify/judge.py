"""How far a prediction agrees with a recording: generations, callbacks and their times, and each
gap in the deliveries.

A prediction has the form {"generations": n, "callbacks": [{"t", "member", "kind",
"partitions"}], "pauses": [{"partition", "start", "end"}]}, in ms of the recording's clock. A
pause is right within 100 ms or 5 % of the longer of the two; pauses that began and ended
together are one event, right when nine in ten of them are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.verify.pause_error import PauseError

LEAST_GAP_MS = 200  # shorter gaps are not told from the ordinary spacing of batches
TOGETHER_MS = 300  # pauses whose ends are nearer than this are one event
_CALLBACKS = {
    "revoked_begin": Callback.REVOKED,
    "assigned_begin": Callback.ASSIGNED,
    "lost_begin": Callback.LOST,
}


@dataclass(slots=True)
class Judgement:
    """What came of one recording."""

    generations: tuple[int, int | None]  # theirs, ours
    members: int = 0
    members_same: int = 0
    callbacks_off: list[float] = field(default_factory=list)
    pauses: list[PauseError] = field(default_factory=list)
    events: int = 0
    events_right: int = 0
    commits_refused: tuple[int, int] = (0, 0)  # theirs, ours
    differing: list[str] = field(default_factory=list)  # members whose callbacks differ


def deliveries(document: dict[str, Any]) -> dict[str, list[tuple[float, float]]]:
    """Partition → (handed over at, age of the oldest record), by the member that had it assigned
    at that time.
    """
    owner: dict[str, str | None] = {}
    seen: dict[str, list[tuple[float, float]]] = {}
    for event in document["events"]:
        what = event["ev"]
        if what == "records":
            for partition, offsets in event["n"].items():
                if owner.get(partition) == event["member"]:
                    seen.setdefault(partition, []).append(
                        (event["t"], offsets[2] if len(offsets) > 2 else float("inf"))
                    )
        elif what == "assigned_begin":
            for partition in event["partitions"]:
                owner[partition] = event["member"]
        elif what in ("revoked_begin", "lost_begin"):
            for partition in event["partitions"]:
                if owner.get(partition) == event["member"]:
                    owner[partition] = None
    return seen


def least_gap(document: dict[str, Any], seen: dict[str, list[tuple[float, float]]]) -> float:
    """The gap that counts as a pause: where handlers are slow, a quarter above the longest one
    of the quiet time after the start.
    """
    conf = document["conf"]
    least = conf["x.poll_ms"] + 50 if conf.get("group.protocol") == "consumer" else LEAST_GAP_MS
    first = next(
        (event["t"] for event in document["events"] if event["ev"] == "assigned_end"), None
    )
    moments = sorted({step[0] for step in document["steps"]})
    if first is None or len(moments) < 2:
        return float(least)
    longest = 0.0
    for times in seen.values():
        for (before, _), (after, _) in pairwise(times):
            if before >= first + 2500 and after <= moments[1]:
                longest = max(longest, after - before)
    return max(float(least), 1.25 * longest)


def callbacks_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    """The recording's callbacks that had partitions."""
    return [
        {
            "t": event["t"],
            "member": event["member"],
            "kind": _CALLBACKS[event["ev"]],
            "partitions": sorted(event["partitions"]),
        }
        for event in document["events"]
        if event["ev"] in _CALLBACKS and event["partitions"]
    ]


def judge(document: dict[str, Any], prediction: dict[str, Any]) -> Judgement:
    """Hold a prediction against the recording."""
    joined = [event["generation"] for event in document["events"] if event["ev"] == "joined"]
    result = Judgement((max(joined, default=0), prediction.get("generations")))
    refused = sum(event["ev"] == "commit_failed" for event in document["events"])
    result.commits_refused = refused, prediction.get("commits_refused", 0)
    _judge_callbacks(result, callbacks_of(document), prediction["callbacks"])
    _judge_pauses(result, document, prediction["pauses"])
    return result


def _by_member(
    callbacks: Iterable[dict[str, Any]],
) -> dict[str, list[tuple[str, tuple[str, ...], float]]]:
    members: dict[str, list[tuple[str, tuple[str, ...], float]]] = {}
    for callback in callbacks:
        if callback["partitions"]:
            members.setdefault(callback["member"], []).append(
                (callback["kind"], tuple(sorted(callback["partitions"])), callback["t"])
            )
    return members


def _judge_callbacks(
    result: Judgement, theirs: list[dict[str, Any]], ours: list[dict[str, Any]]
) -> None:
    real, predicted = _by_member(theirs), _by_member(ours)
    for member in dict.fromkeys([*real, *predicted]):
        a, b = real.get(member, []), predicted.get(member, [])
        result.members += 1
        if [entry[:2] for entry in a] == [entry[:2] for entry in b]:
            result.members_same += 1
            result.callbacks_off.extend(abs(x[2] - y[2]) for x, y in zip(a, b))
        else:
            result.differing.append(member)


def _judge_pauses(
    result: Judgement, document: dict[str, Any], pauses: list[dict[str, Any]]
) -> None:
    seen = deliveries(document)
    least = least_gap(document, seen)
    ours: dict[str, list[dict[str, Any]]] = {}
    for pause in pauses:
        times = seen.get(pause["partition"])
        if times and pause["end"] > times[0][0] and pause["start"] < times[-1][0]:
            ours.setdefault(pause["partition"], []).append(pause)
    used: set[int] = set()
    for partition, times in sorted(seen.items()):
        result.pauses += _recorded(partition, times, ours.get(partition, []), least, used)
    for partition, listed in ours.items():
        left = [p for p in listed if id(p) not in used and p["end"] - p["start"] > least]
        result.pauses += [_unmatched(p, seen[partition]) for p in left]
    events = _events(result.pauses)
    result.events = len(events)
    result.events_right = sum(
        sum(e.is_right for e in event) >= 0.9 * len(event) for event in events
    )


def _recorded(
    partition: str,
    times: list[tuple[float, float]],
    ours: list[dict[str, Any]],
    least: float,
    used: set[int],
) -> Iterator[PauseError]:
    """Each pause of the recording against ours that has most in common with it, which goes into
    `used`.
    """
    for (start, _), (end, age) in pairwise(times):
        gap = end - start
        if gap <= least or age <= gap - 200:
            continue  # a young record: the producer stood still, not the group
        best, most = None, 0.0
        for pause in ours:
            common = min(end, pause["end"]) - max(start, pause["start"])
            if common > most:
                best, most = pause, common
        if best is not None:
            used.add(id(best))
        got = best["end"] - best["start"] if best is not None else 0.0
        yield PauseError(partition, start, gap, got)


def _unmatched(pause: dict[str, Any], times: list[tuple[float, float]]) -> PauseError:
    """A pause of ours that the recording has not, against the longest gap that it meets."""
    met = (b - a for (a, _), (b, _) in pairwise(times) if b > pause["start"] and a < pause["end"])
    length = pause["end"] - pause["start"]
    return PauseError(pause["partition"], pause["start"], max(met, default=0.0), length)


def _events(pauses: Iterable[PauseError]) -> list[list[PauseError]]:
    """Group the pauses that begin and end together."""
    events: list[list[PauseError]] = []
    for error in sorted(pauses, key=lambda e: (e.start, e.start + e.real)):
        for event in events:
            if (
                abs(event[0].start - error.start) < TOGETHER_MS
                and abs(event[0].start + event[0].real - error.start - error.real) < TOGETHER_MS
            ):
                event.append(error)
                break
        else:
            events.append([error])
    return events


def total(judgements: Iterable[Judgement]) -> dict[str, Any]:
    """One object over many recordings: shares weigh recordings alike, medians pool all errors."""
    results = list(judgements)
    pauses = [error.off for result in results for error in result.pauses]
    callbacks = [off for result in results for off in result.callbacks_off]
    return {
        "recordings": len(results),
        "generations_right": sum(
            result.generations[0] == result.generations[1] for result in results
        ),
        "members": sum(result.members for result in results),
        "members_same": sum(result.members_same for result in results),
        "callback_ms": [_at(callbacks, 0.5), _at(callbacks, 0.9)],
        "pauses": sum(len(result.pauses) for result in results),
        "pauses_within": sum(error.is_right for result in results for error in result.pauses),
        "events": sum(result.events for result in results),
        "events_within": sum(result.events_right for result in results),
        "pauses_percent": _mean(
            [sum(e.is_right for e in r.pauses) / len(r.pauses) for r in results if r.pauses]
        ),
        "events_percent": _mean([r.events_right / r.events for r in results if r.events]),
        "pause_error_ms": [_at(pauses, 0.5), _at(pauses, 0.95)],
        "commits_refused": sum(result.commits_refused[1] for result in results),
        "commits_refused_recorded": sum(result.commits_refused[0] for result in results),
    }


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0


def _mean(shares: list[float]) -> float:
    return round(100 * sum(shares) / len(shares), 1) if shares else 100.0
