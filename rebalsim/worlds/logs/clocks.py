"""The hosts' clocks put right by the group's own causality, each with its bound.

The reference is the coordinator with the most to say; without one, the client whose times have a
day and a zone. A difference of whole quarters of an hour in a log without zones is its zone, of
whole days in one without dates its date. A clock that was set in between has a step.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from statistics import median, median_low
from zoneinfo import ZoneInfo

from rebalsim.domain.errors import InputError
from rebalsim.words.lists import listed
from rebalsim.worlds.logs.bounds import Bound, bounds, coordination
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.streams import Stream
from rebalsim.worlds.logs.times import DAY_US
from rebalsim.worlds.logs.voices import Voice

ZONE_STEP_US = 15 * 60 * 1_000_000
SLACK_US = 30_000  # by which lines are written late on a busy machine
MUCH = 5  # a clock was set in between only if one clock breaks more than this part of its bounds
FEWEST = 3  # bounds on either side of a step


@dataclass(slots=True)
class Clock:
    """How far one host is ahead of the reference: `ahead_us` within `least_us … most_us`."""

    ahead_us: int = 0
    least_us: int | None = None
    most_us: int | None = None
    zone_us: int = 0
    is_known: bool = False
    steps: list[tuple[int, int]] = field(default_factory=list)  # (from which fact on, ahead)

    def ahead_at(self, place: int) -> int:
        """How far it was ahead when it wrote the fact of this place."""
        if not self.steps:
            return self.ahead_us
        step = bisect_right([first for first, _ in self.steps], place) - 1
        return self.steps[max(0, step)][1]


def say_zones(streams: Sequence[Stream], brokers: Sequence[Stream], zone: str = "") -> list[str]:
    """Put logs without a zone into `zone`, and those without dates on the day on which their file was
    written last; what remains assumed, in sentences.
    """
    assumed: dict[bool, dict[str, None]] = {}  # by whether a day is told: the files
    for stream in streams:
        if (stream.has_zone and stream.has_date) or not stream.told:
            continue
        ahead = zone_ahead_us(zone, stream.told[-1][1].at_us) if zone else 0
        days = 0
        if not stream.has_date and stream.modified_us > 0:
            days = (stream.modified_us + ahead) // DAY_US * DAY_US - stream.day * DAY_US
        for _, fact in stream.told:
            fact.at_us += days - ahead
        if not brokers and not zone:
            assumed.setdefault(stream.has_date, {})[stream.file] = None
    return [_assumed(list(files), has_date) for has_date, files in assumed.items()]


def _assumed(files: Sequence[str], has_date: bool) -> str:
    day = "" if has_date else ", and no day: that of the file's last change is taken"
    their = "its" if len(files) == 1 else "their"
    return (
        f"{listed(files)}: {their} times have no zone{day}; taken as UTC, since no coordinator's log "
        "tells — --zone Europe/Berlin (or +01:00) says otherwise"
    )


def zone_ahead_us(zone: str, at_us: int) -> int:
    """How far a zone is ahead of UTC about then. Raises InputError for what is no zone."""
    found = re.fullmatch(r"([+-])(\d\d):?(\d\d)", zone)
    if found is not None:
        minutes = int(found[2]) * 60 + int(found[3])
        return minutes * 60_000_000 * (-1 if found[1] == "-" else 1)
    try:
        offset = datetime.fromtimestamp(at_us / 1e6, ZoneInfo(zone)).utcoffset()
    except (KeyError, ValueError, OSError):
        raise InputError(
            f"--zone {zone}: is no zone — write Europe/Berlin, UTC, or +01:00"
        ) from None
    return int(offset.total_seconds() * 1e6) if offset is not None else 0


def read_clocks(brokers: Sequence[Stream], voices: Sequence[Voice]) -> dict[int, Clock]:
    """The clock of each stream, by its identity."""
    found = {id(s): Clock() for s in brokers} | {id(v.stream): Clock() for v in voices}
    facts = {id(s): [f for _, f in s.told] for s in brokers}
    speaking = sorted(brokers, key=lambda s: -_says(facts[id(s)]))
    if speaking and _says(facts[id(speaking[0])]):
        for broker in speaking:
            if not broker.has_date:
                _date_by_clients(facts[id(broker)], broker.step_us, voices)
        _by_brokers(speaking, facts, voices, found)
    else:
        _by_each_other(voices, found)
    return found


def _date_by_clients(facts: Sequence[Fact], step_us: int, voices: Sequence[Voice]) -> None:
    """A coordinator's log without dates is of the day that its clients' logs tell: when a file was
    written last may be when it was copied.
    """
    told = _clients_by(coordination(facts, step_us), [v for v in voices if v.stream.has_date])
    days = [round(clock.ahead_us / DAY_US) for clock in told.values() if clock.is_known]
    if days:
        ahead = median_low(days)
        for fact in facts:
            fact.at_us += ahead * DAY_US


def _says(facts: Sequence[Fact]) -> int:
    return sum(
        1
        for f in facts
        if f.what in (FactKind.PREPARING, FactKind.STABILIZED, FactKind.BUMPED, FactKind.ADDED)
    )


def _by_brokers(
    brokers: Sequence[Stream],
    facts: dict[int, list[Fact]],
    voices: Sequence[Voice],
    found: dict[int, Clock],
) -> None:
    """Each client by the reference; other coordinators by the clients that both have heard."""
    found[id(brokers[0])].is_known = True
    first = _clients_by(coordination(facts[id(brokers[0])], brokers[0].step_us), voices)
    found.update(first)
    for broker in brokers[1:]:
        if not _says(facts[id(broker)]):
            continue
        theirs = _clients_by(coordination(facts[id(broker)], broker.step_us), voices)
        apart = [
            first[key].ahead_us - clock.ahead_us
            for key, clock in theirs.items()
            if clock.is_known and key in first and first[key].is_known
        ]
        mine = found[id(broker)]
        if apart:
            mine.ahead_us, mine.is_known = round(median(apart)), True
        for key, clock in theirs.items():
            if clock.is_known and not found[key].is_known:
                clock.ahead_us += mine.ahead_us
                found[key] = clock


def _clients_by(by: object, voices: Sequence[Voice]) -> dict[int, Clock]:
    gathered: dict[int, list[Bound]] = {}
    streams = {}
    for voice in voices:
        gathered.setdefault(id(voice.stream), []).extend(bounds(voice, by))  # type: ignore[arg-type]
        streams[id(voice.stream)] = voice.stream
    return {
        key: clock_of(sorted(told, key=lambda b: b.place), streams[key])
        for key, told in gathered.items()
    }


def clock_of(told: Sequence[Bound], stream: Stream) -> Clock:
    """The clock that keeps the bounds; one with a step where only two clocks do."""
    if not told:
        return Clock()
    pieces = [told]
    broken = _broken(told, _fitting(told))
    if broken * MUCH > len(told):
        pieces = _in_two(told, broken)
    zone = _zone(_fitting(max(pieces, key=len)), stream)
    clocks = [_nearest_to_zero(piece, zone) for piece in pieces]
    low, high = _range(pieces[-1])
    clock = Clock(clocks[-1], low, high, zone, is_known=True)
    if len(pieces) > 1:
        set_at = _set_between(stream, pieces[0][-1].place, pieces[1][0].place)
        clock.steps = [(-1, clocks[0]), (set_at, clocks[1])]
    return clock


def _range(piece: Sequence[Bound]) -> tuple[int | None, int | None]:
    most = [b.ahead_us for b in piece if b.is_most]
    least = [b.ahead_us for b in piece if not b.is_most]
    return (max(least) if least else None), (min(most) if most else None)


def _broken(piece: Sequence[Bound], ahead_us: int) -> int:
    """How many bounds a clock that is so far ahead breaks."""
    return sum(
        1
        for b in piece
        if (ahead_us > b.ahead_us + SLACK_US if b.is_most else ahead_us < b.ahead_us - SLACK_US)
    )


def _fitting(piece: Sequence[Bound]) -> int:
    """The clock that breaks the fewest bounds; of several, that nearest to right."""
    low, high = _range(piece)
    if low is not None and high is not None and low <= high + SLACK_US:
        return (low + high) // 2
    step = max(1, len(piece) // 200)
    tried = {b.ahead_us for b in piece[::step]} | {0}
    return min(tried, key=lambda ahead: (_broken(piece, ahead), abs(ahead)))


def _in_two(told: Sequence[Bound], broken: int) -> list[Sequence[Bound]]:
    """The bounds cut where the clock was set; whole where no cut explains most of what is broken."""
    step = max(1, len(told) // 60)
    cuts = range(FEWEST, len(told) - FEWEST + 1, step)
    best = min(cuts, key=lambda n: _broken_by(told, n), default=None)
    if best is None or _broken_by(told, best) * 3 > broken:
        return [told]
    return [told[:best], told[best:]]


def _broken_by(told: Sequence[Bound], cut: int) -> int:
    first, then = told[:cut], told[cut:]
    return _broken(first, _fitting(first)) + _broken(then, _fitting(then))


def _set_between(stream: Stream, last: int, first: int) -> int:
    """The place at which the log's time jumps, between a bound before and one after."""
    for place in range(max(1, last + 1), min(first + 1, len(stream.told))):
        if stream.told[place][1].at_us < stream.told[place - 1][1].at_us - SLACK_US:
            return place
    return first


def _zone(around: int, stream: Stream) -> int:
    """Whole quarters of an hour (whole days, where dates are missing) that are no skew."""
    if (stream.has_zone and stream.has_date) or abs(around) < ZONE_STEP_US * 2 // 3:
        return 0
    return round(around / ZONE_STEP_US) * ZONE_STEP_US


def _nearest_to_zero(piece: Sequence[Bound], zone: int) -> int:
    """No skew where that keeps (nearly) all bounds, else the clock that keeps them: of an answer, since
    that is written within ms of coming, where a request may have waited.
    """
    best = _fitting(piece)
    if _broken(piece, zone) <= _broken(piece, best):
        return zone
    answers = min((b.ahead_us for b in piece if b.is_most), default=best)
    return answers if _broken(piece, answers) <= _broken(piece, best) else best


def _by_each_other(voices: Sequence[Voice], found: dict[int, Clock]) -> None:
    """Without a coordinator: those who joined the same generation did so together."""
    joins = {id(v.stream): _joins(v) for v in voices}
    dated = [v for v in voices if v.stream.has_date] or list(voices)
    if not dated:
        return
    first = max(dated, key=lambda v: (v.stream.has_zone, len(joins[id(v.stream)])))
    mine = joins[id(first.stream)]
    for voice in voices:
        key = id(voice.stream)
        shared = [joins[key][g] - mine[g] for g in joins[key] if g in mine]
        if key == id(first.stream) or not shared:
            continue
        apart = round(median(shared))
        is_doubtful = len(shared) < 2 or any(abs(s - apart) > 1_000_000 for s in shared)
        if is_doubtful and voice.stream.has_zone and voice.stream.has_date:
            continue  # nothing is said of this clock
        near = not voice.stream.has_zone or not voice.stream.has_date
        zone = round(apart / ZONE_STEP_US) * ZONE_STEP_US if near else 0
        # a static member that comes back is given the generation that the others joined long before
        skew = 0 if is_doubtful and voice.instance else apart - zone
        found[key] = Clock(zone + (skew if abs(skew) > 1_000_000 else 0), zone_us=zone)
        found[key].is_known = True


def _joins(voice: Voice) -> dict[tuple[str, int], int]:
    found: dict[tuple[str, int], int] = {}
    for f in voice.facts:
        if f.what == FactKind.JOINED and f.generation > 0:
            found.setdefault((voice.group, f.generation), f.at_us)
    return found


def put_right(facts: Sequence[Fact], clock: Clock) -> None:
    """The facts' times by the reference's clock."""
    for fact in facts:
        fact.at_us -= clock.ahead_at(fact.place)
