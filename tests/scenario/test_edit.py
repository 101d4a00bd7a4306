"""A setting changed in a file's text: only there, and meaning what `--set` means."""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.scenario.edit import NotEditable, with_setting
from rebalsim.scenario.load import load_scenario, story_of

STORIES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
TEXT = """\
# ours
topics: {orders: 4}   # four
group:
  members: 3
  config:             # Kafka's
    session.timeout.ms: 45s  # long
script:
  - {at: 1m, scale: 4}
replay: [eager]
"""


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        (
            "group.config.session.timeout.ms",
            "10s",
            "    session.timeout.ms: 10s  # long",
        ),
        (
            "group.config.heartbeat.interval.ms",
            "1s",
            "    heartbeat.interval.ms: 1s",
        ),
        ("group.handler.commit", "sync-batch", "  handler:"),
        ("cluster.config.group.consumer.session.timeout.ms", "50s", "cluster:"),
        ("replay", "[consumer]", "replay: [consumer]"),
        ("script.0.id", "grow", "  - {at: 1m, scale: 4, id: grow}"),
    ],
)
def test_one_setting_changes_and_all_else_stays(path: str, value: str, line: str) -> None:
    changed = with_setting(TEXT, path, value)
    assert line in changed.splitlines()
    kept = [old for old in TEXT.splitlines() if old not in changed.splitlines()]
    assert len(kept) <= 1
    by_set = story_of(TEXT.encode(), "s", [f"{path}={value}"]).check()
    by_hand = story_of(changed.encode(), "s").check()
    assert [by_hand.scenario(v).groups for v in by_hand.variants] == [
        by_set.scenario(v).groups for v in by_set.variants
    ]


def test_what_cannot_be_changed_in_the_text_says_why() -> None:
    with pytest.raises(NotEditable, match="as a single value"):
        with_setting("topics: 1\ngroup: 3\n", "group.config.session.timeout.ms", "1s")


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_every_stock_story_can_be_given_a_setting(path: Path) -> None:
    text = path.read_text("utf-8")
    if "\ngroup:" not in text:
        pytest.skip("several groups")
    key, value = "group.config.fetch.max.wait.ms", "123ms"
    changed = story_of(with_setting(text, key, value).encode(), path.name).check()
    wanted = load_scenario(path, [f"{key}={value}"])
    assert [changed.scenario(v).groups for v in changed.variants] == [
        wanted.scenario(v).groups for v in wanted.variants
    ]
