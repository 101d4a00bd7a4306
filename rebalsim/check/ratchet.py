"""`--update`: budgets tightened to what was observed, in the file's text and nowhere else. Never
loosened; comments and layout stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

from rebalsim.domain.budget import Budget
from rebalsim.domain.errors import BugError
from rebalsim.domain.instants import MINUTE, MS, SECOND
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.unit import Unit
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.check_report import StoryChecked
from rebalsim.scenario.document import Mapping, Node, Scalar
from rebalsim.scenario.document import Sequence as Listed
from rebalsim.scenario.load import story_of
from rebalsim.scenario.story import Story

_LIMIT = re.compile(r"\s*(?:<=|>=|=<|=>|≤|≥|<|>)\s*(?P<amount>\S.*\S|\S)\s*")
_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Tightened:
    """One budget's limit, before and after."""

    line: int
    metric: str
    before: str
    after: str


def tightened(story: Story, text: str, checked: StoryChecked) -> tuple[str, tuple[Tightened, ...]]:
    """The file's text with every absolute budget that is kept in all its variants as tight as
    what was observed, rounded away from it.
    """
    lines = text.splitlines(keepends=True)
    wanted: list[tuple[Scalar, Budget, str]] = []
    for budget in story.budgets:
        observed = _observed(budget, checked)
        node, amount = (
            limit_node(story, budget),
            None if observed is None else amount_for(budget, observed),
        )
        if node is not None and amount is not None:
            wanted.append((node, budget, amount))
    changes: list[Tightened] = []
    # from right to left: columns to the left stay
    for node, budget, amount in sorted(wanted, key=lambda w: (w[0].line, -w[0].column)):
        line = lines[node.line - 1]
        found, start = _LIMIT.fullmatch(node.text), line.find(node.text, node.column - 1)
        if found is None or start < 0:  # written with escapes, or over several lines: left as it is
            continue
        lines[node.line - 1] = (
            line[: start + found.start("amount")] + amount + line[start + found.end("amount") :]
        )
        changes.append(Tightened(node.line, budget.metric, found.group("amount"), amount))
    made = "".join(lines)
    _hold(story, made, changes)
    return made, tuple(changes)


def _plain(text: str) -> str:
    text = text.strip()
    for sign, plain in (("≤", "<="), ("≥", ">="), ("=<", "<="), ("=>", ">=")):
        text = plain + text[len(sign) :] if text.startswith(sign) else text
    return text


def _observed(budget: Budget, checked: StoryChecked) -> float | None:
    """The worst over the variants that the budget is for; None where it is relative, exact, or
    not kept everywhere.
    """
    if budget.relative_to or budget.op == "==":
        return None
    mine = [
        c
        for c in checked.checked
        if c.metric == budget.metric
        and (c.line, c.column) == (budget.line, budget.column)
        and c.limit == budget.limit
        and c.op == budget.op
    ]
    if not mine or any(c.outcome is not Outcome.PASS or c.observed is None for c in mine):
        return None
    values = [c.observed for c in mine if c.observed is not None]
    return max(values) if budget.op in ("<=", "<") else min(values)


def amount_for(budget: Budget, observed: float) -> str | None:
    """The tightest round limit that `observed` keeps, as it is written; None where the limit
    that is there is as tight.
    """
    is_upper = budget.op in ("<=", "<")
    unit = METRICS[budget.metric].unit
    scale, name = Decimal(1), ""
    if unit.is_time:
        us, name = (
            (MS, "ms")
            if observed < SECOND
            else (SECOND, "s")
            if observed < 10 * MINUTE
            else (MINUTE, "m")
        )
        scale = Decimal(us)
    elif unit == Unit.SHARE:
        scale, name = Decimal("0.01"), "%"
    amount = _rounded(
        Decimal(repr(observed)) / scale,
        is_upper,
        budget.op in ("<", ">"),
        is_whole=unit.is_number,
    )
    value = float(amount * scale)
    if (value >= budget.limit) if is_upper else (value <= budget.limit):
        return None
    said = f"{amount:f}".rstrip("0").rstrip(".") if "." in f"{amount:f}" else f"{amount:f}"
    return f"{said or '0'}{name}"


def _rounded(value: Decimal, is_up: bool, is_strict: bool, is_whole: bool) -> Decimal:
    """To three digits (counts: whole), away from what was observed; beyond it, where the limit
    itself is not allowed.
    """
    if is_whole:
        step = Decimal(1)
    else:
        step = (
            Decimal(1).scaleb(max(value.adjusted() - _DIGITS + 1, -2)) if value else Decimal("0.01")
        )
    made = value.quantize(step, ROUND_CEILING if is_up else ROUND_FLOOR)
    if is_strict and made == value:
        made += step if is_up else -step
    return made


def limit_node(story: Story, budget: Budget) -> Scalar | None:
    """Where the budget's limit stands in the file."""
    root = story.written.at.get("budgets")
    found = [
        node
        for node in (_limits_at(root, budget.line, budget.column) if root is not None else [])
        if budget.text.endswith(f" {_plain(node.text)}")
    ]
    return found[0] if found else None


def _limits_at(node: Node, line: int, column: int) -> list[Scalar]:
    """The limits of the metric whose name stands at that place."""
    if isinstance(node, Mapping):
        for key, value in node.entries.items():
            at = node.keys[key]
            if (at.line, at.column) == (line, column):
                beside = node.entries.get("limit") if not isinstance(value, Mapping) else None
                return _scalars(value) or ([beside] if isinstance(beside, Scalar) else [])
    for inner in (
        node.entries.values()
        if isinstance(node, Mapping)
        else node.items
        if isinstance(node, Listed)
        else ()
    ):
        if found := _limits_at(inner, line, column):
            return found
    return []


def _scalars(value: Node) -> list[Scalar]:
    if isinstance(value, Scalar):
        return [value]
    if isinstance(value, Listed):
        return [one for item in value.items for one in _scalars(item)]
    if isinstance(value, Mapping) and (limit := value.entries.get("limit")) is not None:
        return _scalars(limit)
    return []


def _hold(story: Story, text: str, changes: Sequence[Tightened]) -> None:
    """What will be written says the same as before but for these limits."""
    if not changes:
        return
    made = story_of(text.encode(), story.file, story.overrides, code_from=story.code_from).check()
    # not the columns: of two budgets on one line the second moves with the first one's limit
    same = [(b.metric, b.op, b.variant, b.line) for b in story.budgets] == [
        (b.metric, b.op, b.variant, b.line) for b in made.budgets
    ]
    moved = sum(a.limit != b.limit for a, b in zip(story.budgets, made.budgets))
    loosened = any(
        (b.limit > a.limit) == (a.op in ("<=", "<"))
        for a, b in zip(story.budgets, made.budgets)
        if a.limit != b.limit
    )
    if not same or moved != len(changes) or loosened:
        raise BugError(
            f"Tightening the budgets of {story.file} would have changed more than their limits; "
            "the file is as it was"
        )
