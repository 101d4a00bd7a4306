"""The catalogue is complete and documented; a story is checked over its variants, in order,
without repetitions.
"""

from __future__ import annotations

import importlib
from dataclasses import fields
from pathlib import Path

import pytest
from lint_worlds import Story, members, world

import rebalsim.lint.rules
from rebalsim.domain.script import Crash, Leave
from rebalsim.lint.registry import RULES, check
from rebalsim.lint.rule import Checked, Rule

FILES = sorted(
    p.stem for p in Path(rebalsim.lint.rules.__file__).parent.glob("*.py") if p.stem != "__init__"
)


def test_every_file_is_a_rule_and_every_rule_a_file() -> None:
    assert sorted(c.rule.id.replace("-", "_") for c in RULES) == FILES
    assert len(RULES) >= 22
    for name in FILES:
        module = importlib.import_module(f"rebalsim.lint.rules.{name}")
        assert any(c.rule is module.RULE and c.find is module.find for c in RULES), (
            f"{name} is not in the registry"
        )


@pytest.mark.parametrize("checked", RULES, ids=lambda c: c.rule.id)
def test_every_rule_says_what_why_how_and_by_which_source(checked: Checked) -> None:
    rule = checked.rule
    for part in fields(Rule):
        text = getattr(rule, part.name)
        assert text and text == text.strip(), f"{rule.id}: {part.name} is empty or has stray blanks"
        assert "  " not in text or part.name == "example", (
            f"{rule.id}: {part.name} has two blanks in a row"
        )
    assert not rule.title.endswith("."), f"{rule.id}: a title is a heading"
    for part_name in ("what", "why", "fix"):
        assert getattr(rule, part_name).endswith((".", ".)")), (
            f"{rule.id}: {part_name} is in sentences"
        )
    assert len(rule.why) > 120, f"{rule.id}: why it hurts deserves more than that"
    assert max(len(line) for line in rule.example.split("\n")) <= 76, (
        f"{rule.id}: the example does not fit into 80 columns"
    )


def test_what_holds_in_every_variant_is_said_once() -> None:
    eager = world(
        *members(2, partition_assignment_strategy=("range",), heartbeat_interval_us=20_000_000)
    )
    cooperative = world(*members(2, heartbeat_interval_us=20_000_000))
    problems = check(Story(eager=eager, cooperative=cooperative))
    told = {p.rule: p.message for p in problems}
    assert [p.rule for p in problems].count("session-under-three-heartbeats") == 1
    assert "variant" not in told["session-under-three-heartbeats"]
    assert told["slow-cooperative-heartbeat"].endswith("(in the variant cooperative)")
    assert all(p.is_warning and p.file == "story.yaml" for p in problems)


def test_some_variants_are_named_when_it_is_not_all() -> None:
    slow = world(*members(2, heartbeat_interval_us=20_000_000))
    fine = world(*members(2))
    problems = check(Story(one=slow, two=fine, low_latency=slow))
    assert all(p.message.endswith("(in the variants one and low-latency)") for p in problems)
    assert problems


def test_the_order_is_that_of_the_lines_and_always_the_same() -> None:
    story = Story(
        one=world(
            *members(3, is_static=True, heartbeat_interval_us=20_000_000),
            script=(Leave(("c0",)), Crash(("c1",))),
            horizon_us=70_000_000,
        )
    )
    first = check(story)
    assert [p.line for p in first] == sorted(p.line for p in first)
    assert len(first) > 2 and first == check(story)
