"""Conditions: what they mean, and what is said about those that mean nothing."""

from __future__ import annotations

import pytest

from rebalsim.scenario.condition import ConditionError, parse_condition

KINDS = {
    "session": "duration",
    "heartbeat": "duration",
    "members": "number",
    "partitions": "number",
    "variant": "text",
    "session.timeout.ms": "duration",
}
POINT: dict[str, float | str | bool] = {
    "session": 10_000_000.0,
    "heartbeat": 3_000_000.0,
    "members": 12.0,
    "partitions": 100.0,
    "variant": "eager",
    "session.timeout.ms": 45e6,
}


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("session >= 3 * heartbeat", True),
        ("session > 10s", False),
        ("session == 10s and members < partitions", True),
        ("not (members > 10) or variant == 'eager'", True),
        ('not (members > 10 or variant == "eager")', False),
        ("1s < heartbeat <= 3000ms < session", True),
        ("1s < heartbeat <= 3000ms < 2s", False),
        ("partitions / members >= 8", True),
        ("session / heartbeat < 4", True),
        ("session - heartbeat == 7s", True),
        ("members + 2 * 3 == 18", True),
        ("-members < 0", True),
        ("partitions / (members - 12) > 5", True),  # divided by nothing: larger than anything
        ("session.timeout.ms == 45s", True),
        ("members != 11 and members != 13", True),
    ],
)
def test_meaning(text: str, holds: bool) -> None:
    assert parse_condition(text, KINDS).holds(POINT) is holds


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("sesion > 10s", 0, "did you mean 'session'?"),
        ("session > 10", 8, "with its unit"),
        ("session", 0, "compare it"),
        ("members >", 9, "the condition ends here"),
        ("(members > 3", 0, "not closed"),
        ("members > 3)", 11, "not expected"),
        ("members and heartbeat > 1s", 8, "a number is none"),
        ("variant > 3", 8, "cannot compare a word with a number"),
        ("members > 3 furlongs", 12, "not expected"),
        ("members > 3furlongs", 10, "a unit that conditions do not know"),
        ("members; import os", 7, "';' means nothing"),
        ("__import__('os')", 0, "is no axis"),
        ("session * heartbeat > 1s", 8, "no duration"),
        ("members / session > 1", 8, "a rate"),
        ("session + 1 > 2s", 8, "mixes"),
        ("variant + 1 > 2", 8, "needs numbers"),
        ("", 0, "the condition ends here"),
        ("(" * 60 + "members", 40, "too deeply"),
        ("not " * 60 + "members > 1", 160, "too deeply"),
    ],
)
def test_mistakes(text: str, column: int, says: str) -> None:
    with pytest.raises(ConditionError) as e:
        parse_condition(text, KINDS)
    assert says in e.value.message
    assert e.value.column == column


def test_it_says_what_it_asks_for() -> None:
    assert parse_condition("session > heartbeat or session > 3s", KINDS).names == (
        "session",
        "heartbeat",
    )
