"""The script, the phases of its clocks and the budgets, as show prints them."""

from __future__ import annotations

import textwrap
from itertools import zip_longest

from rebalsim.domain.budget import Level
from rebalsim.domain.lead import lead_of
from rebalsim.domain.scenario import Scenario
from rebalsim.domain.script_shift import shift_of
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.common_language import DRAW
from rebalsim.scenario.quantities import say_us
from rebalsim.scenario.resolve import Resolver
from rebalsim.scenario.script_words import say_deed, say_fault, say_when
from rebalsim.scenario.show_rows import Row, in_table, origin_of, wrapped


def timetable(scenario: Scenario, resolver: Resolver, width: int) -> list[str]:
    entries = _starts(scenario, resolver)
    for action in scenario.script:
        label = f"{action.id}: " if action.id else ""
        where = f"line {action.line}" if action.line > 0 else ""
        entries.append((say_when(action), label + say_deed(action.deed), where))
    entries += [("at random", say_fault(fault), "") for fault in scenario.random_faults]
    ends = origin_of(resolver.story, "horizon", "default")
    entries.append((say_us(scenario.horizon_us), "the story ends", ends))
    return [*_in_columns(entries, width), *_phase(scenario, resolver, width)]


def _starts(scenario: Scenario, resolver: Resolver) -> list[tuple[str, str, str]]:
    """Who starts when; of many moments the first six."""
    starts: dict[str, list[str]] = {}
    for group in scenario.groups:
        for consumer in group.consumers:
            if consumer.starts_at is not None:
                starts.setdefault(DRAW.say(consumer.starts_at), []).append(consumer.name)
    entries = []
    for moment, names in list(starts.items())[:6]:
        is_one = len(names) == 1
        if scenario.start == "settled":
            begun = f"{'has' if is_one else 'have'} run for {say_us(lead_of(scenario))}"
        else:
            begun = "starts" if is_one else "start"
        origin = origin_of(resolver.story, "start", "")
        entries.append((moment, f"{say_names(names)} {begun}", origin))
    if more := sum(len(names) for names in list(starts.values())[6:]):
        entries.append(("…", f"{more} more start one after another", ""))
    return entries


def _in_columns(entries: list[tuple[str, str, str]], width: int) -> list[str]:
    """Moment, what happens, and where that stands."""
    time_width = min(26, max(len(e[0]) for e in entries))
    origin_width = max(len(e[2]) for e in entries)
    room = max(20, width - time_width - origin_width - 6)
    lines = []
    for moment, what, origin in entries:
        moments = textwrap.wrap(moment, time_width, break_on_hyphens=False) or [""]
        parts = textwrap.wrap(what, room, break_on_hyphens=False) or [""]
        for i, (left, middle) in enumerate(zip_longest(moments, parts, fillvalue="")):
            lines.append(f"  {left:>{time_width}}  {middle:<{room}}  {origin if i == 0 else ''}")
    return lines


def _phase(scenario: Scenario, resolver: Resolver, width: int) -> list[str]:
    """How much later than in the table seeds play the script."""
    asked = resolver.story.get("heartbeat_phase")
    if not scenario.shift_within_us:
        return (
            wrapped(f"heartbeat_phase: {asked}: every seed plays it at these times", width, "  ")
            if asked == "as-written"
            else []
        )
    mine = shift_of(scenario.seed, scenario.shift_within_us)
    told = (
        f"heartbeat_phase: {asked or 'by-seed'}: seed {scenario.seed} plays it "
        f"{f'{say_us(mine)} later' if mine else 'at these times'}, others up to "
        f"{say_us(scenario.shift_within_us)} later, each at another moment between two heartbeats"
    )
    return wrapped(told, width, "  ")


def judged(scenario: Scenario, width: int) -> list[str]:
    rows = []
    for budget in scenario.budgets:
        where = [budget.variant] if budget.variant else []
        where += [f"topics {', '.join(budget.topics)}"] if budget.topics else []
        where += [f"members {', '.join(budget.members)}"] if budget.members else []
        where += [f"action {budget.action}"] if budget.action else []
        where += [f"from {say_us(budget.from_us)}"] if budget.from_us is not None else []
        where += [f"until {say_us(budget.until_us)}"] if budget.until_us is not None else []
        where += [f"p{budget.percentile:g} over seeds"] if budget.percentile is not None else []
        where += ["only a warning"] if budget.level == Level.WARN else []
        rows.append(Row(budget.text, ", ".join(where) or "every variant", f"line {budget.line}"))
    rows += [
        Row(fact.text, fact.variant or "every variant", f"line {fact.line}")
        for fact in scenario.expectations
    ]
    return in_table(rows, width)
