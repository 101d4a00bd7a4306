"""Everything that a heap of logs tells: of each group its rebalances, callbacks and pauses, and of
each host its clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import merge
from operator import itemgetter

from rebalsim.domain.errors import InputError
from rebalsim.worlds.logs.adoption import adopt, adopt_by_time, give_timeouts
from rebalsim.worlds.logs.clocks import Clock, put_right, read_clocks, say_zones
from rebalsim.worlds.logs.coarse_times import refine_times
from rebalsim.worlds.logs.epoch_ends import end_epochs
from rebalsim.worlds.logs.facts import Fact, FactKind
from rebalsim.worlds.logs.guessed_rounds import guess_rounds
from rebalsim.worlds.logs.latecomers import name_latecomers
from rebalsim.worlds.logs.lives import join_lives
from rebalsim.worlds.logs.naming import name_voices
from rebalsim.worlds.logs.parts import made_whole
from rebalsim.worlds.logs.pauses import Pause, pauses_of
from rebalsim.worlds.logs.rounds import Round, give_roots, rounds_of
from rebalsim.worlds.logs.sources import Source
from rebalsim.worlds.logs.stops import Stop, poll_limit_us, stops_of
from rebalsim.worlds.logs.streams import Census, Reader, Stream
from rebalsim.worlds.logs.triggers import refine
from rebalsim.worlds.logs.unheard import end_with_the_unheard
from rebalsim.worlds.logs.voices import Voice, voices_of

EARLY_US = 3_000_000
MOST_NAMED = 3  # files of which it is told why they could not be read


@dataclass(slots=True)
class GroupStory:
    """One group's life as far as its logs tell."""

    name: str
    rounds: list[Round]
    voices: list[Voice]
    pauses: list[Pause]
    stops: list[Stop]
    coordinator: list[Fact]


@dataclass(slots=True)
class Observation:
    """What was read, and what it comes to."""

    groups: dict[str, GroupStory]
    clocks: dict[str, Clock]
    census: Census
    notes: list[str] = field(default_factory=list)
    has_broker: bool = False


def observe(sources: Iterable[Source], group: str = "", zone: str = "") -> Observation:
    """Read these logs; of one group where `group` names it. `zone`: of times that tell none.
    InputError where not one of them could be read: that is no quiet night.
    """
    streams: dict[str, Stream] = {}
    census = Census()
    notes: list[str] = []
    read = unreadable = 0
    for source in sources:
        Reader(source.name, source.host, streams, census).read_all(source.chunks())
        notes += source.notes
        read, unreadable = read + 1, unreadable + source.is_unreadable
        for stream in streams.values():
            if stream.file == source.name:
                stream.modified_us = source.modified_us()
    if unreadable and unreadable == read:
        raise InputError(none_readable(notes))
    found = told_by(list(streams.values()), census, group, zone)
    found.notes = [*notes, *found.notes]
    return found


def none_readable(notes: Sequence[str]) -> str:
    """What is said where not one of the files could be read."""
    more = f"\n(and {len(notes) - MOST_NAMED} more)" if len(notes) > MOST_NAMED else ""
    named = "\n".join(notes[:MOST_NAMED]) + more
    return f"{named}\nSo there is nothing to tell — give logs as text, plain or in gzip or zstd"


def _refuse_unknown(group: str, names: Sequence[str]) -> None:
    if group and group not in names:
        there = ", ".join(names[:10]) or "none"
        raise InputError(f"group {group}: no line is of it — the logs' groups are: {there}")


def told_by(
    streams: Sequence[Stream], census: Census, group: str = "", zone: str = ""
) -> Observation:
    """What streams tell together."""
    first_files = {id(s): s.file for s in streams}
    streams = made_whole(streams)
    brokers = [s for s in streams if s.is_broker]
    notes = say_zones(streams, brokers, zone)
    voices = [v for s in streams for v in voices_of(s)]
    for voice in voices:
        voice.index()
    adopt(voices, [f for s in brokers for d, f in s.told if d.is_broker])
    voices = [v for v in voices if v.group]
    clocks = read_clocks(brokers, voices)
    coordinator = _set_right(brokers, voices, clocks)
    adopt_by_time(voices, coordinator)
    names = sorted({v.group for v in voices} | {f.group for f in coordinator if f.group})
    _refuse_unknown(group, names)
    voices = join_lives(voices)
    name_voices(voices)
    of_group = _by_group(coordinator)
    groups = {
        g: _story(g, of_group(g), [v for v in voices if v.group == g])
        for g in ([group] if group else names)
    }
    told = [(s, clocks[id(s)]) for s in streams if id(s) in clocks]
    by_file = {file: clock for s, clock in told for file in (first_files[id(s)], *s.parts)}
    return Observation(_lively(groups), by_file, census, notes, has_broker=bool(brokers))


def _lively(groups: dict[str, GroupStory]) -> dict[str, GroupStory]:
    """Without those of which nothing but a name is known."""
    return {n: g for n, g in groups.items() if g.rounds or g.voices or g.coordinator}


def _set_right(
    brokers: Sequence[Stream], voices: Sequence[Voice], clocks: dict[int, Clock]
) -> list[Fact]:
    """All times by the reference's clock; the coordinators' facts in order."""
    coordinator = []
    for stream in brokers:
        facts = [f for d, f in stream.told if d.is_broker]
        put_right(facts, clocks[id(stream)])
        coordinator += facts
    for voice in voices:
        put_right(voice.facts, clocks[id(voice.stream)])
        voice.index()
    coordinator.sort(key=lambda f: f.at_us)
    return coordinator


def _by_group(coordinator: Sequence[Fact]) -> Callable[[str], list[Fact]]:
    """The coordinators' facts of each group, with those that name none, in their order."""
    placed: dict[str, list[tuple[int, Fact]]] = {}
    for place, f in enumerate(coordinator):
        placed.setdefault(f.group, []).append((place, f))
    nameless = placed.get("", [])

    def of_group(name: str) -> list[Fact]:
        return [f for _, f in merge(placed.get(name, []), nameless, key=itemgetter(0))]

    return of_group


def _story(name: str, facts: Sequence[Fact], mine: list[Voice]) -> GroupStory:
    for voice in mine:
        voice.is_cooperative = any(_cooperates(v) for v in mine)
    rounds = rounds_of(name, facts)
    if not rounds:
        _name_the_nameless(mine)
        rounds = guess_rounds(name, mine)
        end_epochs(rounds, mine)
    else:
        _refine(rounds, {i: v for v in mine for i in v.ids})
        end_epochs(rounds, mine)
    by_id = {i: v for v in mine for i in v.ids}
    give_roots(rounds)
    refine_times(mine, rounds)
    name_latecomers(rounds, facts, mine)
    give_timeouts(mine, facts)
    poll_us = poll_limit_us(mine)
    stops = [s for v in mine for s in stops_of(v, facts, rounds, poll_us)]
    pauses = pauses_of(mine, stops, rounds, by_id.get)
    end_with_the_unheard(pauses, rounds, mine, facts)
    return GroupStory(name, rounds, mine, pauses, stops, [f for f in facts if f.group])


def _name_the_nameless(voices: Sequence[Voice]) -> None:
    """Whose client prints no member id goes by its own name, where no coordinator tells another."""
    for voice in voices:
        if not voice.ids and voice.facts:
            voice.adopted = [(voice.facts[0].at_us, voice.name)]
            voice.index()


def _cooperates(voice: Voice) -> bool:
    return any(f.what == FactKind.JOINED and "cooperative" in f.why.lower() for f in voice.facts)


def _refine(rounds: Sequence[Round], by_id: dict[str, Voice]) -> None:
    former: Round | None = None
    for this in rounds:
        early = former is not None and former.end_us >= 0
        early = early and former is not None and this.begin_us - former.end_us < EARLY_US
        refine(this.trigger, this.begin_us, by_id.get(this.trigger.member), early)
        former = this
