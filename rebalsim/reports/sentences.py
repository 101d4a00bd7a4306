"""Pauses as sentences: who stood still for how long, waiting for what, and for whom. Data in, words out; nothing is worked out here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rebalsim.analysis import Analysis
from rebalsim.analysis.values import Cause, Facts, Pause, Phase, PhaseKind
from rebalsim.domain.instants import say_duration
from rebalsim.reports.names import partitions_told, plural, safe
from rebalsim.reports.ruler import say_instant

SMALL_SHARE, SMALL_US = 50, 100_000        # a phase shorter than a 50th of the pause, or than this, is told with the rest


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
        main = [(phase.kind, phase.facts.consumer, phase.facts.doing) for phase in _large(p.phases, p.length_us)]
        key = (p.group, p.is_open, p.cause.kind, p.cause.consumer, p.cause.action, p.cause.disturbance, tuple(main), rough(p.length_us))
        found.setdefault(key, []).append(p)
    groups = [Together(tuple(sorted(part, key=lambda p: (-p.length_us, p.partition)))) for each in found.values() for part in _at_once(each)]
    return sorted(groups, key=lambda t: (-t.length_us, t.first.started_us, t.first.partition))


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


def recurring(groups: Iterable[Together]) -> list[tuple[Together, int]]:
    """What happened again and again in the same way is told once, by its longest time, with how often it happened besides."""
    found: dict[tuple[object, ...], list[Together]] = {}
    for group in groups:
        p = group.first
        main = tuple((phase.kind, phase.facts.consumer, phase.facts.doing) for phase in _large(p.phases, p.length_us))
        found.setdefault((p.group, p.is_open, p.cause.kind, p.cause.consumer, main), []).append(group)
    return [(each[0], len(each) - 1) for each in found.values()]


def tell_recurring(group: Together, more: int) -> str:
    """The sentence, and how often that happened besides."""
    again = "once more, not for longer" if more == 1 else f"{more:,} more times, never for longer"
    return f"{tell(group)} The same {again}." if more else tell(group)


def rough(us: int) -> int:
    """A length on a scale of steps of about a tenth, so that nearly equal pauses are told in one sentence."""
    bits = us.bit_length()
    return bits * 16 + (us >> max(0, bits - 5))


def tell(group: Together) -> str:
    """The whole sentence about pauses with one story."""
    p = group.first
    who = partitions_told(x.partition for x in group.pauses)
    count = f" ({plural(len(group.pauses), 'partition')})" if len(group.pauses) > 2 else ""
    shortest = min(x.length_us for x in group.pauses)
    length = say_duration(p.length_us)
    if shortest != p.length_us and say_duration(shortest) != length:
        length = f"up to {length}"
    is_one = len(group.pauses) == 1
    open_ = f"{'has' if is_one else 'have'} stood still for {length} when the observation ends, and still {'does' if is_one else 'do'},"
    return f"{who}{count} {open_ if p.is_open else f'stood still for {length}'} {tell_cause(p.cause)}: {tell_phases(p.phases, p.length_us, p.owner_after)}."


def tell_phases(phases: Sequence[Phase], length_us: int, owner_after: str = "") -> str:
    """What the time went to, in order; what is small stands together at the end, so that all of it adds up."""
    large = _large(phases, length_us)
    told = [f"{say_duration(phase.length_us)} {tell_phase(phase, owner_after)}" for phase in large]
    small = [phase for phase in phases if not any(phase is other for other in large)]
    if small:
        names = list(dict.fromkeys(phase.kind.value for phase in small))
        told.append(f"{say_duration(sum(phase.length_us for phase in small))} for {_and(names)}")
    return ", ".join(told)


def _large(phases: Sequence[Phase], length_us: int) -> list[Phase]:
    least = max(length_us // SMALL_SHARE, min(SMALL_US, length_us // 4))
    return [phase for phase in phases if phase.length_us >= least] or [max(phases, key=lambda phase: phase.length_us)]


def tell_none(variants: Iterable[Analysis]) -> str:
    """What to say where there is no pause: a partition that nobody ever had cannot stand still."""
    return "No partition stood still." if any(a.lanes for a in variants) else "No partition stood still, for nobody ever had one."


def _and(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


# ------------------------------------------------------------------------------------------------ phases

_DOING = {
    "dead": "was dead", "frozen": "was frozen", "cut-off": "was cut off", "stuck": "was stuck in its handler", "busy": "was busy with its batch",
    "in-callback": "was in its callback", "starting": "was starting", "joining": "was joining", "away": "was away", "closing": "was closing",
    "committing": "was committing", "restoring": "was restoring its state",
}
_DONE = {                    # what a consumer was waited for, once it had come to that
    "busy": "had done with its batch", "in-callback": "had come out of its callback", "stuck": "had come out of its handler", "frozen": "had thawed",
    "cut-off": "could be reached again",
}
_TIMERS = {
    "session.timeout.ms": "its session ran out", "max.poll.interval.ms": "max.poll.interval.ms ran out", "heartbeat.interval.ms": "its heartbeat",
}


def tell_phase(phase: Phase, owner_after: str = "") -> str:
    """What the partition was waiting for, to stand behind its length: `waiting at the barrier for c1, which was busy …`. `owner_after` is who
    had it in the end: where no timer ended a detection, it did."""
    f = phase.facts
    if phase.kind is PhaseKind.DETECTION and f.consumer and not f.timer and owner_after:
        who = safe(f.consumer)
        ended = f"{safe(owner_after)} took its place" if f.trigger == "replaced" and owner_after != f.consumer else "it was back"
        return f"while {_silent(f, who)} and nobody knew{_until(f, ended)}"
    return _TELLERS[phase.kind](f, safe(f.consumer) or "a member")


def _until(f: Facts, ending: str = "") -> str:
    at = f" at {say_instant(f.until_us)}" if f.until_us >= 0 else ""
    said = ending or _TIMERS.get(f.timer, "")
    return f" until {said}{at}" if said else f" until {say_instant(f.until_us)}" if at else ""


def _stuck(f: Facts, who: str) -> str:
    return f"while {who}'s handler was stuck" + (_until(f) if f.timer else "")


def _detection(f: Facts, who: str) -> str:
    if not f.consumer:
        return "until a metadata refresh told that it exists" if f.timer == "metadata.max.age.ms" else "until anybody knew of it"
    return f"while {_silent(f, who)} and nobody knew" + (_until(f) if f.timer else "")


def _silent(f: Facts, who: str) -> str:
    states = {"dead": "was dead", "frozen": "was frozen", "cut-off": "was cut off", "stuck": "was stuck", "away": "was away", "closing": "was away"}
    return f"{who} {states.get(f.doing, 'was silent')}"


def _away(f: Facts, who: str) -> str:
    if not f.consumer:
        return "while nobody was there to take it"
    return f"until {who} {_DONE[f.doing]}" if f.doing in _DONE else f"until {who} was back"


def _barrier(f: Facts, who: str) -> str:
    if f.doing == "initial-delay":
        return "waiting out group.initial.rebalance.delay.ms"
    if not f.consumer:
        return "waiting at the barrier for the last member to join"
    if f.doing == "unaware":
        return f"waiting at the barrier for {who}, which did not hear of the rebalance{_until(f)}"
    if f.doing == "dead" and f.timer:                # a new process of that name may be there and well
        return f"waiting at the barrier for {who}'s dead process{_until(f)}"
    said = _DOING.get(f.doing)
    if said is None:
        return f"waiting at the barrier for {who}"
    if f.doing == "joining":
        return f"waiting at the barrier for {who} to join"
    return f"waiting at the barrier for {who}, which {said}{_until(f)}"


def _notice(f: Facts, who: str) -> str:
    return f"until {who} heard of the rebalance{_heard(f)}"


def _heard(f: Facts) -> str:
    """How and when: at its heartbeat, which comes whatever the application does, or in an answer to what only its poll could send."""
    at = f" at {say_instant(f.until_us)}" if f.consumer and f.until_us >= 0 else ""
    if f.timer or not f.consumer:
        return f" at its heartbeat{at}"
    return f", when it {_DONE[f.doing]}{at}" if f.doing in _DONE else f"{at}"


def _revoke(f: Facts, who: str) -> str:
    return {"closing": f"while {who} closed", "in-callback": f"while {who} ran its revocation callback", "committing": f"while {who} committed"}.get(
        f.doing, f"while {who} gave it up")


def _follow_up(f: Facts, who: str) -> str:
    if not f.consumer:
        return "waiting for the second rebalance"
    return f"waiting for the second rebalance, of which {who} heard{_heard(f).removeprefix(',')}"


def _assignment(f: Facts, who: str) -> str:
    if f.consumer and f.doing in _DOING:
        return f"for the assignment, while {who} {_DOING[f.doing]}{_until(f)}"
    return "for the assignment to be computed and handed out"


def _fetch(f: Facts, who: str) -> str:
    if f.doing == "busy":
        return f"while {who} was busy with records of other partitions{_until(f)}"
    return f"until {who} had found its position and the first records"


_TELLERS: dict[PhaseKind, Callable[[Facts, str], str]] = {
    PhaseKind.STUCK: _stuck,
    PhaseKind.DETECTION: _detection,
    PhaseKind.AWAY: _away,
    PhaseKind.NOTICE: _notice,
    PhaseKind.REVOKE: _revoke,
    PhaseKind.RELEASE: lambda f, who: f"until {who} confirmed that it had let go",
    PhaseKind.INTERVAL: lambda f, who: "because the broker waits between two assignments",
    PhaseKind.BARRIER: _barrier,
    PhaseKind.FOLLOW_UP: _follow_up,
    PhaseKind.PICKUP: lambda f, who: f"until {who} was told at its heartbeat",
    PhaseKind.ASSIGNMENT: _assignment,
    PhaseKind.RESTORE: lambda f, who: f"while {who} prepared it (callback, state)",
    PhaseKind.FETCH: _fetch,
}


# ------------------------------------------------------------------------------------------------ causes

_CAUSES = {
    "scale-out": "when {c} joined", "restart": "when {c} came back after a restart", "rejoined": "when {c} joined again", "left": "when {c} left",
    "stopped": "when {c} stopped", "enforced": "when {c} asked for a rebalance",
    "crashed": "after {c} crashed", "fatal": "after {c} died of an error", "froze": "after {c} froze", "stuck": "when {c}'s handler got stuck",
    "poll-interval-exceeded": "when {c} outlasted max.poll.interval.ms",
    "session-expired": "when {c}'s session ran out", "cut-off": "after {c} was cut off",
    "static-restart": "when {c} restarted under its static id", "topic-changed": "when the topic changed",
    "subscription-changed": "when {c} changed its subscription",
    "coordinator-moved": "when the coordinator moved", "callback": "while {c} was in a callback", "rebalance": "in a rebalance", "start": "at the start",
}


def tell_cause(cause: Cause) -> str:
    """`when c2 joined`, `after c1 crashed (crash-1)`."""
    said = _CAUSES.get(cause.kind, "in a rebalance").format(c=safe(cause.consumer) or "a member")
    return f"{said} ({safe(cause.action)})" if cause.action else said


_TRIGGERS = {
    "joined": "{c} joined", "left": "{c} left", "session-expired": "{c}'s session ran out", "poll-expired": "{c} outlasted max.poll.interval.ms",
    "metadata-changed": "topics changed", "leader-rejoined": "the leader {c} joined again", "rejoined": "{c} joined again",
    "enforced": "{c} asked for a rebalance (enforceRebalance)",
    "static-protocol-changed": "{c} came back with another assignor list",
    "sync-expired": "{c} did not send SyncGroup in time", "write-failed": "the assignment could not be written", "barrier-unmet": "the barrier's time ran out",
    "coordinator-moved": "the coordinator moved", "regrouped": "members joined again", "subscription-changed": "{c} changed its subscription",
}


def tell_trigger(trigger: str, consumer: str) -> str:
    """Why a rebalance began: `c2 joined`."""
    who = safe(consumer) or "a member"
    return _TRIGGERS.get(trigger, safe(trigger) or "unknown").format(c=who)
