"""Pauses as sentences: who stood still for how long, waiting for what, and for whom. Data in,
words out; nothing is worked out here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Cause, Facts, Pause, Phase, PhaseKind
from rebalsim.reports.names import partitions_told, safe
from rebalsim.words.lists import joined, listed, plural
from rebalsim.words.times import say_duration, say_instant

OF_TASKS = (PhaseKind.DELAY, PhaseKind.STOP, PhaseKind.START)  # phases of Connect's tasks
SMALL_SHARE, SMALL_US = (
    50,
    100_000,
)  # a phase shorter than a 50th of the pause, or than this, is told with the rest


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


def _shape(p: Pause) -> tuple[tuple[PhaseKind, str, str], ...]:
    """What the time went to, and for whom; who the partition's own owners were makes no other
    story of it.
    """
    return tuple(
        (phase.kind, "" if _is_own(phase, p) else phase.facts.consumer, phase.facts.doing)
        for phase in _large(p.phases, p.length_us)
    )


def _is_own(phase: Phase, p: Pause) -> bool:
    who = phase.facts.consumer
    return (phase.kind in _OF_NEXT_OWNER and who == p.owner_after) or (
        phase.kind is PhaseKind.REVOKE and who == p.owner_before
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
    times: dict[
        tuple[object, ...], list[tuple[int, int]]
    ] = {}  # when those of a kind were: none of them meet
    for group in groups:
        p = group.first
        key: tuple[object, ...] = (p.group, p.is_open, p.cause.kind, _course(p))
        taken = times.setdefault(key, [])
        place = bisect_left(taken, (p.started_us, p.ended_us))
        if (place and taken[place - 1][1] > p.started_us) or (
            place < len(taken) and taken[place][0] < p.ended_us
        ):
            key = (
                *key,
                p.started_us,
                p.partition,
            )  # at the same time, and shorter: that is not "again"
        else:
            taken.insert(place, (p.started_us, p.ended_us))
        found.setdefault(key, []).append(group)
    return [(each[0], tuple(each[1:])) for each in found.values()]


def worth_telling(
    groups: Sequence[tuple[Together, tuple[Together, ...]]], most: int
) -> list[tuple[Together, tuple[Together, ...]]]:
    """The longest of them, without those that are nothing beside the first."""
    return [
        each for each in groups[:most] if each[0].length_us * SMALL_SHARE >= groups[0][0].length_us
    ]


def _course(p: Pause) -> tuple[tuple[tuple[PhaseKind, str, str], ...], tuple[str, ...]]:
    """Its shape whoever it was about, and which timers ended what: whose trouble it was has no
    name here, nor has one whose heartbeat merely came last.
    """

    def name(consumer: str, doing: str) -> str:
        return "" if doing in _NO_FAULT else "*" if consumer == p.cause.consumer else consumer

    timers = tuple(
        phase.facts.timer
        for phase in _large(p.phases, p.length_us)
        if phase.kind in (PhaseKind.STUCK, PhaseKind.DETECTION)
    )
    return tuple(
        (kind, name(consumer, doing), doing) for kind, consumer, doing in _shape(p)
    ), timers


_NO_FAULT = ("unaware", "joining", "unknown", "assigning", "fetching")


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
    is_task = any(phase.kind in OF_TASKS for x in group.pauses for phase in x.phases)
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
    if p.why == "callback":
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
    told = [
        f"{say_duration(phase.length_us)} {_tell_of(phase, owner_after, owner_before, owners)}"
        for phase in large
    ]
    small = [phase for phase in phases if not any(phase is other for other in large)]
    if small:
        names = list(dict.fromkeys(phase.kind.value for phase in small))
        told.append(f"{say_duration(sum(phase.length_us for phase in small))} for {joined(names)}")
    return ", ".join(told)


def _tell_of(phase: Phase, owner_after: str, owner_before: str, owners: tuple[int, int]) -> str:
    who = phase.facts.consumer
    if owners[0] > 1 and phase.kind in _OF_NEXT_OWNER and who == owner_after:
        return _OF_NEXT_OWNER[phase.kind]
    if owners[1] > 1 and phase.kind is PhaseKind.REVOKE and who == owner_before:
        return _OF_LAST_OWNER.get(phase.facts.doing, "while their owners gave them up")
    return tell_phase(phase, owner_after)


_OF_NEXT_OWNER = {  # of several partitions that went to several members
    PhaseKind.FETCH: "until their owners had found the positions and the first records",
    PhaseKind.RESTORE: "while their owners prepared them (callback, state)",
    PhaseKind.PICKUP: "until their owners were told at their heartbeats",
    PhaseKind.START: "until their workers had started them",
}
_OF_LAST_OWNER = {
    "closing": "while their owners closed",
    "in-callback": "while their owners ran their revocation callbacks",
    "committing": "while their owners committed",
}


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

_DOING = {
    "dead": "was dead",
    "frozen": "was frozen",
    "cut-off": "was cut off",
    "stuck": "was stuck in its handler",
    "busy": "was busy with its batch",
    "in-callback": "was in its callback",
    "starting": "was starting",
    "joining": "was joining",
    "away": "was away",
    "closing": "was closing",
    "committing": "was committing",
    "restoring": "was restoring its state",
    "no-coordinator": "had no coordinator",
    "waiting": "waited for an answer",
    "ghost": "had left before the coordinator moved, but was loaded as a member again and stayed "
    "one",
}
_DONE = {  # what a consumer was waited for, once it had come to that
    "busy": "had done with its batch",
    "in-callback": "had come out of its callback",
    "stuck": "had come out of its handler",
    "frozen": "had thawed",
    "cut-off": "could be reached again",
}
_TIMERS = {
    "session.timeout.ms": "its session ran out",
    "max.poll.interval.ms": "max.poll.interval.ms ran out",
    "heartbeat.interval.ms": "its heartbeat",
    "rebalance_timeout_ms": "the rebalance timeout was over",
}


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
            if f.trigger == "replaced" and owner_after != f.consumer
            else "it was back"
        )
        return f"while {_silent(f, who)} and nobody knew{_until(f, ended)}"
    return _TELLERS[phase.kind](f, safe(f.consumer) or "a member")


def _until(f: Facts, ending: str = "") -> str:
    """What ended it, and when; nothing, where the phase was over before that."""
    if f.until_us < 0:
        return ""
    said = ending or _TIMERS.get(f.timer, "")
    return (
        f" until {said} at {say_instant(f.until_us)}"
        if said
        else f" until {say_instant(f.until_us)}"
    )


def _stuck(f: Facts, who: str) -> str:
    if f.doing == "failed":
        return "failed, for nobody restarts a failed task"
    doing = {
        "committing": "commit waited for the coordinator",
        "in-callback": "callback went on",
    }.get(f.doing, "handler was stuck")
    return f"while {who}'s {doing}" + (_until(f) if f.timer else "")


def _detection(f: Facts, who: str) -> str:
    if f.doing == "unled":
        return (
            "while nobody minded the topics, for their leader had come back without being told "
            "that it leads"
        )
    if not f.consumer:
        return (
            "until a metadata refresh told that it exists"
            if f.timer == "metadata.max.age.ms"
            else "until anybody knew of it"
        )
    return f"while {_silent(f, who)} and nobody knew" + (_until(f) + _renewed(f) if f.timer else "")


def _renewed(f: Facts) -> str:
    """A session of somebody who is not there may still begin anew: its last requests are
    answered, and a round that completes counts as heard of.
    """
    return f" (it had begun anew at {say_instant(f.heard_us)})" if f.heard_us >= 0 else ""


def _silent(f: Facts, who: str) -> str:
    states = {
        "dead": "was dead",
        "frozen": "was frozen",
        "cut-off": "was cut off",
        "stuck": "was stuck",
        "away": "was away",
        "closing": "was away",
    }
    return f"{who} {states.get(f.doing, 'was silent')}"


def _away(f: Facts, who: str) -> str:
    if not f.consumer:
        return "while nobody was there to take it"
    if f.doing in ("new", "starting"):
        return f"until {who} {'came' if f.doing == 'new' else 'had started'}"
    joined = " and joined again" if f.trigger == "rejoined" else ""
    return (
        f"until {who} {_DONE[f.doing]}{joined}{_at(f)}"
        if f.doing in _DONE
        else f"until {who} was back"
    )


def _at(f: Facts) -> str:
    return f" at {say_instant(f.until_us)}" if f.until_us >= 0 else ""


def _barrier(f: Facts, who: str) -> str:
    if f.doing == "initial-delay":
        return "waiting out group.initial.rebalance.delay.ms"
    if not f.consumer:
        return "waiting at the barrier for the last member to join"
    if f.doing == "unaware":
        return f"waiting at the barrier for {who}, which did not hear of the rebalance{_until(f)}"
    if f.doing == "dead" and f.timer:  # a new process of that name may be there and well
        return f"waiting at the barrier for {who}'s dead process{_until(f)}"
    said = _DOING.get(f.doing)
    if said is None:
        return f"waiting at the barrier for {who}"
    if f.doing == "joining":
        return f"waiting at the barrier for {who} to join"
    return f"waiting at the barrier for {who}, which {said}{_until(f)}"


def _notice(f: Facts, who: str) -> str:
    if f.doing == "no-coordinator":
        return f"without a coordinator{_until(f)}"
    if f.consumer and f.until_us < 0:
        return f"before {who} had heard of the rebalance"
    return f"until {who} heard of the rebalance{_heard(f)}"


def _heard(f: Facts) -> str:
    """How and when: at its heartbeat, which comes whatever the application does, or in an answer
    to what only its poll could send.
    """
    at = f" at {say_instant(f.until_us)}" if f.consumer and f.until_us >= 0 else ""
    if f.timer or not f.consumer:
        return f" at its heartbeat{at}"
    return f", when it {_DONE[f.doing]}{at}" if f.doing in _DONE else f"{at}"


def _revoke(f: Facts, who: str) -> str:
    if f.doing == "no-coordinator":
        return f"while {who} had no coordinator to commit to or to leave{_until(f)}"
    committed = f"while {who} committed{', again and again' if f.trigger == 'refused' else ''}"
    return {
        "closing": f"while {who} closed",
        "in-callback": f"while {who} ran its revocation callback",
        "committing": committed,
    }.get(f.doing, f"while {who} gave it up")


def _follow_up(f: Facts, who: str) -> str:
    if not f.consumer:
        return "waiting for the second rebalance"
    if f.doing == "torn":
        return (
            f"without a second rebalance: {who} had restarted under its static id before it "
            "could set that off"
        )
    if f.doing == "no-coordinator":
        return f"waiting for the second rebalance, without a coordinator{_until(f)}"
    if f.until_us < 0:
        return f"waiting for the second rebalance, of which {who} had yet to hear"
    return f"waiting for the second rebalance, of which {who} heard{_heard(f).removeprefix(',')}"


def _pickup(f: Facts, who: str) -> str:
    if f.doing == "no-coordinator":
        return f"without a coordinator that could have told {who}{_until(f)}"
    return (
        f"until the broker computed at {who}'s heartbeat"
        if f.doing == "computing"
        else f"until {who} was told at its heartbeat"
    )


def _assignment(f: Facts, who: str) -> str:
    if f.doing == "dead-leader":
        return f"for the assignment, which {who}'s dead process (the leader) was to make"
    if f.doing == "dead-owner":
        whose = f"{who}'s" if f.consumer else "a"
        return f"in the hands of {whose} dead process, which was given it"
    if f.doing == "no-coordinator":
        return f"for the assignment, without a coordinator{_until(f)}"
    if f.consumer and f.doing in _DOING:
        return f"for the assignment, while {who} {_DOING[f.doing]}{_until(f)}"
    return "for the assignment to be computed and handed out"


def _fetch(f: Facts, who: str) -> str:
    if f.doing == "reconnecting":
        return (
            f"until {who}'s connections were through again, which TCP and the client try at "
            "growing intervals"
        )
    if f.doing in ("stuck", "in-callback"):
        return f"while {who} {_DOING[f.doing]}{_until(f)}"
    if f.doing == "busy":
        return f"while {who} was busy with records of other partitions{_until(f)}"
    return f"until {who} had found its position and the first records"


_TELLERS: dict[PhaseKind, Callable[[Facts, str], str]] = {
    PhaseKind.STUCK: _stuck,
    PhaseKind.DETECTION: _detection,
    PhaseKind.AWAY: _away,
    PhaseKind.NOTICE: _notice,
    PhaseKind.REVOKE: _revoke,
    PhaseKind.RELEASE: lambda f, who: (
        f"without a coordinator to which {who} could have confirmed that it had let go{_until(f)}"
        if f.doing == "no-coordinator"
        else f"until {who} confirmed that it had let go"
    ),
    PhaseKind.INTERVAL: lambda f, who: "because the broker waits between two assignments",
    PhaseKind.BARRIER: _barrier,
    PhaseKind.FOLLOW_UP: _follow_up,
    PhaseKind.PICKUP: _pickup,
    PhaseKind.ASSIGNMENT: _assignment,
    PhaseKind.RESTORE: lambda f, who: f"while {who} prepared it (callback, state)",
    PhaseKind.FETCH: _fetch,
    PhaseKind.DELAY: lambda f, who: (
        f"waiting out scheduled.rebalance.max.delay.ms for {who}, on purpose{_until(f, 'it was over')}"
    ),
    PhaseKind.STOP: lambda f, who: (
        f"while {who} stopped its tasks and left"
        if f.doing == "closing"
        else f"while {who} stopped it"
    ),
    PhaseKind.START: lambda f, who: f"until {who} had started it",
}


# ------------------------------------------------------------------------------------------- causes

_CAUSES = {
    "scale-out": "when {c} joined",
    "restart": "when {c} came back after a restart",
    "rejoined": "when {c} joined again",
    "left": "when {c} left",
    "stopped": "when {c} stopped",
    "enforced": "when {c} asked for a rebalance",
    "crashed": "after {c} crashed",
    "fatal": "after {c} died of an error",
    "froze": "after {c} froze",
    "stuck": "when {c}'s handler got stuck",
    "commit-unanswered": "when {c}'s commit was not answered",
    "poll-interval-exceeded": "when {c} outlasted max.poll.interval.ms",
    "session-expired": "when {c}'s session ran out",
    "cut-off": "after {c} was cut off",
    "static-restart": "when {c} restarted under its static id",
    "topic-changed": "when the topic changed",
    "subscription-changed": "when {c} changed its subscription",
    "coordinator-moved": "when the coordinator moved",
    "callback": "while {c} was in a callback",
    "rebalance": "in a rebalance",
    "start": "while the group formed",
}


def tell_cause(cause: Cause) -> str:
    """`when c2 joined`, `after c1 crashed (crash-1)`."""
    said = _CAUSES.get(cause.kind, "in a rebalance").format(c=safe(cause.consumer) or "a member")
    return f"{said} ({safe(cause.action)})" if cause.action else said


_TRIGGERS = {
    "joined": "{c} joined",
    "left": "{c} left",
    "session-expired": "{c}'s session ran out",
    "poll-expired": "{c} outlasted max.poll.interval.ms",
    "metadata-changed": "topics changed",
    "leader-rejoined": "the leader {c} joined again",
    "rejoined": "{c} joined again",
    "enforced": "{c} asked for a rebalance (enforceRebalance)",
    "static-protocol-changed": "{c} came back with another assignor list",
    "sync-expired": "{c} did not send SyncGroup in time",
    "write-failed": "the assignment could not be written",
    "barrier-unmet": "the barrier's time ran out",
    "coordinator-moved": "the coordinator moved",
    "regrouped": "members joined again",
    "subscription-changed": "{c} changed its subscription",
}


def tell_trigger(trigger: str, consumer: str) -> str:
    """Why a rebalance began: `c2 joined`."""
    who = safe(consumer) or "a member"
    return _TRIGGERS.get(trigger, safe(trigger) or "unknown").format(c=who)
