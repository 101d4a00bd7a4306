"""A fleet in a screen: how often its groups rebalance, what stands still, who causes it, the trend."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.reports.names import safe
from rebalsim.reports.observed import why
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration

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
class Fleet:
    """Everything that is told of a fleet."""

    groups: int
    rebalances: int
    days: int
    worst: list[GroupLine]
    causes: list[tuple[str, int, int]]
    weeks: list[tuple[str, int, int]]
    condemned: list[tuple[str, str]]


def render(fleet: Fleet, out: str) -> str:
    """The report for a terminal."""
    lines = [
        f"{plural(fleet.groups, 'group')}, {plural(fleet.rebalances, 'rebalance')} in "
        f"{plural(fleet.days, 'day')}. The tables are in {safe(out)}.",
        "",
        "Worst groups            rebalances  most an hour  partition-seconds  longest",
    ]
    for g in fleet.worst:
        alert = " !" if g.most_an_hour > ALERT_AN_HOUR else ""
        longest = say_duration(g.longest_us) if g.longest_us else "-"
        lines.append(
            f"  {safe(g.name):<22}{g.rebalances:>10}{f'{g.most_an_hour}{alert}':>14}"
            f"{g.lost_us / 1e6:>19,.1f}  {longest}"
        )
    lines += [
        "",
        f"! more than {ALERT_AN_HOUR} rebalances within an hour",
        "",
        "What stood still, by cause",
    ]
    for cause, count, us in fleet.causes:
        lines.append(
            f"  {us / 1e6:>12,.1f} partition-seconds, {plural(count, 'pause')}: {why(cause, '')}"
        )
    lines += ["", "By week                 rebalances  partition-seconds"]
    lines += [f"  {week:<22}{count:>10}{us / 1e6:>19,.1f}" for week, count, us in fleet.weeks]
    if fleet.condemned:
        lines += [
            "",
            "Settings that hurt",
            *(f"  {safe(g)}: {text}" for g, text in fleet.condemned),
        ]
    return "\n".join(lines) + "\n"
