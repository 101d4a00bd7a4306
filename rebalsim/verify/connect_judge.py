"""The judge of Connect traces: what a recording shows against what a prediction says.

Rounds, what each worker starts and stops and in which order, and pauses longer than the ordinary
spacing of polls and batches; a pause is right within 150 ms or 5 %.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.verify.pause_error import PauseError

SHORTEST_MS = 350  # what polls (100 ms) and batches leave between them anyway
SLACK_MS = 150
TOGETHER_MS = 1000  # moments of one kind closer than this are one
UNTOLD_MS = 900  # a killed process takes up to so much of its last report with it
Spans = dict[str, list[tuple[float, float]]]


@dataclass(slots=True)
class ConnectJudgement:
    """One recording, judged."""

    generations: tuple[int, int]
    are_delays_same: bool
    delay_errors: list[float]  # of remaining delays, where both sides have one
    workers: list[str]
    differing: list[str]  # workers that started or stopped something else
    work_ms: list[float]
    pauses: list[PauseError] = field(default_factory=list)


# --------------------------------------------------------------------------------- what was recorded


def observed(document: Mapping[str, Any]) -> dict[str, Any]:
    """The recording, in the form of a prediction."""
    rounds: dict[int, dict[str, Any]] = {}
    work = []
    for e in document["events"]:
        kind = e["ev"]
        if kind == Callback.ASSIGNED:
            rounds.setdefault(
                e["generation"], {"generation": e["generation"], "delay": e["delay"], "t": e["t"]}
            )
        elif kind in ("start_begin", "stop_begin", "connector_start", "connector_stop"):
            what = e.get("task") or e["connector"]
            how = "start" if "start" in kind else "stop"
            work.append({"t": e["t"], "worker": e["worker"], "what": what, "kind": how})
    return {
        "generations": max(rounds, default=0),
        "rounds": list(rounds.values()),
        "work": work,
        "pauses": _pauses(activity(document)),
    }


def activity(document: Mapping[str, Any]) -> Spans:
    """Source task or sink partition → stretches in which it was handled without a break."""
    spans: Spans = defaultdict(list)
    held: dict[str, set[str]] = defaultdict(set)
    for e in document["events"]:
        mine = held[e["worker"]]
        match e["ev"]:
            case "first_poll":
                mine.add(e["task"])
            case "stop_begin":
                mine.discard(e["task"])
            case "open":
                mine.update(e["partitions"])
            case "close":
                mine.difference_update(e["partitions"])
            case "do_kill":
                _lengthen(spans, held.pop(e["worker"]), e["t"])
            case "polls" | "puts":
                _take_report(spans, e)
    return {what: sorted(found) for what, found in spans.items() if found}


def _lengthen(spans: Spans, held: Iterable[str], killed: float) -> None:
    """What a process had no time to tell counts as handled until its death."""
    for what in held:
        if spans[what] and 0 < killed - spans[what][-1][1] < UNTOLD_MS:
            spans[what].append((spans[what][-1][1], killed))


def _take_report(spans: Spans, e: Mapping[str, Any]) -> None:
    for name, (_, first, last, longest, since) in e["n"].items():
        what = e["task"] if e["ev"] == "polls" else name
        if longest > SHORTEST_MS:
            spans[what] += [(first, since), (since + longest, last)]
        else:
            spans[what].append((first, last))


def _pauses(spans: Spans) -> list[dict[str, Any]]:
    found = []
    for what, stretches in sorted(spans.items()):
        until = stretches[0][1]
        for begin, end in stretches[1:]:
            if begin - until > SHORTEST_MS:
                found.append({"what": what, "start": until, "end": begin})
            until = max(until, end)
    return found


# ------------------------------------------------------------------------------------------ judging


def judge(document: Mapping[str, Any], prediction: Mapping[str, Any]) -> ConnectJudgement:
    """The prediction against what was recorded."""
    return _judged(observed(document), prediction, activity(document))


def judge_prediction(other: Mapping[str, Any], prediction: Mapping[str, Any]) -> ConnectJudgement:
    """The prediction against another one, as if that had been recorded."""
    long = [p for p in other["pauses"] if p["end"] - p["start"] > SHORTEST_MS]
    everywhere = {
        p["what"]: [(float("-inf"), float("inf"))] for p in (*long, *prediction["pauses"])
    }
    return _judged({**other, "pauses": long}, prediction, everywhere)


def _judged(
    real: Mapping[str, Any], prediction: Mapping[str, Any], spans: Spans
) -> ConnectJudgement:
    theirs, ours = _sequences(real["work"]), _sequences(prediction["work"])
    workers = sorted(set(theirs) | set(ours))
    same = [w for w in workers if _moments(theirs[w]) == _moments(ours[w])]
    delays = [r["delay"] for r in real["rounds"]], [r["delay"] for r in prediction["rounds"]]
    are_same = [d > 0 for d in delays[0]] == [d > 0 for d in delays[1]]
    return ConnectJudgement(
        (real["generations"], prediction["generations"]),
        are_same,
        [abs(a - b) for a, b in zip(*delays, strict=True) if a or b] if are_same else [],
        workers,
        [w for w in workers if w not in same],
        [abs(a[2] - b[2]) for w in same for a, b in zip(theirs[w], ours[w], strict=True)],
        _pause_errors(real["pauses"], prediction["pauses"], spans),
    )


_Moment = tuple[str, set[str], float]


def _sequences(work: Sequence[Mapping[str, Any]]) -> dict[str, list[_Moment]]:
    """Per worker what it started and stopped, by moments."""
    found: dict[str, list[_Moment]] = defaultdict(list)
    for w in sorted(work, key=lambda w: w["t"]):
        moments = found[w["worker"]]
        last = moments[-1] if moments else None
        if last is not None and last[0] == w["kind"] and w["t"] - last[2] < TOGETHER_MS:
            last[1].add(w["what"])
        else:
            moments.append((w["kind"], {w["what"]}, w["t"]))
    return found


def _moments(sequence: Sequence[_Moment]) -> list[tuple[str, set[str]]]:
    return [(kind, what) for kind, what, _ in sequence]


def is_observable(pause: Mapping[str, Any], spans: Spans) -> bool:
    """Does it lie between the first and the last time that anything was handled?"""
    seen = spans.get(pause["what"])
    return bool(seen and pause["end"] > seen[0][0] and pause["start"] < seen[-1][1])


def _pause_errors(
    real: Sequence[Mapping[str, Any]], ours: Sequence[Mapping[str, Any]], spans: Spans
) -> list[PauseError]:
    """Each recorded pause with the predicted one that overlaps it most; then those that nobody
    recorded.
    """
    mine: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for p in ours:
        if is_observable(p, spans):
            mine[p["what"]].append(p)
    errors, used = [], set()
    for p in real:
        best, overlap = -1, 0.0
        for i, q in enumerate(mine[p["what"]]):
            both = min(p["end"], q["end"]) - max(p["start"], q["start"])
            if both > overlap:
                best, overlap = i, both
        length = 0.0
        if best >= 0:
            used.add((p["what"], best))
            length = mine[p["what"]][best]["end"] - mine[p["what"]][best]["start"]
        errors.append(PauseError(p["what"], p["start"], p["end"] - p["start"], length, SLACK_MS))
    for what, predicted in mine.items():
        for i, q in enumerate(predicted):
            if (what, i) not in used and q["end"] - q["start"] > SHORTEST_MS:
                errors.append(PauseError(what, q["start"], 0.0, q["end"] - q["start"], SLACK_MS))
    return errors


def total(results: Sequence[ConnectJudgement]) -> dict[str, Any]:
    """The figures over several recordings; shares weigh recordings alike."""
    off = [e.off for r in results for e in r.pauses]
    work = [t for r in results for t in r.work_ms]
    delays = [d for r in results for d in r.delay_errors]
    shares = [sum(e.is_right for e in r.pauses) / len(r.pauses) for r in results if r.pauses]
    return {
        "recordings": len(results),
        "generations_right": sum(r.generations[0] == r.generations[1] for r in results),
        "delays_same": sum(r.are_delays_same for r in results),
        "workers": sum(len(r.workers) for r in results),
        "workers_same": sum(len(r.workers) - len(r.differing) for r in results),
        "work_ms": [_quantile(work, 0.5), _quantile(work, 0.9)],
        "pauses": len(off),
        "pauses_within": sum(e.is_right for r in results for e in r.pauses),
        "pauses_percent": round(100 * sum(shares) / max(1, len(shares)), 1),
        "pause_error_ms": [_quantile(off, 0.5), _quantile(off, 0.95)],
        "delay_error_ms": max(delays, default=0),
    }


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0
