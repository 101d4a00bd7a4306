"""Budgets and expectations as written → as values. What a metric is called and how it is
measured is not known here.
"""

from __future__ import annotations

import re
from typing import Any

from rebalsim.domain.budget import Budget, Expectation
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import BAD, Choice, Duration, Field, ListOf, Section, Text, shown
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
        for name in ("topics", "members", "level", "action"):
            if name in written:
                options[name] = written.get(name)
        for name in ("from", "until"):
            if name in written:
                options[f"{name}_us"] = written.get(name)
        if "variant" in written:
            if variant and written.get("variant") != variant:
                out.add(
                    written.at["variant"],
                    f"This stands under {variant} already — leave the variant out",
                )
            elif written.get("variant") not in variants:
                out.add(
                    written.at["variant"],
                    f"'{shorten(written.get('variant'))}' is no variant of this story —"
                    f" {or_nearest(written.get('variant'), variants)}",
                )
            variant = written.get("variant")
        if "seeds" in written:
            found = _PERCENTILE.fullmatch(written.get("seeds"))
            word = found.group(2) if found else "worst"
            options["percentile"] = (
                50.0
                if word == "median"
                else None
                if word == "worst"
                else float(found.group(1))
                if found
                else None
            )
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


def _normal(text: str) -> str:
    text = text.strip()
    for sign, plain in _SIGNS.items():
        if text.startswith(sign):
            return plain + text[len(sign) :]
    return text


def limit_of(
    node: Node, variants: tuple[str, ...], out: Problems
) -> tuple[str, float, str, str] | None:
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
    return op, amount, "factor", other


def _time_like(text: str) -> str:
    """What is wrong with a duration, where this was meant to be one."""
    why = q.why_no_duration(text)
    return "" if "unknown unit" in why else why


def amount_of(text: str) -> tuple[float, str] | None:
    """An amount in base units, and what it is an amount of."""
    if _NUMBER.fullmatch(text):
        return float(text), "count"
    text = text.replace(",", "") if re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+", text) else text
    if _NUMBER.fullmatch(text):
        return float(text), "count"
    for read, unit in (
        (q.duration, "duration"),
        (q.share, "share"),
        (q.size, "bytes"),
        (q.rate, "rate"),
        (q.byte_rate, "byte_rate"),
    ):
        found = read(text)
        if found is not None:
            return float(found), unit
    return None


# ------------------------------------------------------------------------------------- expectations

_WHERE = r"(?P<subject>[A-Za-z0-9._\-]+)"
_FACTS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "owned-by",
        re.compile(rf"{_WHERE} (?:is )?owned by (?P<object>[A-Za-z0-9._\-]+)"),
        "orders-3 owned by c2",
    ),
    ("unowned", re.compile(rf"{_WHERE} is (?:unowned|owned by nobody)"), "orders-3 is unowned"),
    (
        "no-rebalance",
        re.compile(r"no rebalance(?: (?:in|of) (?P<subject>[A-Za-z0-9._\-]+))?"),
        "no rebalance",
    ),
    ("fenced", re.compile(rf"{_WHERE} is fenced"), "c1 is fenced"),
    ("not-fenced", re.compile(rf"{_WHERE} is (?:never|not) fenced"), "c1 is never fenced"),
    ("removed", re.compile(rf"{_WHERE} is removed"), "c1 is removed"),
    ("not-removed", re.compile(rf"{_WHERE} is (?:never|not) removed"), "c1 is never removed"),
    ("stable", re.compile(rf"{_WHERE} is stable"), "group is stable"),
    ("empty", re.compile(rf"{_WHERE} is empty"), "group is empty"),
    ("gone", re.compile(rf"{_WHERE} is gone"), "c1 is gone"),
)
EXAMPLES = ", ".join(f"'{example}'" for _, _, example in _FACTS[:5]) + " …"
_AT = re.compile(r"at (\S+?):? (.+)")
_BETWEEN = re.compile(r"(.+) between (\S+) and (\S+)")
_AFTER = re.compile(r"(.+) (after|before|at) (\S+)")
EXPECTATION = Section(
    "expectation",
    (
        Field(
            "fact",
            Text("a fact such as 'orders-3 owned by c2'"),
            "What must hold.",
            is_required=True,
            example="fact: orders-3 owned by c2",
        ),
        Field("at", _TIME, "At this moment."),
        Field("from", _TIME, "From then on."),
        Field("until", _TIME, "Until then."),
        Field("variant", Text("a variant's name"), "In this variant only."),
        Field("level", Choice("error", "warn"), "warn only tells."),
    ),
)


def read_expectations(
    node: Node | None, variants: tuple[str, ...], out: Problems
) -> tuple[Expectation, ...]:
    """A list of facts; `at 41s: orders-3 owned by c2` is a key and a value to YAML, and read as
    the sentence that it is.
    """
    if node is None:
        return ()
    made: list[Expectation] = []
    items = node.items if isinstance(node, Sequence) else [node]
    for item in items:
        if isinstance(item, Mapping) and any(key in EXPECTATION.by_key for key in item.entries):
            written = EXPECTATION.read(item, out)
            if written is BAD or written.is_bad:
                continue
            variant = written.get("variant", "")
            if variant and variant not in variants:
                out.add(
                    written.at["variant"],
                    f"'{shorten(variant)}' is no variant of this story — "
                    f"{or_nearest(variant, variants)}",
                )
                continue
            at = written.get("at")
            _fact(
                written.at["fact"],
                written.get("fact"),
                variant,
                written.get("from", at),
                written.get("until", at),
                written.get("level", "error"),
                made,
                out,
            )
        elif isinstance(item, Mapping) and len(item.entries) == 1:
            key, value = next(iter(item.entries.items()))
            if isinstance(value, Scalar) and value.text:
                _fact(item.keys[key], f"{key}: {value.text}", "", None, None, "error", made, out)
            elif key in variants and isinstance(value, Sequence):
                for fact in value.items:
                    if isinstance(fact, Scalar):
                        _fact(fact, fact.text, key, None, None, "error", made, out)
                    elif (
                        isinstance(fact, Mapping)
                        and len(fact.entries) == 1
                        and isinstance(inner := next(iter(fact.entries.values())), Scalar)
                    ):
                        name = next(iter(fact.entries))
                        _fact(
                            fact.keys[name],
                            f"{name}: {inner.text}",
                            key,
                            None,
                            None,
                            "error",
                            made,
                            out,
                        )
                    else:
                        out.add(
                            fact,
                            f"{shown(fact).capitalize()} is no fact — write one such as {EXAMPLES}",
                        )
            else:
                out.add(item, f"This is no fact — write one such as {EXAMPLES}")
        elif isinstance(item, Scalar) and isinstance(item.value, str):
            _fact(item, item.text, "", None, None, "error", made, out)
        else:
            out.add(item, f"{shown(item).capitalize()} is no fact — write one such as {EXAMPLES}")
    return tuple(made)


def _fact(
    node: Node,
    text: str,
    variant: str,
    from_us: int | None,
    until_us: int | None,
    level: str,
    made: list[Expectation],
    out: Problems,
) -> None:
    said = " ".join(text.split())
    rest = said
    moments: list[int | None] = []

    def moment(word: str) -> int | None:
        us = q.duration(word)
        if us is None:
            out.add(
                node,
                q.why_no_duration(word)
                or f"'{shorten(word, 30)}' is no moment — write one such as 41s",
            )
        moments.append(None if us is None else int(us))
        return moments[-1]

    if found := _AT.fullmatch(rest):
        from_us = until_us = moment(found.group(1))
        rest = found.group(2)
    if found := _BETWEEN.fullmatch(rest):
        rest, from_us, until_us = found.group(1), moment(found.group(2)), moment(found.group(3))
        if from_us is not None and until_us is not None and until_us <= from_us:
            out.add(node, f"'{shorten(said)}' ends before it begins — put the earlier moment first")
            return
    elif found := _AFTER.fullmatch(rest):
        rest, us = found.group(1), moment(found.group(3))
        from_us = us if found.group(2) in ("after", "at") else from_us
        until_us = us if found.group(2) in ("before", "at") else until_us
    if None in moments:
        return
    for fact, pattern, _ in _FACTS:
        if match := pattern.fullmatch(rest):
            parts = match.groupdict()
            made.append(
                Expectation(
                    fact,
                    parts.get("subject") or "",
                    parts.get("object") or "",
                    variant,
                    from_us,
                    until_us,
                    said,
                    level,
                    node.line,
                    node.column,
                )
            )
            return
    out.add(node, f"'{shorten(said)}' is no fact that can be held — write one such as {EXAMPLES}")
