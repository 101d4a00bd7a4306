"""A fleet's tables: the two steps that lead there come to what one reading of all logs comes to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from reading_logs import observed

from rebalsim.worlds.logs.observation import observe
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.tables import (
    COLUMNS,
    facts_in_file,
    rows_of_story,
    tables_in_one_process,
)

INCIDENTS = Path(__file__).parents[3] / "scenarios" / "incidents"


@pytest.mark.parametrize("name", sorted(p.name for p in INCIDENTS.iterdir() if p.is_dir()))
def test_the_two_steps_come_to_what_one_reading_comes_to(name: str) -> None:
    logs = [str(INCIDENTS / name)]
    stories = observe(sources_in(logs)).groups.values()
    expected = [(table, row) for s in stories for table, _, row in rows_of_story(s)]
    found = tables_in_one_process((s.name, s.chunks()) for s in sources_in(logs))
    assert any(table == "pauses" for table, _ in expected)
    for table in COLUMNS:
        rows = [{k: v for k, v in row.items() if k != "day"} for row in found[table]]
        assert _sorted(rows) == _sorted([row for of, row in expected if of == table])


def _sorted(rows: list[dict[str, object]]) -> list[str]:
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


def line(ms: int, thread: str, text: str) -> str:
    return f"2026-01-05 10:00:00,{ms:03d} INFO [{thread}] {text}"


def group_of(told: list[str], what: str) -> list[str]:
    rows = facts_in_file("app.log", [told])
    return [row[0] for row in rows if json.loads(row[-1])[1] == what]


def test_what_names_no_group_is_of_those_that_speak_in_its_thread() -> None:
    positioned = "Resetting offset for partition t-0 to position FetchPosition{offset=0}"
    told = [
        line(number, f"worker-{group}", f"[Consumer clientId=c-{group}, groupId={group}] {text}")
        for number, (group, text) in enumerate(
            [("a", "(Re-)joining group"), ("b", "(Re-)joining group")]
        )
    ]
    known = [*told, line(5, "worker-b", positioned)]
    assert group_of(known, "positioned") == ["b"]
    told_elsewhere = [*told, line(5, "worker-c", positioned)]
    assert group_of(told_elsewhere, "positioned") == ["a", "b"]
    threadless = [*told, f"[2026-01-05 10:00:00,005] INFO {positioned} (x.Y)"]
    assert group_of(threadless, "positioned") == []
    assert group_of([told[0], threadless[-1]], "positioned") == ["a"]


def test_a_version_that_is_nobodys_is_not_kept_for_every_group() -> None:
    told = [
        line(1, "main", "Kafka version: 4.3.1"),
        line(2, "main", "[Consumer clientId=c, groupId=g] (Re-)joining group"),
    ]
    assert group_of(told, "version") == []
    assert group_of(told, "asking") == ["g"]


def test_who_is_given_partitions_by_hand_is_of_no_group() -> None:
    """As Streams' restoring consumers are: Java prints `null` for the group that they have not."""
    seen = observed(
        c=[
            line(1, "main", "[Consumer clientId=c, groupId=g] (Re-)joining group"),
            line(2, "main", "[Consumer clientId=r, groupId=null] Kafka consumer has been closed"),
        ]
    )
    assert list(seen.groups) == ["g"]


def test_of_several_of_one_name_the_first_to_speak_is_the_first() -> None:
    lives = [
        [
            f"2026-01-05 10:0{m}:00,000 INFO Kafka version: 4.3.1 (x.Y)",
            f"2026-01-05 10:0{m}:01,000 INFO [Consumer clientId=consumer-g-1, groupId=g] "
            "Subscribed to topic(s): t (x.Y)",
            f"2026-01-05 10:0{m}:02,000 INFO [Consumer clientId=consumer-g-1, groupId=g] "
            "(Re-)joining group (x.Y)",
        ]
        for m in (5, 1)  # the first run's lines stand behind those of the second
    ]
    story = observed(c=[*lives[0], *lives[1]]).groups["g"]
    named = sorted((v.facts[0].at_us, v.name) for v in story.voices)
    assert [name for _, name in named] == ["c/1", "c/1-2"]
