"""An incident in sentences: what happened, what would have prevented it, then the chain, and what it
cost by cause and member.
"""

from __future__ import annotations

from collections.abc import Sequence

from rebalsim.incident.disturbance import Disturbance
from rebalsim.incident.investigate import Incident
from rebalsim.reports.names import natural, safe
from rebalsim.reports.observed import Name, clock, namer, round_told, why
from rebalsim.reports.remedies_told import tell_remedy
from rebalsim.words.lists import listed, plural
from rebalsim.words.times import say_duration
from rebalsim.worlds.logs.stops import StopKind
from rebalsim.worlds.logs.triggers import TriggerKind

MOST, MOST_ROUNDS, MOST_REMEDIES = 5, 12, 3
NOTHING = "Nothing stood still in these logs, as far as they tell."
NO_GROUP = (
    "No line is a Kafka consumer's or a group coordinator's, so these logs tell nothing of a night: "
    "give theirs at level INFO (`rebalsim observe --what-to-log` prints the settings)."
)


def render(incidents: Sequence[Incident]) -> str:
    """The worst incident whole, the others in a line each."""
    if not incidents:
        return NOTHING + "\n"
    first = incidents[0]
    lines = [happened(first), prevented(first)]
    beneath = [f"  {line}" for line in replayed(first)]
    lines += ["", *beneath] if beneath else []
    for heading, told in chain(first):
        lines += ["", heading, *(f"   {line}" for line in told)]
    if len(first.disturbances) > MOST:
        lines += ["", f"and {len(first.disturbances) - MOST} more, shorter ones."]
    others = incidents[1:]
    if others:
        lines += ["", "Other groups, less of it (--group NAME tells one of them)"]
        lines += [f"  {safe(i.story.name)}: {_cost(i)}" for i in others[:20]]
    return "\n".join(lines) + "\n"


def _cost(incident: Incident) -> str:
    if incident.story.pauses:
        return f"{incident.cost_us / 1e6:,.1f} partition-seconds"
    return f"{plural(sum(len(d.rounds) for d in incident.disturbances), 'rebalance')}, its cost unknown"


def happened(incident: Incident) -> str:
    """The first sentence."""
    d = incident.disturbances[0]
    name = namer(incident.story)
    if not d.pauses:
        return _unrest(incident, name)
    (kind, member), pauses = d.by_cause()[0]
    who = name(member) if member else ""
    begin = next((r.begin_us for r in d.rounds if r.trigger.member == member), d.begin_us)
    longest = max(d.length_us(p) for p in pauses)
    parts = sorted({p.partition for p in pauses}, key=natural)
    stood = f"{safe(listed(parts, 4))} stood still for up to {say_duration(longest)}"
    text = f"At {clock(begin)} UTC {why(kind, who)}{_before(d, kind, who, begin)}"
    text += f"{_waited_for(d, member, longest, name)}, and {stood}"
    cost = f"{d.cost_us / 1e6:,.1f} partition-seconds in all"
    times = f" over {plural(len(d.rounds), 'rebalance')}" if len(d.rounds) > 1 else ""
    return f"{text}: {cost}{times}, in group {safe(d.group)}."


def _waited_for(d: Disturbance, member: str, longest_us: int, name: Name) -> str:
    """Who held everybody up, where that is most of it: at the barrier that this member's doing began."""
    barriers = [
        (r.joined_us - r.begin_us, r)
        for r in d.rounds
        if r.trigger.member == member and r.joined_us >= 0 and not r.is_epoch
    ]
    lasted, worst = max(barriers, key=lambda b: b[0], default=(0, None))
    if worst is None or worst.late_member in ("", member) or 2 * lasted < longest_us:
        return ""
    return f", everybody waited {say_duration(lasted)} for {name(worst.late_member)}"


def _unrest(incident: Incident, name: Name) -> str:
    """Rebalances of which no log says what stood still meanwhile."""
    d = incident.disturbances[0]
    first = min(d.rounds, key=lambda r: r.begin_us)
    begun = why(first.trigger.kind, name(first.trigger.member) if first.trigger.member else "")
    times = plural(len(d.rounds), "rebalance")
    return (
        f"At {clock(first.begin_us)} UTC {begun}, and group {safe(d.group)} was held up for "
        f"{say_duration(max(1_000, d.held_up_us))} by {times}; which partitions stood still, no log tells."
    )


def _before(d: Disturbance, kind: str, who: str, begin_us: int) -> str:
    """Since when it could not go on, of whom the sentence speaks."""
    starts = [
        p.start_us
        for p in d.pauses
        if p.kind == kind
        and p.how in (StopKind.KILLED, StopKind.FROZEN, StopKind.HUNG)
        and safe(p.owner.name) == who
        and p.start_us < begin_us
    ]
    if not starts:
        return ""
    is_stuck = kind == TriggerKind.POLL_TIMEOUT
    since = (
        "its handler had been stuck since about" if is_stuck else "it had been silent since about"
    )
    return f" ({since} {clock(min(starts))})"


def prevented(incident: Incident) -> str:
    """The second sentence: only what was tried, and only where the replay is believed."""
    held = incident.held
    if held is None:
        return (
            f"What would have prevented it is not told: {incident.why_not or 'it was not played'}."
        )
    if not held.is_believed:
        return (
            f"What would have prevented it is not told: only {held.agreeing} of {held.observed} pauses "
            "replay within 10 %, too few to draw conclusions from."
        )
    if not incident.is_tried:
        return "What would have helped was not tried."
    if not incident.remedies:
        return "Nothing that was tried on its replay would have made it better."
    return f"What would have helped, tried on its replay: {tell_remedy(incident.remedies[0])}"


def replayed(incident: Incident) -> list[str]:
    """How far the replay can be believed, and the other remedies."""
    held = incident.held
    lines = [held.told()] if held is not None else []
    if held is not None and not held.is_believed:
        lines += [f"  not so: {safe(miss)}" for miss in held.misses[:3]]
    lines += [f"also tried: {tell_remedy(r)}" for r in incident.remedies[1:MOST_REMEDIES]]
    return lines


def chain(incident: Incident) -> list[tuple[str, list[str]]]:
    """The worst disturbances: what led to what, and what it cost, each with its heading."""
    worst = incident.disturbances[:MOST]
    return [_disturbance(d, incident, number) for number, d in enumerate(worst, 1)]


def _disturbance(d: Disturbance, incident: Incident, number: int) -> tuple[str, list[str]]:
    name = namer(incident.story)
    length = say_duration(max(1_000, d.end_us - d.begin_us))
    cost = plural(len(d.rounds), "rebalance")
    if d.pauses:
        where = plural(len({p.partition for p in d.pauses}), "partition")
        cost = f"{d.cost_us / 1e6:,.1f} partition-seconds, {where}"
    lines = [round_told(r, name) for r in d.rounds[:MOST_ROUNDS]]
    if len(d.rounds) > MOST_ROUNDS:
        lines.append(f"… and {len(d.rounds) - MOST_ROUNDS} more rebalances")
    return f"{number}. {clock(d.begin_us)}, {length}: {cost}", [*lines, *_attributed(d, name)]


def _attributed(d: Disturbance, name: Name) -> list[str]:
    """Every partition-second to a cause and a member."""
    lines = []
    for (kind, member), pauses in d.by_cause():
        cost = sum(map(d.length_us, pauses))
        share = 100 * cost / d.cost_us if d.cost_us else 0
        still = sum(1 for p in pauses if p.end_us < 0)
        who = name(member) if member else ""
        lines.append(
            f"{cost / 1e6:8,.1f} partition-seconds ({share:.0f} %) because {why(kind, who)}"
            + (f"; {plural(still, 'partition')} not taken up again in these logs" if still else "")
        )
    return lines
