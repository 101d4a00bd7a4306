"""Budgets as written → as values. What a metric is called and how it is measured is not known here."""

from __future__ import annotations

import re
from typing import Any

from rebalsim.domain.budget import Budget, Level
from rebalsim.domain.unit import Amount
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import (
    BAD,
    Choice,
    Duration,
    Field,
    ListOf,
    Section,
    Text,
    Written,
    shown,
)
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import nearest, or_nearest

_METRIC = re.compile(r"[a-z][a-z0-9_]*(?:[.-][a-z0-9_]+)*")
_OP = re.compile(r"(<=|>=|==|<|>)\s*(.+)")
_SIGNS = {"≤": "<=", "≥": ">=", "=<": "<=", "=>": ">="}
_FACTOR = re.compile(rf"({q._AMOUNT})\s*[×x*]\s*([A-Za-z0-9_][\w.\-]*)")
_PLUS = re.compile(rf"([A-Za-z_][\w.\-]*?)\s*(?:([+-])\s*({q._AMOUNT})\s*%)?")
_NUMBER = re.compile(rf"-?{q._AMOUNT}")
_PERCENTILE = re.compile(r"p([0-9]{1,2}(?:\.[0-9]{1,3})?)|(worst|median)")

_TIME = Duration()
_NAMES = ListOf(Text("a name", r"[^\s]{1,249}"), is_lenient=True, least=1)
OPTIONS = Section(
    "budget",
    (
        Field(
            "limit",
            Text('a limit in quotes such as "<= 2s"'),
            "The limit.",
            is_required=True,
            example='limit: "<= 2s"',
        ),
        Field("variant", Text("a variant's name"), "For this variant only."),
        Field("topics", _NAMES, "Only their partitions.", aliases=("topic",)),
        Field("members", _NAMES, "Only these members.", aliases=("member",)),
        Field("from", _TIME, "Only from then on."),
        Field("until", _TIME, "Only until then."),
        Field(
            "action",
            Text("an action's id"),
            "Only what this action of the script set off.",
            aliases=("actions",),
        ),
        Field(
            "seeds",
            Text(
                "worst, median or a percentile such as p95",
                r"p[0-9]{1,2}(?:\.[0-9]{1,3})?|worst|median",
            ),
            "Over several seeds: the worst, or a percentile.",
        ),
        Field("level", Choice("error", "warn"), "warn only tells."),
    ),
)


def read_budgets(node: Node | None, variants: tuple[str, ...], out: Problems) -> tuple[Budget, ...]:
    """`{metric: limit}`, `{variant: {metric: limit}}`, or a list of blocks with a metric and its
    options.
    """
    if node is None:
        return ()
    budgets: list[Budget] = []
    if isinstance(node, Sequence):
        for item in node.items:
            _listed(item, variants, budgets, out)
    elif isinstance(node, Mapping):
        _block(node, "", variants, budgets, out)
    else:
        out.add(
            node,
            f"{shown(node).capitalize()} is no budget — write metrics with limits, as in "
            'longest_pause: "<= 2s"',
        )
    return tuple(budgets)


def _block(
    node: Mapping, variant: str, variants: tuple[str, ...], budgets: list[Budget], out: Problems
) -> None:
    for key, value in node.entries.items():
        at = node.keys[key]
        if not variant and key in variants:
            if isinstance(value, Mapping):
                _block(value, key, variants, budgets, out)
            else:
                out.add(
                    value,
                    f"{shown(value)} stands where {key} has its budgets — write metrics with "
                    "limits below it",
                )
        elif isinstance(value, Mapping) and not any(k in OPTIONS.by_key for k in value.entries):
            near = nearest(key, variants)
            out.add(
                at,
                f"'{shorten(key)}' is no variant of this story, and as a metric it lacks a limit — "
                + (
                    f"did you mean '{near}'?" if near else f"the variants are {', '.join(variants)}"
                ),
            )
        else:
            _metric(at, value, variant, variants, budgets, out)


def _listed(node: Node, variants: tuple[str, ...], budgets: list[Budget], out: Problems) -> None:
    if not isinstance(node, Mapping):
        out.add(
            node,
            f"{shown(node).capitalize()} is no budget — write a metric with a limit, as in - "
            'longest_pause: "<= 2s"',
        )
        return
    metrics = [key for key in node.entries if key not in OPTIONS.by_key]
    if len(metrics) != 1:
        out.add(
            node,
            'A budget in a list names one metric — write - longest_pause: "<= 2s" with its '
            "options below",
        )
        return
    block = Mapping(node.source, node.line, node.column, node.width)
    for key, value in node.entries.items():
        if key == metrics[0]:
            block.put(
                Scalar(
                    node.source,
                    node.keys[key].line,
                    node.keys[key].column,
                    node.keys[key].width,
                    "limit",
                    True,
                ),
                value,
            )
        else:
            block.put(node.keys[key], value)
    _metric(node.keys[metrics[0]], block, "", variants, budgets, out)


def _metric(
    at: Scalar,
    value: Node,
    variant: str,
    variants: tuple[str, ...],
    budgets: list[Budget],
    out: Problems,
) -> None:
    if not _METRIC.fullmatch(at.text):
        out.add(at, f"'{shorten(at.text)}' is no metric's name — write one such as longest_pause")
        return
    if isinstance(value, Sequence):
        for item in value.items:
            _metric(at, item, variant, variants, budgets, out)
        return
    options: dict[str, Any] = {}
    limit: Node = value
    if isinstance(value, Mapping):
        written = OPTIONS.read(value, out)
        if written is BAD or written.is_bad:
            return
        limit = written.at["limit"]
        options = _options(written)
        variant = _variant(written, variant, variants, out)
    made = limit_of(limit, variants, out)
    if made is not None:
        op, amount, unit, relative_to = made
        assert isinstance(limit, Scalar)
        text = f"{at.text} {_normal(limit.text)}"
        budgets.append(
            Budget(
                at.text,
                op,
                amount,
                text,
                relative_to=relative_to,
                variant=variant,
                unit=unit,
                line=at.line,
                column=at.column,
                **options,
            )
        )


def _options(written: Written) -> dict[str, Any]:
    """What a budget's block says beside its limit."""
    options = {
        name: written.get(name)
        for name in ("topics", "members", "level", "action")
        if name in written
    }
    if "level" in options:
        options["level"] = Level(options["level"])
    for name in ("from", "until"):
        if name in written:
            options[f"{name}_us"] = written.get(name)
    if "seeds" in written:
        found = _PERCENTILE.fullmatch(written.get("seeds"))
        known = {None: None, "median": 50.0, "worst": None}
        word = found.group(2) if found else None
        number = found.group(1) if found else None
        options["percentile"] = float(number) if number else known[word]
    return options


def _variant(written: Written, variant: str, variants: tuple[str, ...], out: Problems) -> str:
    """The variant that a budget's block names, or under which it stands."""
    if "variant" not in written:
        return variant
    named: str = written.get("variant")
    if variant and named != variant:
        out.add(
            written.at["variant"], f"This stands under {variant} already — leave the variant out"
        )
    elif named not in variants:
        out.add(
            written.at["variant"],
            f"'{shorten(named)}' is no variant of this story — {or_nearest(named, variants)}",
        )
    return named


def _normal(text: str) -> str:
    text = text.strip()
    for sign, plain in _SIGNS.items():
        if text.startswith(sign):
            return plain + text[len(sign) :]
    return text


def limit_of(
    node: Node, variants: tuple[str, ...], out: Problems
) -> tuple[str, float, Amount, str] | None:
    """`<= 2s`, `<= 0.5 × eager`, `<= baseline + 5%`: (op, amount, unit, relative to)."""
    if not isinstance(node, Scalar) or node.value is None or isinstance(node.value, bool):
        out.add(
            node, f'{shown(node).capitalize()} is no limit — write one in quotes, as in "<= 2s"'
        )
        return None
    if node.trap:
        out.add(node, node.trap)
        return None
    found = _OP.fullmatch(_normal(node.text))
    if not found:
        out.add(
            node,
            f'{shown(node)} does not say on which side of it is well — write "<= '
            f'{shorten(node.text, 30)}"',
        )
        return None
    op, said = found.group(1), found.group(2).strip()
    absolute = amount_of(said)
    if absolute is not None:
        return op, absolute[0], absolute[1], ""
    if factor := _FACTOR.fullmatch(said):
        amount, other = float(factor.group(1)), factor.group(2)
    elif plus := _PLUS.fullmatch(said):
        other = plus.group(1)
        amount = 1 + (
            float(plus.group(3)) / 100 * (1 if plus.group(2) == "+" else -1)
            if plus.group(3)
            else 0.0
        )
    else:
        why = (
            _time_like(said)
            or f"'{shorten(said)}' is no amount — write one such as 2s, 5, 25%, 10MB or 0.5 × eager"
        )
        out.add(node, why)
        return None
    if other != "baseline" and other not in variants:
        out.add(
            node,
            _time_like(said)
            or f"'{shorten(other)}' is neither an amount nor a variant of this story — "
            f"{or_nearest(other, (*variants, 'baseline'))}",
        )
        return None
    return op, amount, Amount.FACTOR, other


def _time_like(text: str) -> str:
    """What is wrong with a duration, where this was meant to be one."""
    why = q.why_no_duration(text)
    return "" if "unknown unit" in why else why


def amount_of(text: str) -> tuple[float, Amount] | None:
    """An amount in base units, and what it is an amount of."""
    if _NUMBER.fullmatch(text):
        return float(text), Amount.COUNT
    text = text.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", text) else text
    if _NUMBER.fullmatch(text):
        return float(text), Amount.COUNT
    for read, unit in (
        (q.duration, Amount.DURATION),
        (q.share, Amount.SHARE),
        (q.size, Amount.BYTES),
        (q.rate, Amount.RATE),
        (q.byte_rate, Amount.BYTE_RATE),
    ):
        found = read(text)
        if found is not None:
            return float(found), unit
    return None
