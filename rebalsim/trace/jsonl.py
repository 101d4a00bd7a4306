"""A trace file: the header on the first line, then an event a line, numbered from 0; plain or .gz.
The same trace gives the same bytes.

Reading is strict: whatever is not exactly as written here is said with file and line, and a file
that was cut is not taken for a whole one (the header says how many events there are).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from rebalsim import __version__
from rebalsim.domain.errors import InputError
from rebalsim.domain.ids import MOST_PARTITIONS
from rebalsim.outside.documents import no_number, whole_text
from rebalsim.outside.writing import replaced
from rebalsim.trace.codec import EVENTS, HEADER, Unfit, encode_event
from rebalsim.trace.events import TraceEvent
from rebalsim.trace.gzipped import lines_of
from rebalsim.trace.trace import SCHEMA_VERSION, TopicFacts, Trace, TraceHeader

_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


def lines_for(trace: Trace) -> Iterator[str]:
    """The file's lines, each with its line break."""
    header = {"schema": trace.header.schema, **HEADER.encode(trace.header)}
    yield _dumps({"trace": header, "events": len(trace.events)}) + "\n"
    for number, event in enumerate(trace.events):
        yield _dumps(encode_event(number, event)) + "\n"


def write_trace(trace: Trace, path: Path) -> None:
    """Writes the file whole or not at all; gzipped if its name ends in .gz."""
    with replaced(path) as raw:
        if path.suffix == ".gz":
            with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                for line in lines_for(trace):
                    packed.write(line.encode("utf-8", "surrogatepass"))
        else:
            for line in lines_for(trace):
                raw.write(line.encode("utf-8", "surrogatepass"))


def read_trace(path: Path) -> Trace:
    """The trace in a file."""
    return parse_trace(lines_of(path), str(path))


def is_trace_line(first: str) -> bool:
    """Whether a file with this first line means to be a trace."""
    return first.lstrip().startswith('{"trace":')


def parse_trace(lines: Iterable[str], name: str) -> Trace:
    """The trace in these lines; `name` is the file's, for messages."""
    numbered = enumerate(lines, 1)
    try:
        _, first = next(numbered)
    except StopIteration:
        raise InputError(f"{name}: is empty — a trace begins with its header") from None
    document = _object(first, f"{name}:1", "a trace's header")
    if set(document) != {"trace", "events"} or type(document["events"]) is not int:
        raise InputError(
            f'{name}:1: is not a trace\'s header — it begins with {{"trace":…, "events": how many}}'
        )
    header = document["trace"]
    schema = header.get("schema") if type(header) is dict else None
    if schema != SCHEMA_VERSION:
        raise InputError(
            f"{name}:1: is a trace of schema {schema!r}{_by(header)}; this rebalsim "
            f"({__version__}) reads schema {SCHEMA_VERSION} — write it anew with this version"
        )
    try:
        events: list[TraceEvent] = []
        trace = Trace(HEADER.decode(header), events)
    except Unfit as e:
        raise InputError(f"{name}:1: {e}{_of_another(header)}") from None
    if why := unfit(trace.header):
        raise InputError(f"{name}:1: {why}")
    _read_events(numbered, name, events, _of_another(header))
    if events and events[-1].at_us > header_end(trace) + LATE_US:
        raise InputError(
            f"{name}: its events go on until {events[-1].at_us} µs, long after the horizon that "
            "its header names"
        )
    if len(events) != document["events"]:
        raise InputError(
            f"{name}: was cut: its header promises {document['events']:,} events, "
            f"{len(events):,} are there"
        )
    return trace


def _by(header: Any) -> str:
    """Who wrote it, if it says so."""
    who = header.get("rebalsim") if type(header) is dict else None
    return f", written by rebalsim {who[:20]}" if type(who) is str and who else ""


def _of_another(header: Any) -> str:
    """That another version wrote it, which is then the reason for whatever does not fit."""
    by = _by(header)
    if not by or by.endswith(f" {__version__}"):
        return ""
    return f"{by} and read by {__version__} — write it anew with this version"


def _read_events(
    numbered: Iterator[tuple[int, str]], name: str, events: list[TraceEvent], another: str
) -> None:
    at = 0
    for line_number, line in numbered:
        where = f"{name}:{line_number}"
        if not line.strip():
            raise InputError(f"{where}: is empty — an event a line, without gaps")
        event = _event(line, where, len(events), another)
        if event.at_us < at:
            raise InputError(
                f"{where}: at_us {event.at_us} is before the event above ({at}) — a trace runs "
                "forward in time"
            )
        at = event.at_us
        events.append(event)


LONGEST_US = 10 * 365 * 24 * 3_600_000_000  # ten years: no story is longer
LATE_US = 3_600_000_000
MOST_STEPS = 100_000


def header_end(trace: Trace) -> int:
    """Where the header says that the story ends; without one, anywhere."""
    return trace.header.horizon_us or LONGEST_US


def unfit(header: TraceHeader) -> str:
    """What in a header would make work without end; empty where all is well."""
    if not 0 <= header.horizon_us <= LONGEST_US:
        return f"horizon_us {header.horizon_us} is not between 0 and ten years"
    counts = [n for f in header.topics.values() for n in (f.partitions, *(n for _, n in f.growth))]
    if any(n < 0 for n in counts) or sum(counts) > MOST_PARTITIONS:
        return (
            f"its topics have {sum(counts):,} partitions together, of at most {MOST_PARTITIONS:,}"
        )
    return next(filter(None, (_unfit_topic(n, f) for n, f in header.topics.items())), "")


def _unfit_topic(name: str, facts: TopicFacts) -> str:
    if len(facts.weights) > MOST_PARTITIONS or len(facts.rates or ()) > MOST_STEPS:
        return f"topic {name[:40]!r} has more weights or rate steps than partitions can have"
    starts = [at for at, _, _ in facts.rates or ()]
    if starts != sorted(starts) or any(rate < 0 for _, rate, _ in facts.rates or ()):
        return f"the rates of topic {name[:40]!r} are not in order of time, or below nothing"
    if any(weight < 0 for weight in facts.weights):
        return f"topic {name[:40]!r} has a weight below nothing"
    return ""


def _object(line: str, where: str, what: str) -> dict[str, Any]:
    try:
        document = json.loads(line, parse_constant=no_number)
        if "\\u" in line:
            whole_text(document, line)
    except (ValueError, RecursionError, MemoryError):
        hint = "" if line.endswith("\n") else " (the line has no end: was the file cut?)"
        raise InputError(f"{where}: is not JSON{hint} — {what} was expected") from None
    if type(document) is not dict:
        raise InputError(f"{where}: is not an object — {what} was expected")
    return document


def _event(line: str, where: str, number: int, another: str) -> Any:
    document = _object(line, where, "an event")
    told, kind = document.pop("n", None), document.pop("event", None)
    if told != number or type(told) is not int:
        raise InputError(
            f"{where}: is event number {told!r}, {number} was expected — numbers follow each "
            "other without gaps"
        )
    shape = EVENTS.get(kind) if type(kind) is str else None
    if shape is None:
        raise InputError(
            f"{where}: tells of a {kind!r}, which is no event that this rebalsim knows{another}"
        )
    try:
        event = shape.decode(document)
    except Unfit as e:
        raise InputError(f"{where}: {e}{another}") from None
    if event.at_us < 0:
        raise InputError(f"{where}: at_us {event.at_us} is before the start")
    return event
