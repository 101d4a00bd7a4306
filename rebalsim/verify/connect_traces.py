"""Traces of real Connect workers: replayed from what may drive a replay, and judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebalsim.simulation.world import play
from rebalsim.trace.trace import Trace
from rebalsim.verify import connect_parts as parts
from rebalsim.verify.connect_beats import drifts
from rebalsim.verify.connect_beats import say as say_beats
from rebalsim.verify.connect_chance import as_recorded, chance_of
from rebalsim.verify.connect_chance import say as say_chance
from rebalsim.verify.connect_judge import (
    ConnectJudgement,
    activity,
    is_observable,
    judge,
    observed,
    total,
)
from rebalsim.verify.connect_prediction import prediction_of
from rebalsim.verify.connect_replay import ConnectDrive, scenario_of
from rebalsim.verify.connect_rounds import RoundsJudged, judge_rounds
from rebalsim.verify.finding import Finding, of_replay
from rebalsim.verify.pause_error import worst_told
from rebalsim.verify.traces import as_recording, load, write_prediction

KIND = "connect-trace"
# What chance decides: four scripts were recorded twice, each recording taken as the other's replay.
TWICE_RECORDED = (
    "two recordings of one script agree in: generations and delays 3 of 3, starts and stops of 8 of "
    "9 workers, pauses 23 of 29 (incremental); with eager rounds and a sink in none of 3 workers "
    "and 8 of 25 pauses"
)


def verify(
    path: Path, *, differences: int = 3, out: Path | None = None, several: bool = False
) -> Finding:
    """Replay one recording and judge the prediction; `out` is where it goes."""
    document, drive, trace, prediction = _replayed(path)
    with as_recording(path):
        result = judge(document, prediction)
        rounds = judge_rounds(document, drive)
        compared = _compared(document, trace, prediction)
    is_like = not result.differing and result.generations[0] == result.generations[1]
    chance = None if is_like else chance_of(document, prediction, _sources(document))
    if out is not None:
        write_prediction(prediction, out, path if several else None, document)
    return of_replay(
        path,
        KIND,
        _line([result]),
        [
            *_told(document, result, rounds, compared, differences),
            *([say_chance(chance)] if chance is not None else []),
        ],
        {
            **total([result]),
            **_rounds_total([rounds]),
            "parts_ms": {
                **dict(zip(("recorded", "ours"), parts.both_sums(compared))),
            },
            **({"seeds": as_recorded(chance)} if chance is not None else {}),
        },
        (_is_eager(document), result, rounds, drifts(document)),
    )


def compare_parts(path: Path) -> list[parts.Compared]:
    """Each recorded pause beside ours, and what they consist of."""
    document, _, trace, prediction = _replayed(path)
    with as_recording(path):
        return _compared(document, trace, prediction)


def _replayed(path: Path) -> tuple[dict[str, Any], ConnectDrive, Trace, dict[str, Any]]:
    document = load(path)
    with as_recording(path):
        scenario, drive = scenario_of(document)
    trace = play(scenario, seed=1, wire=True, drive=drive)
    return document, drive, trace, prediction_of(trace, _sources(document), drive.twins)


def _compared(
    document: dict[str, Any], trace: Trace, prediction: dict[str, Any]
) -> list[parts.Compared]:
    readers: dict[str, list[str]] = {}
    for connector, conf in _connectors(document).items():
        for topic in filter(None, str(conf.get("topics", "")).split(",")):
            readers.setdefault(topic, []).append(connector)
    recorded = parts.cut(observed(document)["pauses"], parts.doings_recorded(document), readers)
    seen = activity(document)
    mine = [p for p in prediction["pauses"] if is_observable(p, seen)]
    ours = parts.cut(mine, parts.doings_simulated(trace), readers)
    return parts.compare(recorded, ours)


def summarise(findings: Sequence[Finding]) -> list[str]:
    """One line for cooperative recordings, one for those with eager rounds, one over all."""
    lines = []
    for heading, wanted in (("cooperative", False), ("with eager rounds", True)):
        results = [f.data[1] for f in findings if f.data[0] is wanted]
        if results:
            lines.append(f"Connect, {heading}: {_line(results)}")
    lines.append(f"Connect, all: {_line([f.data[1] for f in findings])}")
    lines.append(_say_rounds([f.data[2] for f in findings]))
    if any(f.data[1].delay_errors for f in findings):
        lines += filter(None, [say_beats([ms for f in findings for ms in f.data[3]])])
    lines.append(TWICE_RECORDED)
    return lines


def _connectors(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {e["connector"]: e["config"] for e in document["events"] if e["ev"] == "do_put"}


def _sources(document: dict[str, Any]) -> set[str]:
    return {c for c in _connectors(document) if not _is_sink(document, c)}


def _is_sink(document: dict[str, Any], connector: str) -> bool:
    conf = _connectors(document)[connector]
    return "topics" in conf or "sink" in str(conf.get("connector.class", "")).lower()


def _is_eager(document: dict[str, Any]) -> bool:
    """Does any worker of it ever speak eager?"""
    starts = [s[3] for s in document["steps"] if s[1] == "start" and len(s) > 3]
    return any(conf.get("connect.protocol") == "eager" for conf in (document["conf"], *starts))


def _line(results: Sequence[ConnectJudgement]) -> str:
    figures = total(results)
    if len(results) == 1:
        theirs, ours = results[0].generations
        rounds = f"generations {theirs}, ours {ours}; delays {_same(results[0])}"
    else:
        rounds = (
            f"generations {figures['generations_right']} and delays {figures['delays_same']} of "
            f"{figures['recordings']}"
        )
    share = f" ({figures['pauses_percent']} % a recording)" if len(results) > 1 else ""
    middle, most = figures["work_ms"]
    half, long = figures["pause_error_ms"]
    return (
        f"{rounds} (at most {figures['delay_error_ms']:.0f} ms apart); starts and stops of "
        f"{figures['workers_same']} of {figures['workers']} workers, {middle:.0f} and {most:.0f} "
        f"ms apart; pauses {figures['pauses_within']} of {figures['pauses']}{share}, {half:.0f} "
        f"and {long:.0f} ms off"
    )


def _same(result: ConnectJudgement) -> str:
    return "the same" if result.are_delays_same else "not the same"


def _told(
    document: dict[str, Any],
    result: ConnectJudgement,
    rounds: RoundsJudged,
    compared: list[parts.Compared],
    differences: int,
) -> list[str]:
    """Its rounds one by one; what differs; and, of eager rounds, what pauses consist of."""
    lines = [_say_rounds([rounds]), *_wrong(result, differences)]
    if _is_eager(document) and compared:
        lines.append(f"what its pauses consist of, recorded and ours: {parts.say_sums(compared)}")
    return lines


def _rounds_total(judged: Sequence[RoundsJudged]) -> dict[str, Any]:
    return {
        "rounds": sum(r.rounds for r in judged),
        "rounds_same": sum(r.rounds - len(r.different) for r in judged),
        "rounds_delay_error_ms": max((d for r in judged for d in r.delay_errors), default=0),
    }


def _say_rounds(judged: Sequence[RoundsJudged]) -> str:
    figures = _rounds_total(judged)
    delays = sum(len(r.delay_errors) for r in judged)
    differing = [str(generation) for r in judged for generation in r.different]
    return (
        f"given the claims on the wire and the leader's clock, {figures['rounds_same']} of "
        f"{figures['rounds']} rounds answered alike"
        + (f", not {', '.join(differing[:8])}" if differing else "")
        + (
            f", remaining delays at most {figures['rounds_delay_error_ms']:.0f} ms apart"
            if delays
            else ""
        )
    )


def _wrong(result: ConnectJudgement, differences: int) -> list[str]:
    lines = [f"starts and stops of {worker} differ" for worker in result.differing[:differences]]
    return [*lines, *worst_told(result.pauses, differences)]
