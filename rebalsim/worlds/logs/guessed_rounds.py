"""Rebalances out of clients' logs alone, where no coordinator's log is at hand.

A classic generation is known by those who joined it; what began it, by who came, left or fell silent.
Group epochs are known by the members' states; they are told off against those who came and left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalsim.worlds.logs.facts import ANSWERED, GIVEN_UP, GOES, OF_EPOCHS, Fact, FactKind
from rebalsim.worlds.logs.rounds import Round, finished
from rebalsim.worlds.logs.triggers import Trigger, TriggerKind, kind_of_rejoin
from rebalsim.worlds.logs.voices import Voice

Joins = dict[int, list[tuple[Voice, int]]]  # generation → who joined it, at which of its facts
Goings = dict[int, list[Fact]]  # of each voice, by its identity: where it says that it goes
Sign = tuple[int, TriggerKind, str]  # when, what may have begun a rebalance, which member


@dataclass(slots=True)
class _Known:
    """Who joined which generation, which came before each, and where everybody says that he goes."""

    joins: Joins
    before: dict[int, int]
    goings: Goings

    def former(self, generation: int) -> list[tuple[Voice, int]] | None:
        """Who joined the generation before; None where that is not known."""
        before = self.before.get(generation)
        return self.joins[before] if before is not None else None


def guess_rounds(group: str, voices: Sequence[Voice]) -> list[Round]:
    """The group's rebalances as its members lived through them."""
    if any(f.what in OF_EPOCHS for v in voices for f in v.facts):
        return finished(_epochs(group, voices))
    joins = _joins(voices) or _numbered(voices)
    ordered = sorted(joins)
    known = _Known(joins, dict(zip(ordered[1:], ordered)), {id(v): _goings(v) for v in voices})
    rounds: list[Round] = []
    for generation in ordered:
        former = rounds[-1] if rounds else None
        if former is not None and generation > former.generation + 1:
            rounds += _emptied(generation, former, known, voices)
            former = rounds[-1]
        rounds.append(_round(group, generation, known, voices, former))
    return finished(rounds)


def _joins(voices: Sequence[Voice]) -> Joins:
    found: Joins = {}
    for voice in voices:
        seen: set[int] = set()
        for place, f in enumerate(voice.facts):
            mine = f.what in ANSWERED and f.generation > 0
            if mine and f.generation not in seen:
                seen.add(f.generation)
                found.setdefault(f.generation, []).append((voice, place))
    return found


SILENT_US = 2_000_000
TAKEN_WITHIN_US = 10_000_000
TOGETHER_US = 1_500_000  # listeners of one rebalance are called within so long


def _numbered(voices: Sequence[Voice]) -> Joins:
    """Where no client prints generations: those who are given partitions together joined the same one,
    and the first of a log counts as the first of all.
    """
    given = sorted(
        (f.at_us, n, place)
        for n, v in enumerate(voices)
        for place, f in enumerate(v.facts)
        if f.what == FactKind.ASSIGNED
    )
    found: Joins = {}
    last = -TOGETHER_US
    number = 0
    for at, n, place in given:
        if at - last > TOGETHER_US or any(v is voices[n] for v, _ in found.get(number, ())):
            number += 1
        found.setdefault(number, []).append((voices[n], place))
        last = at
    return found


def _since(former: Round | None) -> int:
    return 0 if former is None else former.end_us if former.end_us >= 0 else former.joined_us


def _emptied(generation: int, former: Round, known: _Known, voices: Sequence[Voice]) -> list[Round]:
    """A generation that nobody joined: everybody had left."""
    joined = min(v.facts[place].at_us for v, place in known.joins[generation])
    leaves = sorted(_leaves(voices, known.goings, _since(former), joined))
    if not leaves:
        return []
    begin, kind, member = leaves[0]
    this = Round(former.group, generation - 1, begin, Trigger(kind, member, is_sure=False))
    this.end_us, this.is_empty, this.is_guessed = leaves[-1][0] + 1, True, True
    return [this]


def _round(
    group: str,
    generation: int,
    known: _Known,
    voices: Sequence[Voice],
    former: Round | None,
) -> Round:
    there, since = known.joins[generation], _since(former)
    joined = min(v.facts[place].at_us for v, place in there)
    signs = [sign for v, place in there if (sign := _sign(v, place, since)) is not None]
    signs += _leaves(_leavers(known, generation, voices), known.goings, since, joined)
    if not signs:
        signs = _unheard(known, generation, since) or _silent(known, generation, joined)
    begin, kind, member = min(signs, default=(joined, TriggerKind.UNKNOWN, ""))
    heard = [_first_heard(v, place, since) for v, place in there]
    begin = min([begin, *(h for h in heard if h >= 0)])
    this = Round(group, generation, begin, Trigger(kind, member, is_sure=False))
    this.joined_us, this.is_guessed, this.members = joined, True, len(there)
    this.end_us = max(v.facts[place].at_us for v, place in there)
    return this


def _sign(voice: Voice, place: int, since: int) -> Sign | None:
    """What this consumer did, before it joined, that may have begun the round."""
    member = voice.facts[place].member or voice.id_at(voice.facts[place].at_us)
    if (came_us := _newly_there(voice, place)) >= 0:
        return came_us, TriggerKind.JOIN, member
    for f in reversed(voice.facts[:place]):
        if f.what in (FactKind.JOINED, FactKind.SYNCED, FactKind.HEARD) or (
            f.at_us < since and f.what != FactKind.REJOINING
        ):
            return None
        if f.what in (FactKind.NAMED, FactKind.STARTED):
            return f.at_us, TriggerKind.JOIN, member
        if f.what == FactKind.REJOINING and (kind := kind_of_rejoin(f.why)) != TriggerKind.REJOIN:
            return f.at_us, kind, member
        if f.what == FactKind.ASSIGNED and not _tells_generations(voice):
            return None
    for f in voice.facts[:place]:  # its log begins with its first join
        if f.what == FactKind.ASKING:
            return f.at_us, TriggerKind.JOIN, member
    return None


def _tells_generations(voice: Voice) -> bool:
    return any(f.what == FactKind.JOINED and f.generation > 0 for f in voice.facts)


def _newly_there(voice: Voice, place: int) -> int:
    """When one asked that has never joined under its id before; −1: it has, or nobody can tell."""
    this = voice.facts[place]
    if this.what not in ANSWERED or this.generation <= 0:
        return -1
    since = -1
    for f in reversed(voice.facts[:place]):
        if f.what == FactKind.HEARD:
            return -1
        if f.what in ANSWERED and f.generation != this.generation:
            if not this.member or not f.member or f.member == this.member:
                return -1
            since = f.at_us
            break
    asked = [
        f.at_us for f in voice.facts if f.what == FactKind.ASKING and since < f.at_us <= this.at_us
    ]
    return asked[-1] if asked else -1


def _first_heard(voice: Voice, place: int, since: int) -> int:
    for f in reversed(voice.facts[:place]):
        if f.at_us < since or f.what == FactKind.JOINED:
            break
        if f.what == FactKind.HEARD:
            return f.at_us
    return -1


def _goings(voice: Voice) -> list[Fact]:
    is_telling = any(f.what in (FactKind.LEAVING, FactKind.STATE) for f in voice.facts)
    closing = not is_telling and not voice.instance
    return [
        f
        for f in voice.facts
        if f.what == FactKind.LEAVING
        or f.why.endswith(">LEAVING")
        or (closing and f.what == FactKind.CLOSED)
    ]


def _leaves(voices: Sequence[Voice], goings: Goings, since: int, until: int) -> list[Sign]:
    found = []
    for voice in voices:
        for f in goings[id(voice)]:
            if since <= f.at_us <= until:
                kind = TriggerKind.POLL_TIMEOUT if _expired(voice, f) else TriggerKind.LEAVE
                found.append((f.at_us, kind, f.member or voice.id_at(f.at_us)))
    return found


def _leavers(known: _Known, generation: int, voices: Sequence[Voice]) -> Sequence[Voice]:
    """Who can have left: those of the generation before, or all where it is not known."""
    former = known.former(generation)
    there = {id(v) for v, _ in former or ()}
    there |= {id(v) for v, _ in known.joins[generation]}
    return [v for v in voices if id(v) in there] if former is not None else voices


def _unheard(known: _Known, generation: int, since: int) -> list[Sign]:
    """Who was there before and is no more, and whose log says only afterwards that it has closed: the
    LeaveGroup is not printed by every client, and the others may print faster.
    """
    former = known.former(generation)
    if former is None:
        return []
    there = {id(v) for v, _ in known.joins[generation]}
    gone = [v for v, _ in former if id(v) not in there]
    joined = min(v.facts[place].at_us for v, place in known.joins[generation])
    return [
        (min(at, joined), kind, member)
        for at, kind, member in _leaves(gone, known.goings, since, joined + TOGETHER_US)
    ]


def _expired(voice: Voice, leaving: Fact) -> bool:
    if "poll timeout" in leaving.why:
        return True
    return any(
        f.what == FactKind.POLL_EXPIRED and abs(f.at_us - leaving.at_us) < 500_000
        for f in voice.facts
    )


def _silent(known: _Known, generation: int, joined: int) -> list[Sign]:
    """Who was there the last time, is not now, and said nothing: its session ran out."""
    there = {id(v) for v, _ in known.joins[generation]}
    former = known.former(generation)
    if former is None:
        return []
    return [
        (joined, TriggerKind.SESSION_TIMEOUT, v.id_at(v.facts[place].at_us))
        for v, place in former
        if id(v) not in there
    ]


# ------------------------------------------------------------------------ the consumer protocol


def _epochs(group: str, voices: Sequence[Voice]) -> list[Round]:
    """One epoch for each who came or left, in order; what is left over nobody's log explains."""
    seen = sorted({f.generation for v in voices for f in v.facts if _is_epoch(f)})
    if not seen:
        return []
    goings = {id(v): _goings(v) for v in voices}
    signs = sorted([*_arrivals(voices), *_leaves(voices, goings, 0, 1 << 62)])
    rounds: list[Round] = []
    for generation in range(seen[0], seen[-1] + 1):
        first = _first_seen(generation, voices)
        if signs and (first < 0 or signs[0][0] <= first + 1_000):
            begin, kind, member = signs.pop(0)
        else:
            dead = _dead_before(first, voices)
            begin, kind, member = (
                first,
                TriggerKind.SESSION_TIMEOUT if dead else TriggerKind.TOPIC_CHANGE,
                dead,
            )
        this = Round(group, generation, begin, Trigger(kind, member, is_sure=False), is_epoch=True)
        this.is_guessed = True
        rounds.append(this)
    for begin, kind, member in signs:
        last = rounds[-1].generation
        this = Round(group, last + 1, begin, Trigger(kind, member, is_sure=False), is_epoch=True)
        rounds.append(this)
        this.is_guessed = True
    return rounds


def _dead_before(at_us: int, voices: Sequence[Voice]) -> str:
    """Who had fallen silent without having left, and whose partitions others are then given: its
    session has run out. Empty where nobody is.
    """
    given = {
        p
        for v in voices
        for f in v.facts
        if f.what == FactKind.ASSIGNED and 0 <= f.at_us - at_us < TAKEN_WITHIN_US
        for p in f.partitions
    }
    for voice in voices:
        before = [f for f in voice.facts if f.at_us <= at_us]
        after = next((f for f in voice.facts if f.at_us > at_us), None)
        lives = after is not None and after.what not in (FactKind.STARTED, FactKind.NAMED)
        if not before or lives or before[-1].at_us > at_us - SILENT_US:
            continue
        if not any(f.what in GOES for f in before[-4:]) and given & _held(before):
            return voice.id_at(at_us)
    return ""


def _held(facts: Sequence[Fact]) -> set[str]:
    """What a consumer of the consumer protocol had at the end of these."""
    held: set[str] = set()
    for f in facts:
        if f.what == FactKind.ASSIGNED:
            held |= set(f.partitions)
        elif f.what in GIVEN_UP:
            held -= set(f.partitions)
    return held


def _is_epoch(f: Fact) -> bool:
    return f.what in OF_EPOCHS and f.generation > 0


def _first_seen(generation: int, voices: Sequence[Voice]) -> int:
    seen = (f.at_us for v in voices for f in v.facts if _is_epoch(f) and f.generation == generation)
    return min(seen, default=-1)


def _arrivals(voices: Sequence[Voice]) -> list[Sign]:
    """Who joined, at the coordinator's answer."""
    found = []
    for voice in voices:
        is_known = False
        for f in voice.facts:
            if f.what == FactKind.STARTED or (
                f.what == FactKind.STATE and f.why.endswith(">JOINING")
            ):
                is_known = False
            elif _is_epoch(f) and not is_known:
                is_known = True
                found.append((f.at_us, TriggerKind.JOIN, f.member))
    return found
