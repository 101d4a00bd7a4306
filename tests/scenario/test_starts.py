"""How a story begins where its file does not say: settled, unless the start belongs to the story."""

from __future__ import annotations

import pytest

from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.scenario.story import Story

USUAL = {
    "topics": "{orders: {partitions: 6, rate: 60/s}}",
    "group": "{members: 3, handler: 1ms}",
    "script": "[{at: 1m, crash: c1}]",
}


def story(**parts: str) -> Story:
    text = "\n".join(f"{key}: {value}" for key, value in {**USUAL, **parts}.items())
    return story_of(text.encode(), "story.yaml").check()


def starts(**parts: str) -> set[str]:
    told = story(**parts)
    return {told.scenario(name).start for name in told.variants}


def test_a_story_whose_first_action_leaves_time_for_a_start_begins_settled() -> None:
    assert starts() == starts(script="[{at: 30s, crash: c1}]") == {"settled"}


def test_what_the_file_says_holds() -> None:
    assert starts(start="cold") == {"cold"}
    assert starts(start="settled", script="[{at: 1s, crash: c1}]") == {"settled"}


@pytest.mark.parametrize(
    ("why", "parts"),
    {
        "its first action comes while the group would still form": {
            "script": "[{at: 29s, crash: c1}]"
        },
        "nothing happens in it but its start": {"script": "[]"},
        "an action waits for a condition that the start may bring about": {
            "script": "[{when: group is caught-up, crash: c1}, {at: 1m, crash: c2}]"
        },
        "faults may strike from the beginning on": {
            "random_faults": "[{kind: freeze, members: all, about_every: 5m, for: 1s}]"
        },
        "members take longer to start than that": {
            "group": "{members: 3, handler: 1ms, life: {start: 20s..40s}}"
        },
        "somebody is started later": {"group": "{members: 3, handler: 1ms, stagger: 1s}"},
        "records wait at its beginning": {
            "topics": "{orders: {partitions: 6, rate: 60/s, backlog: 1000}}"
        },
        "the group cannot keep up, and would never settle": {
            "group": "{members: 3, handler: 60ms}"
        },
        "one partition alone is too much for its owner": {
            "topics": "{orders: {partitions: 3, rate: 1200/s, skew: [10, 1, 1]}}",
        },
        "facts are expected of its start": {"expect": "[at 5s: orders-0 owned by c0]"},
    }.items(),
)
def test_else_it_begins_cold(why: str, parts: dict[str, str]) -> None:
    assert starts(**parts) == {"cold"}, why


def test_variants_begin_alike_for_they_are_held_against_each_other() -> None:
    slow = "{based_on: eager, handler: 60ms}"
    assert starts(replay=f"[eager, {{slow: {slow}}}]") == {"cold"}
    assert starts(replay="[eager, {quick: {based_on: eager, handler: 2ms}}]") == {"settled"}


def test_kafka_streams_begins_cold() -> None:
    assert load_scenario("streams-crash").scenario().start == "cold"


def test_a_story_with_an_override_is_judged_by_what_it_says_then() -> None:
    usual = story()
    assert usual.with_overrides(["script.0.at=5s"]).scenario().start == "cold"
    assert usual.with_overrides(["start=cold"]).scenario().start == "cold"
    assert usual.with_overrides(["group.members=2"]).scenario().start == "settled"
