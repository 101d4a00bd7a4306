"""What is done to a recorded conversation to see whether it is found out."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from rebalsim.verify.finding import Finding

Line = dict[str, Any]

DEEDS = ("removed", "doubled", "moved down")


def outputs(conversation: Line) -> list[int]:
    """The steps that the coordinator said: answers and states."""
    return [i for i, line in enumerate(conversation["steps"]) if "do" not in line]


def tampered(value: Any, rng: random.Random) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + rng.choice((-1, 1))
        case None:
            return "x"
        case "":
            return "x"
        case str():
            at = rng.randrange(len(value))
            return value[:at] + ("0" if value[at] != "0" else "1") + value[at + 1 :]
        case []:
            return ["x"]
        case list():
            at = rng.randrange(len(value))
            return [*value[:at], tampered(value[at], rng), *value[at + 1 :]]
        case dict():
            key = rng.choice(sorted(value))
            return {**value, key: tampered(value[key], rng)}
    raise AssertionError(value)


def assert_a_misplaced_line_is_found(
    deed: str,
    name: str,
    conversations: list[Line],
    is_one: Callable[[Line], bool],
    compare: Callable[[Line], Any],
) -> None:
    """One line of the sort, in each of sixty conversations, is removed, doubled or moved down."""
    rng = random.Random(f"{deed} {name}")
    for conversation in rng.sample(conversations, 60):
        steps = list(conversation["steps"])
        at = rng.choice([i for i in range(len(steps) - 1) if is_one(steps[i])])
        match deed:
            case "removed":
                del steps[at]
            case "doubled":
                steps.insert(at, steps[at])
            case "moved down":
                steps[at : at + 2] = steps[at + 1], steps[at]
        assert compare({**conversation, "steps": steps}) is not None, conversation["steps"][at]


def told_of_second(finding: Finding, false: Line, at: int) -> list[str]:
    """What is told of the second of three conversations, which was made false in one step: the
    request, Kafka's answer and ours.
    """
    assert not finding.ok and "2 of 3 conversations" in finding.summary
    where, *told = finding.details
    seed, t = false["seed"], false["steps"][at]["t"]
    assert where == f"line 2 (seed {seed}), step {at + 1} at {t} ms: error"
    assert finding.document["identical"] == 2
    assert [(d["line"], d["step"]) for d in finding.document["different"]] == [(2, at + 1)]
    json.dumps(finding.document)
    return told
