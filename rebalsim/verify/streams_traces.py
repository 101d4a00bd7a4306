"""Traces of real Kafka Streams applications: replayed from what may drive a replay, and judged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.simulation.streams.happenings import AssignmentMade, TasksAssigned
from rebalsim.simulation.streams.play import Played, play
from rebalsim.trace.gzipped import text_of
from rebalsim.verify.finding import Finding, of_replay
from rebalsim.verify.streams_judge import StreamsJudgement, judge, total
from rebalsim.verify.streams_prediction import (
    Sequences,
    assignments_of,
    prediction_of,
    recorded_assignments,
    recorded_states,
    states_of,
)
from rebalsim.verify.streams_replay import (
    acts_of,
    application_of,
    known_of,
    tells_process_ids,
)
from rebalsim.verify.traces import MALFORMED, as_recording, write_prediction

KIND = "streams-trace"
LONGEST_MS = 7 * 86_400_000
GUESSES = 8
MOST_PARTITIONS, MOST_RECORDS = 10_000, 10**12
Document = dict[str, Any]


def verify(
    path: Path, *, differences: int = 3, out: Path | None = None, several: bool = False
) -> Finding:
    """Replay one recording and judge the prediction; `out` is where it goes."""
    document = load(path)
    played = _played(path, document)
    prediction = prediction_of(played)
    with as_recording(path):
        result = judge(document, prediction)
        result.states = _same(recorded_states(document), states_of(played), result, "states")
        result.assignments = _same(
            recorded_assignments(document), _comparable(document, played), result, "tasks"
        )
        result.rounds = _rounds(document), _our_rounds(played)
    if out is not None:
        write_prediction(prediction, out, path if several else None, document)
    told = _wrong(result, differences)
    return of_replay(path, KIND, _line([result]), told, total([result]), result)


def _played(path: Path, document: Document) -> Played:
    """The replay. Where process ids are in no log (2.3), they are guessed until the tasks lie as
    they lay when the script began: what moves then is the prediction.
    """
    for attempt in range(GUESSES):
        with as_recording(path):
            application, acts = application_of(document), acts_of(document)
            known, told = known_of(document, attempt), recorded_assignments(document)
        played = play(application, acts, int(document["end"] * 1000), known=known)
        ours = _comparable(document, played)
        if tells_process_ids(document) or all(
            each[:1] == told[thread][:1] for thread, each in ours.items() if thread in told
        ):
            break
    return played


def summarise(findings: Sequence[Finding]) -> list[str]:
    """One line over all traces."""
    results = [finding.data for finding in findings]
    return [f"Streams traces: {_line(results)}"]


# ------------------------------------------------------------------------------ reading and writing


def load(path: Path) -> Document:
    """The document, as far as a replay relies on it."""
    try:
        document = json.loads(text_of(path))
    except (ValueError, RecursionError) as e:
        raise InputError(
            f"{path}: is not a whole JSON document ({e}) — a recording is one document; was the "
            "file cut?"
        ) from None
    try:
        why = _unfit(document)
    except MALFORMED as e:
        why = f"{type(e).__name__}: {e}"
    if why:
        raise InputError(f"{path}: is not a recording of a Streams application ({why})")
    found: Document = document
    return found


def _unfit(document: Document) -> str:
    """Why a recording cannot be replayed, or that its story never came to an end; empty where all
    is well.
    """
    if not 0 <= document["end"] <= LONGEST_MS:
        return "it ends within a week"
    if not all(0 < count <= MOST_PARTITIONS for count in document["topics"].values()):
        return "topics have partitions"
    if not 0 <= float(document["rate_per_partition"]) <= 1_000_000:
        return "rate_per_partition is out of bounds"
    if not 0 <= int(document.get("preload", 0)) <= MOST_RECORDS:
        return "preload is out of bounds"
    for entry in str(document["conf"]["x.topology"]).split(","):
        if entry.partition(":")[2] not in document["topics"]:
            return f"x.topology reads {entry.partition(':')[2]!r}, which is no topic"
    lives = [document["conf"], *document.get("members", {}).values()]
    lives += [step[3] for step in document["steps"] if len(step) > 3]
    for conf in lives:
        for key, least in (("heartbeat.interval.ms", 1), ("poll.ms", 1), ("session.timeout.ms", 1)):
            if not least <= int(conf.get(key, least)) <= LONGEST_MS:
                return f"{key} is out of bounds"
        if not 1 <= int(conf.get("num.stream.threads", 1)) <= 1000:
            return "num.stream.threads is out of bounds"
    for event in document["events"]:
        if not isinstance(event["member"], str) or not 0 <= abs(event["t"]) <= LONGEST_MS:
            return "each event has a member and a time"
    return ""


# -------------------------------------------------------------------------------- sequences, rounds


def _same(
    theirs: Sequences, ours: Sequences, result: StreamsJudgement, what: str
) -> tuple[int, int]:
    """How many sequences are the same; by instance for states, whose threads come with them."""
    who = sorted({*theirs, *ours} if what == "tasks" else {each.split("/")[0] for each in theirs})
    same = 0
    for each in who:
        if what == "tasks":
            right = theirs.get(each) == ours.get(each)
        else:
            keys = [key for key in {*theirs, *ours} if key.split("/")[0] == each]
            right = all(theirs.get(key) == ours.get(key) for key in sorted(keys))
        same += right
        if not right:
            result.differing.append(f"{what} of {each}")
    return same, len(who)


def _comparable(document: Document, played: Played) -> Sequences:
    """Ours as far as the recording tells: partitions for the classic protocol, tasks else."""
    if document["conf"].get("group.protocol") == "streams":
        found: Sequences = {}
        for each in played.happenings:
            if isinstance(each, TasksAssigned):
                told = (
                    tuple(str(task) for task in each.active),
                    tuple(str(task) for task in each.standby),
                )
                mine = found.setdefault(f"{each.instance}/{each.thread}", [])
                if not mine or mine[-1] != told:
                    mine.append(told)
        return found
    sequences: Sequences = {}
    for thread, entries in assignments_of(played).items():
        for active, _ in entries:
            mine = sequences.setdefault(thread, [])
            if not mine or mine[-1] != active:
                mine.append(active)
    return sequences


def _rounds(document: Document) -> int:
    return max(
        (
            int(event.get("generation") or event.get("epoch") or 0)
            for event in document["events"]
            if event["ev"] in ("joined", "got")
        ),
        default=0,
    )


def _our_rounds(played: Played) -> int:
    made = (AssignmentMade, TasksAssigned)
    return max((h.generation for h in played.happenings if isinstance(h, made)), default=0)


# ------------------------------------------------------------------------------------------ telling


def _line(results: Sequence[StreamsJudgement]) -> str:
    figures = total(results)
    half, long = figures["error_ms_p50_p95"]
    several = len(results) > 1
    share = f" ({figures['percent_mean_of_recordings']} % a recording)" if several else ""
    moves = f"{figures['same_moves']} of {figures['recordings']}"
    return (
        f"pauses {figures['within']} of {figures['pauses']}{share}, {half:.0f} and {long:.0f} ms "
        f"off; the same moves in {moves}; states of {figures['states_same']} of "
        f"{figures['instances']} instances, tasks of {figures['assignments_same']} of "
        f"{figures['threads']} threads, generations {figures['rounds_same']} of "
        f"{figures['recordings']}"
    )


def _wrong(result: StreamsJudgement, differences: int) -> list[str]:
    lines = [f"other {what}" for what in result.differing[: max(differences, 0)]]
    wrong = sorted((gap for gap in result.gaps if not gap.is_right), key=lambda gap: -gap.off)
    for gap in wrong[: max(differences, 0)]:
        lines.append(
            f"pause of {gap.partition} from {gap.start / 1000:.1f} s: recorded {gap.length:.0f} "
            f"ms, ours {gap.ours:.0f} ms"
        )
    if len(wrong) > differences >= 0:
        lines.append(f"… and {len(wrong) - differences} more pauses")
    return lines
