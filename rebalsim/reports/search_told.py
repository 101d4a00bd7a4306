"""What a search for the smallest change came to, in words: what to change, what that brings and
costs, or which budget is out of reach and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rebalsim.domain.budget import Budget
from rebalsim.reports import figures
from rebalsim.reports.names import safe
from rebalsim.reports.remedies_told import tell_patch
from rebalsim.words.lists import listed, plural

MOST = 5
SHOWN = ("longest_pause", "partition_seconds", "rebalances", "duplicates")
OF_TASKS = ("longest_task_pause", "task_seconds")


def render_search(
    title: str,
    found: Any,
    budgets: Sequence[Budget],
    whys: Sequence[str],
    command: str,
    aside: Sequence[str] = (),
) -> Iterator[str]:
    """Lines for a terminal. `found`: what the search came to; `whys`: for each budget that nothing
    keeps, what stands in its way; `aside`: what else the story asks.
    """
    yield safe(title)
    yield f"  asked: {', '.join(dict.fromkeys(safe(b.text) for b in budgets))}"
    if aside:
        yield (
            f"  not searched for, since it is relative or a fact: {listed([safe(t) for t in aside])}"
            " — hold what you take against `rebalsim check`"
        )
    yield ""
    most = max(tried.seeds for tried in found.as_it_is)
    for tried in found.as_it_is:
        over = f" ({plural(tried.seeds, 'seed')})" if tried.seeds < most else ""
        yield f"As it is, {safe(tried.variant)}{over}: {_figures(tried)}{_broken(tried)}"
    yield ""
    if found.choices and not found.choices[0].tried.patch.sets:
        yield _unchanged(found)
        return
    if found.choices:
        yield from _choices(found, command)
    else:
        yield from _out_of_reach(found, budgets, whys)
    yield ""
    yield _played(found)


def _unchanged(found: Any) -> str:
    names = [safe(c.tried.variant) for c in found.choices if not c.tried.patch.sets]
    kept = "keeps all budgets as it is" if len(names) == 1 else "keep all budgets as they are"
    return f"Nothing need be changed: {listed(names, 9)} {kept}."


def _choices(found: Any, command: str) -> Iterator[str]:
    yield "What keeps all budgets, the smallest change first"
    for number, choice in enumerate(found.choices[:MOST], 1):
        tried = choice.tried
        price = f"; its price: {_price(choice, found)}" if choice.price else ""
        yield f"  {number}. {safe(tried.variant)}: {tell_patch(tried.patch)}"
        before = _root(choice, found).seeds
        over = "" if before >= tried.seeds else f" (as it is: {before})"
        told = _from_to(_shown(tried)[0], choice, found)
        yield f"     {told} over {tried.seeds} seeds{over}{price}"
    first = found.choices[0].tried
    sets = " ".join(f"--set '{one}'" for one in first.patch.overrides)
    yield ""
    yield f"See it: {command} --variant {safe(first.variant)} {sets}"
    if len(found.choices) > MOST:
        yield f"{plural(len(found.choices) - MOST, 'other change')} would do, and move more."


def _out_of_reach(found: Any, budgets: Sequence[Budget], whys: Sequence[str]) -> Iterator[str]:
    yield f"Nothing of {plural(len(found.all_tried), 'change')} that {_were(found)} tried keeps all budgets."
    alone = True
    for place, budget in enumerate(budgets):
        least = found.least(budget)
        if least.goes_beyond(budget) <= 0:
            continue
        alone = False
        if least.is_undecided(budget):
            yield (
                f"  ? {safe(budget.text)}: undecided at best ({_with(least)}); a longer horizon "
                "may decide it"
            )
            continue
        worst = least.worst(budget)
        nearest = (
            "nothing was measured"
            if worst is None
            else f"the nearest is {figures.say(budget.metric, worst)} ({_with(least)})"
        )
        yield f"  out of reach: {safe(budget.text)}; {nearest}"
        if whys[place]:
            yield f"    {whys[place]}"
    if alone:
        yield "  Each budget alone can be kept, but not all of them together."
    for tried in found.edges[:2]:
        yield (
            f"  {_with(tried)} keeps them only as long as the faults strike when they do: up to a "
            "heartbeat earlier or later it does not."
        )
    best = found.best()
    yield f"The best that can be had: {_with(best)}: {_figures(best)}{_broken(best)}"


def _were(found: Any) -> str:
    return "was" if len(found.all_tried) == 1 else "were"


def _with(tried: Any) -> str:
    changed = tell_patch(tried.patch) if tried.patch.turns else "as it is"
    return f"{safe(tried.variant)}, {changed}"


def _figures(tried: Any) -> str:
    middle, shown = tried.middle(), _shown(tried)
    if shown[0] not in middle:
        return "nobody ever held a partition"
    return ", ".join(
        f"{figures.title_of(name)} {figures.say(name, middle.get(name, 0.0))}" for name in shown
    )


def _shown(tried: Any) -> tuple[str, ...]:
    """Of Kafka Connect, what became of tasks comes first, and of partitions if any are read."""
    clusters = tried.story.scenario(tried.variant).connect
    if not clusters:
        return SHOWN
    has_sinks = any(c.topics for cluster in clusters for c in (*cluster.connectors, *cluster.later))
    return (*OF_TASKS, *(SHOWN[:2] if has_sinks else ()), "rebalances")


def _broken(tried: Any) -> str:
    broken, undecided = _missed(tried)
    said = [
        *([f"breaks {listed([safe(text) for text in broken], 9)}"] if broken else []),
        *(f"? {safe(text)}" for text in undecided),
    ]
    return f" — {', '.join(said)}" if said else ""


def _missed(tried: Any) -> tuple[list[str], list[str]]:
    """The budgets that it breaks, and those that it leaves undecided."""
    broken: list[str] = []
    undecided: list[str] = []
    for budget in tried.budgets:
        if tried.goes_beyond(budget) > 0:
            (undecided if tried.is_undecided(budget) else broken).append(budget.text)
    return broken, undecided


def _root(choice: Any, found: Any) -> Any:
    return next(t for t in found.as_it_is if t.variant == choice.tried.variant)


def _price(choice: Any, found: Any) -> str:
    return ", ".join(_from_to(name, choice, found) for name in choice.price)


def _from_to(name: str, choice: Any, found: Any) -> str:
    before, after = _root(choice, found).middle().get(name), choice.tried.middle().get(name)
    return f"{figures.title_of(name)} {figures.say_change(name, before, after)}"


def _played(found: Any) -> str:
    spent = f"; the events ran out before {_unsaid(found)}" if found.is_spent else ""
    return (
        f"{plural(len(found.all_tried), 'change')} tried in {found.events:,} events{spent}. A "
        f"change is told only if it keeps the budgets {_under_how_many(found)} (or in as many "
        "as a budget says itself), and when the faults strike up to a heartbeat and up to a second "
        "earlier or later."
    )


def _under_how_many(found: Any) -> str:
    """Over how many seeds it holds, as words: `in 19 of 20 seeds`."""
    seeds, kept = found.seeds, found.seeds_to_keep
    if seeds == 1:
        return "under the one seed that was asked for"
    return f"in all of {seeds} seeds" if kept == seeds else f"in {kept} of {seeds} seeds"


def _unsaid(found: Any) -> str:
    """What more events could tell; of which variants nothing is known yet, though others are told."""
    more = "--events N plays more"
    known = {c.tried.variant for c in found.choices}
    names = [safe(t.variant) for t in found.as_it_is if t.variant not in known]
    if found.is_settled:
        of = f" of {listed(names, 9)}" if names else ""
        return f"more was found that keeps them{of}, none of it smaller than the first: {more}"
    if not known or not names:
        return f"all was tried: {more}"
    return (
        f"all was tried, so that no change of {listed(names, 9)} was held over all seeds, though "
        f"one may be smaller: {more}"
    )


def document_of(found: Any, budgets: Sequence[Budget]) -> dict[str, Any]:
    """What a search found, as plain values for tools."""
    return {
        "schema_version": 1,
        "kind": "recommendation",
        "budgets": [b.text for b in budgets],
        "as_it_is": [_tried(t) for t in found.as_it_is],
        "choices": [
            {**_tried(c.tried), "price": list(c.price), "cost": round(c.cost, 3)}
            for c in found.choices
        ],
        "best": None if found.choices else _tried(found.best()),
        "knifes_edges": [_tried(t) for t in found.edges],
        "tried": len(found.all_tried),
        "events": found.events,
        "is_spent": found.is_spent,
        "is_settled": found.is_settled,
    }


def _tried(tried: Any) -> dict[str, Any]:
    broken, undecided = _missed(tried)
    return {
        "variant": tried.variant,
        "patch": dict(tried.patch.sets),
        "changes": [
            {"setting": t.setting, "before": t.before, "after": t.after} for t in tried.patch.turns
        ],
        "metrics": tried.middle(),
        "seeds": tried.seeds,
        "breaks": broken,
        "undecided": undecided,
    }
