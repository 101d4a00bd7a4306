"""Traces of real consumers: replayed from what may drive a replay, judged, and told beside what
a few milliseconds decide.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.outside.documents import parse_json
from rebalsim.outside.writing import write_text
from rebalsim.simulation.world import play
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.trace import Trace
from rebalsim.verify import wire as wires
from rebalsim.verify.chance import allowed, told
from rebalsim.verify.coin_flips import Flip, flips, replays
from rebalsim.verify.finding import Finding, of_replay
from rebalsim.verify.form import unfit
from rebalsim.verify.judge import Judgement, judge, total
from rebalsim.verify.pause_error import worst_told
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of

CONSUMER = "consumer protocol"
KINDS = {"eager": "eager", "sticky": "eager, sticky", "coop": "cooperative", "next": CONSUMER}
MALFORMED = (
    KeyError,
    TypeError,
    ValueError,
    AttributeError,
    IndexError,
    OverflowError,
)  # what a file that is no recording leads to, sooner or later
PLAYED = ("classic", "consumer")  # the clients that are simulated


def verify(
    path: Path,
    *,
    differences: int = 3,
    wire: bool = False,
    out: Path | None = None,
    several: bool = False,
) -> Finding:
    """Replay one recording and judge the prediction; `out` is where it goes, `wire` shows where
    the messages part.
    """
    document = load(path)
    protocol = str(document["conf"].get("group.protocol", "classic"))
    if protocol not in PLAYED:
        return _not_replayed(path, protocol)
    with as_recording(path):
        scenario, drive = scenario_of(document)
    trace = play(scenario, seed=1, wire=True, drive=drive)
    prediction = prediction_of(trace)
    with as_recording(path):
        result = judge(document, prediction)
    judged, mirrored = replays(document, prediction)
    found = flips(result, judged)
    with as_recording(path):
        messages = _wire(document, trace, differences) if wire else []
    if out is not None:
        write_prediction(prediction, out, path if several else None, document)
    return of_replay(
        path,
        "trace",
        _line([result]),
        [
            *_wrong(result, differences),
            *_flips_told(found, len(judged), max(differences, 1)),
            *messages,
        ],
        {
            **total([result]),
            "seeds": {
                "count": len(judged),
                "flips": [{"what": flip.what, "right": flip.right} for flip in found],
            },
            "chance_allows": allowed([mirrored]),
        },
        (_kind_of(document), result, mirrored),
    )


def _not_replayed(path: Path, protocol: str) -> Finding:
    return Finding(
        str(path),
        "trace",
        False,
        f"{path}: not replayed yet — its members use the {protocol} protocol, whose client "
        "is not simulated",
        document={"file": str(path), "kind": "trace", "protocol": protocol, "replayed": False},
    )


def _flips_told(found: Sequence[Flip], seeds: int, shown: int) -> list[str]:
    """What a few ms decide, and what none do."""
    return [
        *_listed(
            f"a few ms decide here; of {seeds} seeds of jitter go the recording's way:",
            [f"{flip.right:2} {flip.what}" for flip in found if flip.right],
            shown,
        ),
        *_listed(
            f"no few ms decide here: under none of {seeds} seeds as recorded",
            [flip.what for flip in found if not flip.right],
            shown,
        ),
    ]


def summarise(findings: Sequence[Finding]) -> list[str]:
    """One line for each kind of trace, and one over all."""
    kinds: dict[str, list[tuple[Judgement, list[Judgement]]]] = {}
    missing = 0
    for finding in findings:
        if finding.data is None:
            missing += 1
        else:
            kinds.setdefault(finding.data[0], []).append(finding.data[1:])
    classic = [kind for kind in kinds if kind != CONSUMER]
    if len(classic) > 1 and CONSUMER in kinds:
        kinds["classic protocol"] = [result for kind in classic for result in kinds[kind]]
    if kinds:
        kinds["all"] = [result for kind in (*classic, CONSUMER) for result in kinds.get(kind, ())]
    lines: list[str] = []
    for kind, results in kinds.items():
        lines.append(f"{kind}: {_line([result for result, _ in results])}")
        lines.append(told(allowed([mirrored for _, mirrored in results])))
    if missing:
        lines.append(f"not replayed yet: {missing} of {len(findings)}")
    return lines


# ------------------------------------------------------------------------------ reading and writing


def load(path: Path) -> dict[str, Any]:
    document = parse_json(text_of(path), str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: is no recording — one is a JSON object")
    missing = [
        key
        for key in ("conf", "events", "steps", "topics", "end", "rate_per_partition")
        if key not in document
    ]
    if missing:
        raise InputError(
            f"{path}: lacks {', '.join(missing)} — a recording's header says how its consumers "
            "were set up"
        )
    if why := unfit(document):
        raise InputError(f"{path}: is not a recording as its format says ({why})")
    found: dict[str, Any] = document
    return found


@contextmanager
def as_recording(path: Path) -> Iterator[None]:
    """Where a document is read: what its format does not allow is the file's fault, and not a
    bug.
    """
    try:
        yield
    except MALFORMED as e:
        raise InputError(
            f"{path}: is not a recording as its format says ({type(e).__name__}: {e})"
        ) from None


def write_prediction(
    prediction: dict[str, Any], out: Path, recording: Path | None, document: dict[str, Any]
) -> None:
    """To this file; where it is `recording`'s, one of several, to a file of its name in the folder."""
    path = out
    if recording is not None:
        path = out / f"{document.get('name') or recording.name.split('.')[0]}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(prediction) + "\n")
    except OSError as e:
        raise InputError(
            f"{path}: cannot be written ({e.strerror}) — give --out a place of your own"
        ) from None


def _kind_of(document: dict[str, Any]) -> str:
    """By what it was recorded under, for the totals."""
    if document["conf"].get("group.protocol") == "consumer":
        return CONSUMER
    last = str(document.get("name", "")).rpartition("-")[2]
    return KINDS.get(last, "other")


# ------------------------------------------------------------------------------------------ telling


def _listed(heading: str, entries: Sequence[str], shown: int) -> list[str]:
    """The first of them beneath their heading, and how many more there are."""
    if not entries:
        return []
    more = [f"  … and {len(entries) - shown} more places"] if len(entries) > shown else []
    return [heading, *[f"  {entry}" for entry in entries[:shown]], *more]


def _generations(results: Sequence[Judgement]) -> str:
    """Theirs and ours, or how often they agree; nothing under the consumer protocol, which
    counts epochs.
    """
    counting = [result.generations for result in results if any(result.generations)]
    if not counting:
        return ""
    if len(results) == 1:
        return f"generations {counting[0][0]}, ours {counting[0][1]}; "
    return f"generations {sum(theirs == ours for theirs, ours in counting)} of {len(counting)}; "


def _line(results: Sequence[Judgement]) -> str:
    figures = total(results)
    middle, most = figures["callback_ms"]
    half, long = figures["pause_error_ms"]
    several = len(results) > 1
    shares = f" ({figures['pauses_percent']} % a recording)" if several else ""
    events = f" ({figures['events_percent']} %)" if several else ""
    return (
        f"{_generations(results)}callbacks of {figures['members_same']} of {figures['members']} "
        f"members, {middle:.0f} and {most:.0f} ms apart; "
        f"pauses {figures['pauses_within']} of {figures['pauses']}{shares}, events "
        f"{figures['events_within']} of {figures['events']}{events}, "
        f"{half:.0f} and {long:.0f} ms off"
    )


def _wrong(result: Judgement, differences: int) -> list[str]:
    lines = [f"callbacks of {member} differ" for member in result.differing[:differences]]
    return [*lines, *worst_told(result.pauses, differences)]


def _wire(document: dict[str, Any], trace: Trace, differences: int) -> list[str]:
    found = wires.differences(document, trace)
    messages, same = wires.compared(document, trace)
    lines = [f"messages as recorded, in order and error: {same} of {messages}"]
    for difference in found[: max(differences, 1)]:
        lines.append(
            f"first difference in {difference.who}'s {difference.kind}, message "
            f"{difference.number}: {difference.text}"
        )
    return lines
