"""Pauses as sentences: who stood still for how long, waiting for what, and for whom. Data in,
words out; nothing is worked out here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Pause, Phase
from rebalsim.domain.doing import Doing
from rebalsim.domain.pause_start import PauseStart
from rebalsim.domain.phase import PhaseKind
from rebalsim.domain.trigger import Trigger
from rebalsim.reports.causes_told import tell_cause
from rebalsim.reports.doings_told import silent
from rebalsim.reports.names import partitions_told, safe
from rebalsim.reports.phases.card import cards
from rebalsim.reports.waits_told import until
from rebalsim.words.lists import joined, listed, plural
from rebalsim.words.times import say_duration

# a phase shorter than a 50th of the pause, or than this, is told with the rest
SMALL_SHARE, SMALL_US = 50, 100_000


@dataclass(frozen=True, slots=True)
class Together:
    """Pauses with the same story: partitions that stood still together, for the same reason."""

    pauses: tuple[Pause, ...]

    @property
    def first(self) -> Pause:
        return self.pauses[0]

    @property
    def length_us(self) -> int:
        return max(p.length_us for p in self.pauses)


def together(pauses: Iterable[Pause]) -> list[Together]:
    """Pauses of partitions that stood still at the same time for the same reason, longest first."""
    found: dict[tuple[object, ...], list[Pause]] = {}
    for p in pauses:
        key = (
            p.group,
            p.is_open,
            p.cause.kind,
            p.cause.consumer,
            p.cause.action,
            p.cause.disturbance,
            _shape(p),
        )
        found.setdefault(key, []).append(p)
    parts = [
        part for each in found.values() for once in _at_once(each) for part in _about_as_long(once)
    ]
    return sorted(
        map(Together, parts), key=lambda t: (-t.length_us, t.first.started_us, t.first.partition)
    )


def _shape(p: Pause) -> tuple[tuple[PhaseKind, str, Doing], ...]:
    """What the time went to, and for whom; who the partition's own owners were makes no other
    story of it.
    """
    return tuple(
        (phase.kind, "" if _is_own(phase, p) else phase.facts.consumer, phase.facts.doing)
        for phase in _large(p.phases, p.length_us)
    )


def _is_own(phase: Phase, p: Pause) -> bool:
    who, card = phase.facts.consumer, cards()[phase.kind]
    return (card.of_next_owners is not None and who == p.owner_after) or (
        card.of_last_owners is not None and who == p.owner_before
    )


def _about_as_long(pauses: list[Pause]) -> list[tuple[Pause, ...]]:
    """Longest first, parted where one is less than half as long as the first of its part."""
    parts: list[list[Pause]] = []
    for p in sorted(pauses, key=lambda p: (-p.length_us, p.partition)):
        if not parts or 2 * p.length_us < parts[-1][0].length_us:
            parts.append([])
        parts[-1].append(p)
    return [tuple(part) for part in parts]


def _at_once(pauses: list[Pause]) -> list[list[Pause]]:
    """Parted where one had ended before the next began: that was another time."""
    parts: list[list[Pause]] = []
    end = -1
    for p in sorted(pauses, key=lambda p: p.started_us):
        if p.started_us >= end:
            parts.append([])
        parts[-1].append(p)
        end = max(end, p.ended_us)
    return parts


def recurring(groups: Iterable[Together]) -> list[tuple[Together, tuple[Together, ...]]]:
    """What happened again and again in the same way, to whomever, is told once by its longest
    time: that one, and the others.
    """
    found: dict[tuple[object, ...], list[Together]] = {}
    # when those of a kind were: none of them meet, but for a tenth
    times: dict[tuple[object, ...], list[tuple[int, int]]] = {}
    for group in groups:
        p = group.first
        key: tuple[object, ...] = (p.group, p.is_open, p.cause.kind, _course(p))
        taken = times.setdefault(key, [])
        # in a roll the next one stops while the last one's first records are still on their way
        ended_us = p.ended_us - p.length_us // 10
        place = bisect_left(taken, (p.started_us, ended_us))
        if (place and taken[place - 1][1] > p.started_us) or (
            place < len(taken) and taken[place][0] < ended_us
        ):
            # at the same time, and shorter: that is not "again"
            key = (*key, p.started_us, p.partition)
        else:
            taken.insert(place, (p.started_us, ended_us))
        found.setdefault(key, []).append(group)
    return [(each[0], tuple(each[1:])) for each in found.values()]


def worth_telling(
    groups: Sequence[tuple[Together, tuple[Together, ...]]], most: int
) -> list[tuple[Together, tuple[Together, ...]]]:
    """The longest of the pauses, without those that are nothing beside the first."""
    return [
        each for each in groups[:most] if each[0].length_us * SMALL_SHARE >= groups[0][0].length_us
    ]


def _course(p: Pause) -> tuple[tuple[tuple[PhaseKind, str, Doing], ...], tuple[str, ...]]:
    """Its shape whoever it was about, and which timers ended what: whose trouble it was has no
    name here, nor has one whose heartbeat merely came last.
    """

    def name(consumer: str, doing: Doing) -> str:
        return "" if doing in _NO_FAULT else "*" if consumer == p.cause.consumer else consumer

    timers = tuple(
        phase.facts.timer
        for phase in _large(p.phases, p.length_us)
        if phase.kind in (PhaseKind.STUCK, PhaseKind.DETECTION)
    )
    return tuple(
        (kind, name(consumer, doing), doing) for kind, consumer, doing in _shape(p)
    ), timers


_NO_FAULT = (Doing.UNAWARE, Doing.JOINING, Doing.UNKNOWN, Doing.ASSIGNING, Doing.FETCHING)


def tell_recurring(group: Together, others: Sequence[Together]) -> str:
    """The sentence, and how often that happened besides, and with whom."""
    if not others:
        return tell(group)
    again = (
        "once more, for no longer"
        if len(others) == 1
        else f"{len(others):,} more times, never for longer"
    )
    whom = sorted(dict.fromkeys(safe(other.first.cause.consumer) for other in others))
    told = (
        ""
        if whom == [safe(group.first.cause.consumer)] or whom == [""]
        else f", with {listed(whom)}"
    )
    return f"{tell(group)} That happened {again}{told}."


def tell(group: Together) -> str:
    """The whole sentence about pauses with one story."""
    p = group.first
    who = partitions_told(x.partition for x in group.pauses)
    is_task = any(cards()[phase.kind].is_of_tasks for x in group.pauses for phase in x.phases)
    thing = "task" if is_task else "partition"
    count = f" ({plural(len(group.pauses), thing)})" if len(group.pauses) > 2 else ""
    shortest = min(x.length_us for x in group.pauses)
    length = say_duration(p.length_us)
    if shortest != p.length_us and say_duration(shortest) != length:
        length = f"up to {length}"
    is_one = len(group.pauses) == 1
    open_ = (
        f"{'has' if is_one else 'have'} stood still for {length} when the observation ends, and "
        f"still {'does' if is_one else 'do'},"
    )
    stood = f"{who}{count} {open_ if p.is_open else f'stood still for {length}'}"
    if p.why is PauseStart.CALLBACK:
        return f"{stood} {tell_standstill(p)}."
    owners = len({x.owner_after for x in group.pauses}), len({x.owner_before for x in group.pauses})
    return (
        f"{stood} {tell_cause(p.cause)}: "
        f"{tell_phases(p.phases, p.length_us, p.owner_after, p.owner_before, owners)}."
    )


def tell_standstill(p: Pause) -> str:
    """Why a partition stood still that its owner kept: the callback ran for others."""
    return (
        f"{tell_phase(p.phases[0])} for other "
        f"partitions{f' ({safe(p.cause.action)})' if p.cause.action else ''}"
    )


def tell_phases(
    phases: Sequence[Phase],
    length_us: int,
    owner_after: str = "",
    owner_before: str = "",
    owners: tuple[int, int] = (1, 1),
) -> str:
    """What the time went to, in order; what is small stands together at the end, so that all of
    it adds up. `owners`: how many took such partitions over, and how many gave them up, for what
    each of them did with its own.
    """
    large = _large(phases, length_us)
    lengths: list[tuple[str, str]] = []  # and what each of them was; what comes again is said once
    for phase in large:
        said = _tell_of(phase, owner_after, owner_before, owners)
        length = say_duration(phase.length_us)
        if lengths and lengths[-1][1] == said:
            length = f"{lengths.pop()[0]} and again {length}"
        lengths.append((length, said))
    told = [f"{length} {said}" for length, said in lengths]
    small = [phase for phase in phases if not any(phase is other for other in large)]
    if small:
        names = list(dict.fromkeys(phase.kind.value for phase in small))
        told.append(f"{say_duration(sum(phase.length_us for phase in small))} for {joined(names)}")
    return ", ".join(told)


def _tell_of(phase: Phase, owner_after: str, owner_before: str, owners: tuple[int, int]) -> str:
    who = phase.facts.consumer
    card = cards()[phase.kind]
    if owners[0] > 1 and card.of_next_owners is not None and who == owner_after:
        return card.of_next_owners(phase.facts)
    if owners[1] > 1 and card.of_last_owners is not None and who == owner_before:
        return card.of_last_owners(phase.facts)
    return tell_phase(phase, owner_after)


def _large(phases: Sequence[Phase], length_us: int) -> list[Phase]:
    least = max(length_us // SMALL_SHARE, min(SMALL_US, length_us // 4))
    return [phase for phase in phases if phase.length_us >= least] or [
        max(phases, key=lambda phase: phase.length_us)
    ]


def tell_none(variants: Iterable[Analysis]) -> str:
    """What to say where there is no pause: a partition that nobody ever had cannot stand still."""
    return (
        "No partition stood still."
        if any(a.lanes for a in variants)
        else "No partition stood still, for nobody ever had one."
    )


# ------------------------------------------------------------------------------------------- phases


def tell_phase(phase: Phase, owner_after: str = "") -> str:
    """What the partition was waiting for, to stand behind its length: `waiting at the barrier
    for c1, which was busy …`. `owner_after` is who had it in the end: where no timer ended a
    detection, it did.
    """
    f = phase.facts
    if phase.kind is PhaseKind.DETECTION and f.consumer and not f.timer and owner_after:
        who = safe(f.consumer)
        ended = (
            f"{safe(owner_after)} took its place"
            if f.trigger is Trigger.REPLACED and owner_after != f.consumer
            else "it was back"
        )
        return f"while {silent(f.doing, who)} and nobody knew{until(f, ended)}"
    return cards()[phase.kind].tell(f, safe(f.consumer) or "a member")
