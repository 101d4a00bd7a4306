"""The facts of a scenario that must hold: `at 41s: orders-3 owned by c2`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rebalsim.domain.budget import Expectation, Level
from rebalsim.scenario import quantities as q
from rebalsim.scenario.document import Mapping, Node, Scalar, Sequence
from rebalsim.scenario.kinds import BAD, Choice, Duration, Field, Section, Text, shown
from rebalsim.scenario.problems import Problems
from rebalsim.scenario.source import shorten
from rebalsim.words.nearest import or_nearest

_TIME = Duration()
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
Span = tuple[int | None, int | None]  # from when, until when it must hold


@dataclass(frozen=True, slots=True)
class Condition:
    """Where, when and how badly a fact must hold."""

    variant: str = ""
    span: Span = (None, None)
    level: Level = Level.ERROR


ALWAYS = Condition()


def read_expectations(
    node: Node | None, variants: tuple[str, ...], out: Problems
) -> tuple[Expectation, ...]:
    """A list of facts; `at 41s: orders-3 owned by c2` is a key and a value to YAML, and read as
    the sentence that it is.
    """
    if node is None:
        return ()
    items = node.items if isinstance(node, Sequence) else [node]
    found = [fact for item in items for fact in _facts(item, variants, out)]
    return tuple(fact for fact in found if fact is not None)


def _facts(item: Node, variants: tuple[str, ...], out: Problems) -> list[Expectation | None]:
    """The facts of one entry; None for one that is told of as wrong."""
    if isinstance(item, Mapping) and any(key in EXPECTATION.by_key for key in item.entries):
        return [_of_block(item, variants, out)]
    if isinstance(item, Mapping) and len(item.entries) == 1:
        key, value = next(iter(item.entries.items()))
        if key in variants and isinstance(value, Sequence):
            condition = Condition(key)
            return [_of_sentence(fact, condition, out) for fact in value.items]
    return [_of_sentence(item, ALWAYS, out)]


def _of_block(item: Mapping, variants: tuple[str, ...], out: Problems) -> Expectation | None:
    written = EXPECTATION.read(item, out)
    if written is BAD or written.is_bad:
        return None
    variant = written.get("variant", "")
    if variant and variant not in variants:
        out.add(
            written.at["variant"],
            f"'{shorten(variant)}' is no variant of this story — {or_nearest(variant, variants)}",
        )
        return None
    at = written.get("at")
    span = written.get("from", at), written.get("until", at)
    condition = Condition(variant, span, Level(written.get("level", "error")))
    return _fact(written.at["fact"], written.get("fact"), condition, out)


def _of_sentence(item: Node, condition: Condition, out: Problems) -> Expectation | None:
    """A text, or what YAML made of one with a colon in it."""
    if isinstance(item, Scalar) and isinstance(item.value, str):
        return _fact(item, item.text, condition, out)
    if isinstance(item, Mapping) and len(item.entries) == 1:
        key, value = next(iter(item.entries.items()))
        if isinstance(value, Scalar) and value.text:
            return _fact(item.keys[key], f"{key}: {value.text}", condition, out)
        out.add(item, f"This is no fact — write one such as {EXAMPLES}")
        return None
    out.add(item, f"{shown(item).capitalize()} is no fact — write one such as {EXAMPLES}")
    return None


def _fact(node: Node, text: str, condition: Condition, out: Problems) -> Expectation | None:
    said = " ".join(text.split())
    timed = _timed(node, said, condition.span, out)
    if timed is None:
        return None
    rest, (from_us, until_us) = timed
    for fact, pattern, _ in _FACTS:
        if match := pattern.fullmatch(rest):
            parts = match.groupdict()
            return Expectation(
                fact,
                parts.get("subject") or "",
                parts.get("object") or "",
                condition.variant,
                from_us,
                until_us,
                said,
                condition.level,
                node.line,
                node.column,
            )
    out.add(node, f"'{shorten(said)}' is no fact that can be held — write one such as {EXAMPLES}")
    return None


def _timed(node: Node, said: str, span: Span, out: Problems) -> tuple[str, Span] | None:
    """The sentence without its moments, and these; None where one of them is none."""
    rest, (from_us, until_us) = said, span
    moments: list[int | None] = []

    def moment(word: str) -> int | None:
        moments.append(_moment(node, word, out))
        return moments[-1]

    if found := _AT.fullmatch(rest):
        from_us = until_us = moment(found.group(1))
        rest = found.group(2)
    if found := _BETWEEN.fullmatch(rest):
        rest, from_us, until_us = found.group(1), moment(found.group(2)), moment(found.group(3))
        if from_us is not None and until_us is not None and until_us <= from_us:
            out.add(node, f"'{shorten(said)}' ends before it begins — put the earlier moment first")
            return None
    elif found := _AFTER.fullmatch(rest):
        rest, us = found.group(1), moment(found.group(3))
        from_us = us if found.group(2) in ("after", "at") else from_us
        until_us = us if found.group(2) in ("before", "at") else until_us
    return None if None in moments else (rest, (from_us, until_us))


def _moment(node: Node, word: str, out: Problems) -> int | None:
    us = q.duration(word)
    if us is None:
        why = q.why_no_duration(word)
        out.add(node, why or f"'{shorten(word, 30)}' is no moment — write one such as 41s")
    return None if us is None else int(us)
