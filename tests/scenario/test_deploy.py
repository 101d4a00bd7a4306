"""What a deploy may bring: anything that members have, or nothing of it any more."""

from __future__ import annotations

import pytest

from rebalsim.scenario.load import story_of

STORY = """\
topics: {orders: {partitions: 6, rate: 100/s}}
group: {members: 3, rack: a}
script: [{at: 60s, deploy: {DEPLOYED}}]
replay: [cooperative]
horizon: 5m
"""


def problems(deployed: str) -> list[str]:
    text = STORY.replace("DEPLOYED", deployed)
    return [p.message for p in story_of(text.encode(), "s").problems() if not p.is_warning]


@pytest.mark.parametrize(
    "deployed",
    ['group.instance.id: "{name}"', "group.instance.id: null", "rack: null", "config: null"],
)
def test_one_setting_alone_is_a_deploy_and_so_is_one_that_is_taken_back(deployed: str) -> None:
    assert problems(deployed) == []


def test_a_deploy_of_nothing_is_a_restart() -> None:
    (said,) = problems("down: 5s")
    assert "What is deployed is not said" in said and "rolling_bounce" in said
