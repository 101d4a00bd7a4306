"""Traces of real consumers: replayed from what may drive a replay, judged, and told beside what a few milliseconds decide."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.simulation.world import play
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.trace import Trace
from rebalsim.verify import wire as wires
from rebalsim.verify.chance import allowed, told
from rebalsim.verify.coin_flips import flips, replays
from rebalsim.verify.finding import Finding
from rebalsim.verify.judge import Judgement, judge, total
from rebalsim.verify.prediction import prediction_of
from rebalsim.verify.replay import scenario_of

CONSUMER = "consumer protocol"
KINDS = {"eager": "eager", "sticky": "eager, sticky", "coop": "cooperative", "next": CONSUMER}
MALFORMED = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError)      # what a file that is no recording leads to, sooner or later
PLAYED = ("classic", "consumer")       # the clients that are simulated


def verify(path: Path, *, differences: int = 3, wire: bool = False, out: Path | None = None, several: bool = False) -> Finding:
    """Replay one recording and judge the prediction; `out` is where it goes, `wire` shows where the messages part."""
    document = load(path)
    protocol = str(document["conf"].get("group.protocol", "classic"))
    if protocol not in PLAYED:
        return Finding(
            str(path), "trace", False, f"{path}: not replayed yet — its members use the {protocol} protocol, whose client is not simulated",
            document={"file": str(path), "kind": "trace", "protocol": protocol, "replayed": False},
        )
    try:
        scenario, drive = scenario_of(document)
        trace = play(scenario, seed=1, wire=True, drive=drive)
        prediction = prediction_of(trace)
        result = judge(document, prediction)
        judged, mirrored = replays(document, prediction)
        found = flips(result, judged)
        messages = _wire(document, trace, differences) if wire else []
    except MALFORMED as e:
        raise InputError(f"{path}: is not a recording as its format says ({type(e).__name__}: {e})") from None
    if out is not None:
        _write(out / f"{document.get('name') or path.name.split('.')[0]}.json" if several else out, prediction)
    details = _wrong(result, differences)
    if found:
        shown = max(differences, 1)
        details.append(f"a few ms decide here; of {len(judged)} seeds of jitter go the recording's way:")
        details += [f"  {flip.right:2} {flip.what}" for flip in found[:shown]]
        if len(found) > shown:
            details.append(f"  … and {len(found) - shown} more places")
    details += messages
    figures = total([result])
    return Finding(
        str(path), "trace", True, f"{path}: {_line(figures, result)}", details,
        {"file": str(path), "kind": "trace", **figures,
         "seeds": {"count": len(judged), "flips": [{"what": flip.what, "right": flip.right} for flip in found]},
         "chance_allows": allowed([mirrored])},
        (_kind_of(document), result, mirrored),
    )


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
        lines.append(f"{kind}: {_line(total([result for result, _ in results]))}")
        lines.append(told(allowed([mirrored for _, mirrored in results])))
    if missing:
        lines.append(f"not replayed yet: {missing} of {len(findings)}")
    return lines


# -------------------------------------------------------------------------------------------------- reading and writing


def load(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(text_of(path), parse_constant=_no_number)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{path}: is not a whole JSON document ({e}) — a recording is one document; was the file cut?") from None
    missing = [key for key in ("conf", "events", "steps", "topics", "end", "rate_per_partition") if key not in document]
    if missing:
        raise InputError(f"{path}: lacks {', '.join(missing)} — a recording's header says how its consumers were set up")
    if why := _unfit(document):
        raise InputError(f"{path}: is not a recording as its format says ({why})")
    found: dict[str, Any] = document
    return found


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is no number")


_LONGEST_MS = 7 * 86_400_000
_HIGHEST_RATE, _MOST_PARTITIONS = 1_000_000, 10_000
_AT_LEAST_ONE = ("x.poll_ms", "heartbeat.interval.ms", "fetch.max.wait.ms")         # what comes again and again takes time


def _unfit(document: dict[str, Any]) -> str:
    """What could not be replayed, or never came to an end; empty where all is well."""
    conf, events, end = document["conf"], document["events"], document["end"]
    if not isinstance(conf, dict) or not isinstance(events, list):
        return "conf is an object and events a list"
    if not isinstance(end, (int, float)) or not 0 <= end <= _LONGEST_MS:
        return "it ends within a week, by whole ms"
    if not all(isinstance(e, dict) and isinstance(e.get("member"), str) and isinstance(e.get("t"), (int, float)) for e in events):
        return "each event has a member and a time"
    members = document.get("members", {})
    if not isinstance(members, dict) or not all(isinstance(settings, dict) for settings in members.values()):
        return "members are objects"
    times = {key: value for settings in (conf, *members.values()) for key, value in settings.items() if key.endswith((".ms", "_ms", "_us"))}
    wrong = [key for key, value in times.items() if not isinstance(value, (int, float)) or not (key in _AT_LEAST_ONE) <= value <= _LONGEST_MS * 1000]
    if not isinstance(rate := document["rate_per_partition"], (int, float)) or not 0 <= rate <= _HIGHEST_RATE:
        wrong.append("rate_per_partition")
    if not isinstance(topics := document["topics"], dict) or not all(isinstance(n, int) and 0 <= n <= _MOST_PARTITIONS for n in topics.values()):
        wrong.append("topics")
    return f"{', '.join(wrong)}: out of bounds" if wrong else ""


def _write(path: Path, prediction: dict[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(prediction) + "\n", encoding="utf-8")
    except OSError as e:
        raise InputError(f"{path}: cannot be written ({e.strerror}) — give --out a place of your own") from None


def _kind_of(document: dict[str, Any]) -> str:
    """By what it was recorded under, for the totals."""
    if document["conf"].get("group.protocol") == "consumer":
        return CONSUMER
    last = str(document.get("name", "")).rpartition("-")[2]
    return KINDS.get(last, "other")


# -------------------------------------------------------------------------------------------------- telling


def _line(figures: dict[str, Any], one: Judgement | None = None) -> str:
    middle, most = figures["callback_ms"]
    half, long = figures["pause_error_ms"]
    if one is not None:
        theirs, ours = one.generations
        generations = f"generations {theirs}, ours {ours}"
    else:
        generations = f"generations {figures['generations_right']} of {figures['recordings']}"
    shares = "" if one is not None else f" ({figures['pauses_percent']} % a recording)"
    events = "" if one is not None else f" ({figures['events_percent']} %)"
    return (
        f"{generations}; callbacks of {figures['members_same']} of {figures['members']} members, {middle:.0f} and {most:.0f} ms apart; "
        f"pauses {figures['pauses_within']} of {figures['pauses']}{shares}, events {figures['events_within']} of {figures['events']}{events}, "
        f"{half:.0f} and {long:.0f} ms off"
    )


def _wrong(result: Judgement, differences: int) -> list[str]:
    lines = [f"callbacks of {member} differ" for member in result.differing[:differences]]
    wrong = [error for error in result.pauses if not error.is_right]
    for error in sorted(wrong, key=lambda e: (-e.off, e.start, e.partition))[:differences]:
        lines.append(f"pause of {error.partition} from {error.start / 1000:.1f} s: recorded {error.real:.0f} ms, ours {error.ours:.0f} ms")
    if len(wrong) > differences:
        lines.append(f"… and {len(wrong) - differences} more pauses")
    return lines


def _wire(document: dict[str, Any], trace: Trace, differences: int) -> list[str]:
    found = wires.differences(document, trace)
    messages, same = wires.compared(document, trace)
    lines = [f"messages as recorded, in order and error: {same} of {messages}"]
    for difference in found[: max(differences, 1)]:
        lines.append(f"first difference in {difference.who}'s {difference.kind}, message {difference.number}: {difference.text}")
    return lines
