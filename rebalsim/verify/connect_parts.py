"""What each pause of a recording of Connect workers consists of, and what ours does: cut by what
the cluster was doing meanwhile.

Eager rounds with sinks do not repeat themselves, so two recordings of one script have other
pauses; what they consist of they have in common. At each moment of a pause the first of these is
true: the sink's own group is at its barrier; a worker stops work; a worker waits at the barrier; an
answer is on its way; the scheduled delay runs; work starts; nobody knows yet.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rebalsim.domain.callback import Callback
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.trace import events as ev
from rebalsim.trace.connect_events import WorkAssigned
from rebalsim.trace.trace import Trace
from rebalsim.verify.connect_judge import SHORTEST_MS

GROUP, STOP, BARRIER, ASSIGNMENT, DELAY, START, NOTICE = PARTS = (
    "sink's group",
    "stop",
    "barrier",
    "assignment",
    "delay",
    "start",
    "notice",
)
NEVER_MS = float("inf")
LEAVING = "leaving"  # a process that stops is one stop from its beginning to its LeaveGroup
Span = tuple[float, float]


@dataclass(slots=True)
class Doings:
    """When the cluster did what, in ms."""

    stops: list[Span] = field(default_factory=list)
    barriers: list[Span] = field(default_factory=list)
    answers: list[Span] = field(default_factory=list)
    delays: list[Span] = field(default_factory=list)
    rounds: list[float] = field(default_factory=list)  # moments at which a worker took one over
    groups: dict[str, list[Span]] = field(default_factory=lambda: defaultdict(list))  # by connector


@dataclass(frozen=True, slots=True)
class Cut:
    """A pause, and how long each part of it was."""

    what: str
    start: float
    end: float
    parts: Mapping[str, float]


class _Open:
    """Spans that have begun, by who is in them."""

    def __init__(self) -> None:
        self.since: dict[Any, float] = {}

    def begin(self, who: Any, at: float) -> None:
        self.since.setdefault(who, at)

    def end(self, who: Any, at: float, spans: list[Span]) -> None:
        since = self.since.pop(who, None)
        if since is not None:
            spans.append((since, at))


# ------------------------------------------------------------------------------ what was recorded


def doings_recorded(document: Mapping[str, Any]) -> Doings:
    """What a recorded cluster did and when, by the wire and by the workers' own logs."""
    found, stops, joins, answers = Doings(), _Open(), _Open(), _Open()
    for e in document["events"]:
        if "worker" not in e or "life" not in e:
            continue
        who, at = (e["worker"], e["life"], e.get("task")), e["t"]
        kind, api = e["ev"], e.get("api")
        if "task" in e:
            if api == KafkaApi.JOIN:
                spans = found.groups[e["task"].rpartition("-")[0]]
                joins.begin(who, at) if kind == "sent" else joins.end(who, at, spans)
        elif kind == "stopping":
            stops.begin(who, at)
        elif kind == "stopped_work":
            stops.end(who, at, found.stops)
        elif kind == "close_begin":
            stops.begin((*who, LEAVING), at)
        elif kind in ("leave_sent", "exit"):
            stops.end((*who, LEAVING), at, found.stops)
        elif api == KafkaApi.JOIN and kind == "sent":
            joins.begin(who, at)
        elif api == KafkaApi.JOIN:
            joins.end(who, at, found.barriers)
            answers.begin(who, at)
        elif kind == Callback.ASSIGNED:
            answers.end(who, at, found.answers)
            _take_over(found, at, e["delay"])
    return found


def _take_over(found: Doings, at: float, delay: float) -> None:
    """A round's answer was taken over: a delay that runs ends with it, another may begin."""
    if found.delays and found.delays[-1][1] > at:
        found.delays[-1] = (found.delays[-1][0], at)
    if delay:
        found.delays.append((at, at + delay))
    found.rounds.append(at)


# ------------------------------------------------------------------------------ what was simulated


def doings_simulated(trace: Trace) -> Doings:
    """What a replayed cluster did and when, by the replay's events."""
    found, stops, joins, answers = Doings(), _Open(), _Open(), _Open()
    for e in trace.events:
        who, at = getattr(e, "consumer", ""), e.at_us / 1000
        kind, api = type(e), getattr(e, "api", "")
        if "@" in who:
            if api == KafkaApi.JOIN:
                spans = found.groups[who.partition("@")[0].rpartition("-")[0]]
                joins.begin(who, at) if kind is ev.RequestSent else joins.end(who, at, spans)
            continue
        if kind is ev.CallbackBegan and e.callback == Callback.REVOKED:
            stops.begin(who, at)
        elif kind is ev.CallbackEnded and e.callback == Callback.REVOKED:
            stops.end(who, at, found.stops)
        elif kind is ev.CloseBegan:
            stops.begin((who, LEAVING), at)
        elif kind in (ev.LeaveSent, ev.ConsumerExited):
            stops.end((who, LEAVING), at, found.stops)
        elif api == KafkaApi.JOIN and kind is ev.RequestSent:
            joins.begin(who, at)
        elif api == KafkaApi.JOIN:
            joins.end(who, at, found.barriers)
            answers.begin(who, at)
        elif kind is WorkAssigned:
            answers.end(who, at, found.answers)
            _take_over(found, at, e.delay_us / 1000)
    return found


# ---------------------------------------------------------------------------------------- cutting


def cut(
    pauses: Sequence[Mapping[str, Any]], doings: Doings, sinks_of: Mapping[str, Sequence[str]]
) -> list[Cut]:
    """Each pause with its parts; `sinks_of` says which sinks read a topic."""
    return [_cut(pause, doings, sinks_of) for pause in pauses]


def _cut(pause: Mapping[str, Any], doings: Doings, sinks_of: Mapping[str, Sequence[str]]) -> Cut:
    start, end = pause["start"], pause["end"]
    groups = [
        span
        for sink in sinks_of.get(pause["what"].rpartition("-")[0], ())
        for span in doings.groups.get(sink, ())
    ]
    last_round = max((at for at in doings.rounds if start < at <= end), default=NEVER_MS)
    by_rank = (
        (GROUP, groups),
        (STOP, doings.stops),
        (BARRIER, doings.barriers),
        (ASSIGNMENT, doings.answers),
        (DELAY, doings.delays),
        (START, [(min(last_round, end), end)]),
        (NOTICE, [(start, end)]),
    )
    parts = dict.fromkeys(PARTS, 0.0)
    free = [(start, end)]
    for part, spans in by_rank:
        for span in spans:
            taken, free = _taken(free, span)
            parts[part] += taken
    return Cut(pause["what"], start, end, {k: v for k, v in parts.items() if v >= 0.5})


def _taken(free: Iterable[Span], span: Span) -> tuple[float, list[Span]]:
    """How much of the free stretches this one takes, and what is left of them."""
    taken, left = 0.0, []
    for begin, end in free:
        a, b = max(begin, span[0]), min(end, span[1])
        if a >= b:
            left.append((begin, end))
            continue
        taken += b - a
        left += [(x, y) for x, y in ((begin, a), (b, end)) if y > x]
    return taken, left


# ----------------------------------------------------------------------------------------- telling


@dataclass(frozen=True, slots=True)
class Compared:
    """A recorded pause beside the one of ours that overlaps it most, if any; or one of ours that
    nobody recorded.
    """

    recorded: Cut | None
    ours: Cut | None

    @property
    def longest(self) -> Cut:
        found = self.recorded or self.ours
        assert found is not None
        return found


def compare(recorded: Sequence[Cut], ours: Sequence[Cut]) -> list[Compared]:
    """Recorded pauses beside ours, in the order in which they began; then what is only ours and
    long enough to be seen. One of ours may stand beside several recorded ones.
    """
    found = []
    for pause in sorted(recorded, key=lambda c: (c.start, c.what)):
        same = [c for c in ours if c.what == pause.what and c.start < pause.end]
        best = max(
            same, key=lambda c: min(c.end, pause.end) - max(c.start, pause.start), default=None
        )
        is_there = best is not None and best.end > pause.start
        found.append(Compared(pause, best if is_there else None))
    beside = {id(one.ours) for one in found}
    alone = [c for c in ours if id(c) not in beside and c.end - c.start > SHORTEST_MS]
    return [*found, *(Compared(None, c) for c in alone)]


def sums(cuts: Iterable[Cut]) -> dict[str, float]:
    """How long each part was over all these pauses, each counted once, ms."""
    found = dict.fromkeys(PARTS, 0.0)
    for one in {id(cut): cut for cut in cuts}.values():
        for part, ms in one.parts.items():
            found[part] += ms
    return {part: round(ms, 1) for part, ms in found.items() if ms}


def say(one: Cut) -> str:
    """2.56 s (notice 1.30, stop 0.12, start 0.08)"""
    parts = [p for p in sorted(one.parts.items(), key=lambda p: -p[1]) if p[1] >= 5]
    inside = ", ".join(f"{part} {ms / 1000:.2f}" for part, ms in parts)
    return f"{(one.end - one.start) / 1000:.2f} s ({inside})"


def both_sums(compared: Sequence[Compared]) -> tuple[dict[str, float], dict[str, float]]:
    """The parts of all recorded pauses, and of all of ours."""
    return (
        sums(c.recorded for c in compared if c.recorded is not None),
        sums(c.ours for c in compared if c.ours is not None),
    )


def say_sums(compared: Sequence[Compared]) -> str:
    """stop 46.6 s and 34.1 s, …: recorded and ours"""
    recorded, ours = both_sums(compared)
    return ", ".join(
        f"{part} {recorded.get(part, 0) / 1000:.1f} s and {ours.get(part, 0) / 1000:.1f} s"
        for part in PARTS
        if part in recorded or part in ours
    )


def lines(compared: Sequence[Compared], most: int) -> list[str]:
    """The pauses one by one, the longest first; one of ours is told once."""
    told, said = [], set()
    for c in sorted(compared, key=lambda c: c.longest.start - c.longest.end)[:most]:
        recorded = say(c.recorded) if c.recorded is not None else "none"
        ours = "none" if c.ours is None else "as above" if id(c.ours) in said else say(c.ours)
        said.add(id(c.ours))
        begins = f"{c.longest.what} from {c.longest.start / 1000:.1f} s"
        told.append(f"{begins}: recorded {recorded}; ours {ours}")
    if len(compared) > most > 0:
        told.append(f"… and {len(compared) - most} more")
    return told


def document(compared: Sequence[Compared]) -> list[dict[str, Any]]:
    """The pauses with their parts, for programs; in ms."""
    return [
        {
            "recorded": _plain(c.recorded) if c.recorded is not None else None,
            "ours": _plain(c.ours) if c.ours is not None else None,
        }
        for c in compared
    ]


def _plain(one: Cut) -> dict[str, Any]:
    return {
        "what": one.what,
        "start": one.start,
        "end": one.end,
        "parts": {part: round(ms, 1) for part, ms in one.parts.items()},
    }
