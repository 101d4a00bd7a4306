"""What logs tell, in sentences: what was read, each group's rebalances and pauses, the hosts' clocks,
what was not understood, and what this level of logging cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rebalsim.reports.names import safe
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration
from rebalsim.worlds.logs.clocks import Clock
from rebalsim.worlds.logs.facts import CALLS
from rebalsim.worlds.logs.gaps import gaps_of
from rebalsim.worlds.logs.observation import GroupStory, Observation
from rebalsim.worlds.logs.pauses import Pause
from rebalsim.worlds.logs.rounds import Round
from rebalsim.worlds.logs.triggers import TriggerKind

NOTHING = (
    "No line is a Kafka consumer's or a group coordinator's: give their logs at level INFO "
    "(--what-to-log prints the settings)."
)
MOST_ROUNDS, MOST_KINDS = 40, 8
Name = Callable[[str], str]

WHY: dict[str, str] = {
    TriggerKind.JOIN: "{who} joined",
    TriggerKind.LEAVE: "{who} left",
    TriggerKind.POLL_TIMEOUT: "{who} outlasted max.poll.interval.ms",
    TriggerKind.SESSION_TIMEOUT: "the session of {who} ran out",
    TriggerKind.REBALANCE_TIMEOUT: "{who} did not give up its partitions in time",
    TriggerKind.FOLLOW_UP: "follow-up: what was revoked is handed on",
    TriggerKind.TOPIC_CHANGE: "a topic changed",
    TriggerKind.SUBSCRIPTION: "{who} changed its subscription",
    TriggerKind.STATIC_REJOIN: "{who} came back as a static member",
    TriggerKind.STATIC_RESTART: "{who} restarted and kept its place",
    TriggerKind.REJOIN: "{who} joined again by itself",
    TriggerKind.SYNC_TIMEOUT: "{who} did not fetch its assignment",
    TriggerKind.COORDINATOR_LOAD: "the coordinator was loaded anew",
    TriggerKind.CONVERT: "the group changed its protocol",
    TriggerKind.OTHER: "a reason that is not known",
    TriggerKind.UNKNOWN: "no line tells",
}


def render(observed: Observation, only: str = "") -> str:
    """All of it; of several groups a line each, of one its rebalances and pauses."""
    lines = [*_read(observed), ""]
    stories = list(observed.groups.values())
    if not stories:
        lines += [NOTHING]
    elif len(stories) == 1 or only:
        lines += _one(stories[0])
    else:
        lines += _many(stories)
    lines += _clocks(observed)
    lines += _unknown(observed)
    lines += _gaps(observed)
    return "\n".join(lines).rstrip() + "\n"


def _read(observed: Observation) -> list[str]:
    census = observed.census
    forms = [*census.wrappings, *census.dialects]
    told = f"Read {plural(census.lines, 'line')}, {census.taken:,} of them about groups"
    found = [f"{told} ({', '.join(forms)})." if forms else f"{told}."]
    if census.doubled:
        found.append(f"  {plural(census.doubled, 'line')} about groups came twice: counted once")
    if census.withheld:
        left = plural(census.withheld, "line")
        found.append(f"  {left} left out: where a name belongs, there is what looks like a secret")
    return [*found, *(f"  {safe(note)}" for note in observed.notes)]


def _many(stories: Sequence[GroupStory]) -> list[str]:
    rows = [("group", "members", "rebalances", "pauses", "partition-seconds", "longest")]
    for s in sorted(stories, key=lambda s: -_lost_us(s.pauses)):
        longest = max((_length(p) for p in s.pauses), default=0)
        rows.append(
            (
                safe(s.name),
                str(len(s.voices) or "-"),
                str(len(s.rounds)),
                str(len(s.pauses)),
                f"{_lost_us(s.pauses) / 1e6:,.1f}",
                say_duration(longest) if longest else "-",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
    return [*lines, "", "--group NAME tells one of them whole."]


def _stood_still(story: GroupStory) -> str:
    """Pauses, unless no log tells who had which partition: then none is no news."""
    if not any(f.what in CALLS for v in story.voices for f in v.facts):
        return "pauses unknown"
    where = plural(len({p.partition for p in story.pauses}), "partition")
    cost = f"{_lost_us(story.pauses) / 1e6:,.1f} partition-seconds"
    return f"{plural(len(story.pauses), 'pause')} of {where}, {cost}"


def _one(story: GroupStory) -> list[str]:
    name = namer(story)
    lines = [
        f"{safe(story.name)}: {plural(len(story.voices), 'consumer')} with a log, "
        f"{plural(len(story.rounds), 'rebalance')}, {_stood_still(story)}"
    ]
    shown = story.rounds[:MOST_ROUNDS]
    lines += [f"  {round_told(r, name)}" for r in shown]
    if len(story.rounds) > len(shown):
        lines.append(f"  … and {len(story.rounds) - len(shown)} more; --json has them all")
    return [*lines, *_causes(story, name)]


def round_told(r: Round, name: Name) -> str:
    """One rebalance in a line."""
    word = "epoch" if r.is_epoch else "generation"
    text = (
        f"{clock(r.begin_us)}  {word} {r.generation}: {why(r.trigger.kind, name(r.trigger.member))}"
    )
    if r.is_empty:
        return f"{text}; nobody is left"
    if r.joined_us >= 0 and not r.is_epoch and r.joined_us - r.begin_us >= 500_000:
        text += f"; the barrier took {say_duration(r.joined_us - r.begin_us)}"
        text += _late(r, name)
    elif r.is_epoch and r.late_member and r.late_us >= 500_000:
        text += f"; {name(r.late_member)} gave up its partitions last, after "
        text += say_duration(r.late_us)
    return text


def _late(r: Round, name: Name) -> str:
    if not r.late_member:
        return ""
    who = name(r.late_member)
    return {
        "removed": f", until {who} was given up",
        "failed": f", until the session of {who} ran out",
        "left": f", until {who} left",
    }.get(r.late_how, f", {who} came last")


def _causes(story: GroupStory, name: Name) -> list[str]:
    """Partition-seconds by cause, the gravest first."""
    totals: dict[tuple[str, str], list[Pause]] = {}
    for p in story.pauses:
        totals.setdefault((p.kind, name(p.member) if p.member else ""), []).append(p)
    if not totals:
        return []
    lines = ["", "What stood still, by cause"]
    for (kind, who), pauses in sorted(totals.items(), key=lambda x: -_lost_us(x[1])):
        longest = max(_length(p) for p in pauses)
        count = plural(len({p.partition for p in pauses}), "partition")
        still = sum(1 for p in pauses if p.end_us < 0)
        lines.append(
            f"  {_lost_us(pauses) / 1e6:8,.1f} partition-seconds, {count}, up to "
            f"{say_duration(longest) if longest else '0 s'}: {why(kind, who)}"
            + (f" ({still} not taken up again in these logs)" if still else "")
        )
    return lines


def why(kind: str, who: str) -> str:
    """A trigger in words."""
    return WHY.get(kind, kind).format(who=who or "somebody")


def namer(story: GroupStory) -> Name:
    """Member ids as the consumers' names, where a log tells."""
    names = {i: v.name for v in story.voices for i in v.ids}
    return lambda member: safe(names.get(member, member))


def clock(at_us: int) -> str:
    """The time of day, UTC."""
    seconds, ms = at_us // 1_000_000 % 86_400, at_us // 1_000 % 1_000
    return f"{seconds // 3_600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{ms:03d}"


def _length(p: Pause) -> int:
    return p.end_us - p.start_us if p.end_us >= 0 else 0


def _lost_us(pauses: Sequence[Pause]) -> int:
    return sum(_length(p) for p in pauses)


def _clocks(observed: Observation) -> list[str]:
    lines = []
    for file, found in sorted(observed.clocks.items()):
        skew = found.ahead_us - found.zone_us
        if abs(skew) >= 50_000 or found.zone_us or found.steps:
            lines.append(f"  {safe(file)}: {_clock(found, skew)}")
    return ["", "Clocks, by who answered whom", *lines] if lines else []


def _clock(found: Clock, skew: int) -> str:
    parts = []
    if found.zone_us:
        parts.append(f"its times are {found.zone_us / 3.6e9:+g} h from UTC")
    if abs(skew) >= 50_000:
        way = "ahead" if skew > 0 else "behind"
        bound = _bound(found)
        parts.append(f"{say_duration(abs(skew))} {way}{bound}")
    if found.steps:
        parts.append("and was set in between")
    return ", ".join(parts)


def _bound(found: Clock) -> str:
    if found.least_us is None or found.most_us is None or found.most_us < found.least_us:
        return ", give or take"
    return f", within {say_duration(max(1_000, found.most_us - found.least_us))}"


def _unknown(observed: Observation) -> list[str]:
    kinds = observed.census.unknown.most_common(MOST_KINDS)
    if not kinds:
        return []
    total = sum(observed.census.unknown.values())
    lines = ["", f"Not understood: {plural(total, 'line')} that may be about groups, such as"]
    for kind, count in kinds:
        example = safe(observed.census.examples.get(kind, kind))[:110]
        lines.append(f"  {count:6,} × {example}")
    return lines


def _gaps(observed: Observation) -> list[str]:
    found = gaps_of(observed)
    if not found:
        return []
    return ["", "What these logs cannot tell", *(f"  {safe(gap)}" for gap in found)]
