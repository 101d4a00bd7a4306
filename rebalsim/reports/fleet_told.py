"""A fleet in a screen: how often its groups rebalance, what stands still, who causes it, the trend."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.reports.names import safe
from rebalsim.reports.observed import why
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration
from rebalsim.worlds.logs.tables import day_of

ALERT_AN_HOUR = 5  # rebalances; a group with more has something the matter with it


@dataclass(slots=True)
class GroupLine:
    """One group: rebalances, the most within an hour, µs lost, the longest pause."""

    name: str
    rebalances: int
    most_an_hour: int
    lost_us: int
    longest_us: int


@dataclass(slots=True)
class Deploy:
    """Members of a group that left and came within a short time, and what that cost."""

    group: str
    at_us: int
    rebalances: int
    members: int  # that left
    lost_us: int


@dataclass(slots=True)
class Blame:
    """What one member caused: its kind, how many pauses, µs lost."""

    group: str
    member: str
    kind: str
    pauses: int
    lost_us: int


@dataclass(slots=True)
class Fleet:
    """Everything that is told of a fleet."""

    groups: int
    rebalances: int
    days: int
    worst: list[GroupLine]
    causes: list[tuple[str, int, int]]
    weeks: list[tuple[str, int, int]]
    condemned: list[tuple[str, str]]
    deploys: list[Deploy]
    blamed: list[Blame]

    @property
    def alarming(self) -> list[GroupLine]:
        """The groups that rebalanced more than ALERT_AN_HOUR times within an hour."""
        return [g for g in self.worst if g.most_an_hour > ALERT_AN_HOUR]


def summary(fleet: Fleet) -> str:
    """One line: how much, in which time."""
    an_hour = fleet.rebalances / (fleet.days * 24)
    return (
        f"{plural(fleet.groups, 'group')}, {plural(fleet.rebalances, 'rebalance')} in "
        f"{plural(fleet.days, 'day')}, {an_hour:.3g} an hour."
    )


def say_day(at_us: int) -> str:
    """An instant of the calendar to the minute, in UTC."""
    minutes = at_us // 60_000_000 % 1_440
    return f"{day_of(at_us)} {minutes // 60:02d}:{minutes % 60:02d}"


def trend(fleet: Fleet) -> str:
    """Whether the last whole week lost more than those before it; empty where there is none."""
    if len(fleet.weeks) < 2:
        return ""
    *before, (_, _, last) = fleet.weeks
    usual = sum(us for _, _, us in before) / len(before)
    if not usual:
        return ""
    how = "more" if last > usual else "less"
    return (
        f"The last week stood still {last / 1e6:,.0f} partition-seconds, {how} than the "
        f"{usual / 1e6:,.0f} of an earlier one."
    )


def render(fleet: Fleet, out: str) -> str:
    """The report for a terminal."""
    lines = [f"{summary(fleet)} The tables are in {safe(out)}.", ""]
    lines += [*_worst(fleet), "", *_causes(fleet), "", *_deploys(fleet), *_weeks(fleet)]
    if fleet.condemned:
        lines += ["", "Settings that hurt"]
        lines += [f"  {safe(g)}: {safe(text)}" for g, text in fleet.condemned]
    return "\n".join(lines) + "\n"


def _worst(fleet: Fleet) -> list[str]:
    lines = ["Worst groups            rebalances  most an hour  partition-seconds  longest"]
    for g in fleet.worst:
        alert = " !" if g.most_an_hour > ALERT_AN_HOUR else ""
        longest = say_duration(g.longest_us) if g.longest_us else "-"
        lines.append(
            f"  {safe(g.name):<22}{g.rebalances:>10}{f'{g.most_an_hour}{alert}':>14}"
            f"{g.lost_us / 1e6:>19,.1f}  {longest}"
        )
    return [*lines, "", f"! more than {ALERT_AN_HOUR} rebalances within an hour"]


def _causes(fleet: Fleet) -> list[str]:
    lines = ["What stood still, by cause"]
    for cause, count, us in fleet.causes:
        lines.append(
            f"  {us / 1e6:>12,.1f} partition-seconds, {plural(count, 'pause')}: {why(cause, '')}"
        )
    if fleet.blamed:
        lines += ["", "Who caused most"]
    for b in fleet.blamed:
        lines.append(
            f"  {b.lost_us / 1e6:>12,.1f} partition-seconds, {plural(b.pauses, 'pause')}: "
            f"{safe(b.group)}: {why(b.kind, safe(b.member))}"
        )
    return lines


def _deploys(fleet: Fleet) -> list[str]:
    if not fleet.deploys:
        return []
    lines = ["Deploys that cost most     when (UTC)        members  rebalances  partition-seconds"]
    lines += [
        f"  {safe(d.group):<25}{say_day(d.at_us):<18}{d.members:>7}{d.rebalances:>12}"
        f"{d.lost_us / 1e6:>19,.1f}"
        for d in fleet.deploys
    ]
    return [*lines, ""]


def _weeks(fleet: Fleet) -> list[str]:
    lines = ["By week                 rebalances  partition-seconds"]
    lines += [f"  {week:<22}{count:>10}{us / 1e6:>19,.1f}" for week, count, us in fleet.weeks]
    return [*lines, trend(fleet)] if trend(fleet) else lines
