"""Words that people use lead to the right key, by a table before spelling."""

from __future__ import annotations

import pytest

from rebalsim.domain.metrics import METRICS
from rebalsim.reports.figures import TITLES
from rebalsim.scenario.load import story_of
from rebalsim.scenario.metric_names import registered_name
from rebalsim.words.nearest import nearest_metric
from rebalsim.words.synonyms import LABELS, WORDS

BARE = "topics: {orders: 4}\ngroup: {members: 2}\nhorizon: 1m\n"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (BARE + "script: [{at: 10s, rolling_restart: {}}]\n", "rolling_bounce"),
        (BARE + 'budgets: {max_pause: "<= 1s"}\n', "longest_pause"),
        (BARE + 'budgets: {consumer_lag: "<= 10"}\n', "lag_peak"),
        (BARE.replace("members: 2", "replicas: 2"), "members"),
        (BARE + "slo: {}\n", "budgets"),
        (BARE + "script: [{at: 10s, kill: c0}]\n", "crash"),
        (BARE.replace("horizon", "length"), "horizon"),
    ],
)
def test_words_that_people_use_lead_to_the_key(text: str, key: str) -> None:
    said = " ".join(p.message for p in story_of(text.encode(), "s").problems())
    assert f"'{key}'" in said, said


@pytest.mark.parametrize(
    ("word", "setting"),
    [
        ("assignor: range", "partition.assignment.strategy"),
        ("static: true", "group.instance.id"),
        ("batch_size: 50", "max.poll.records"),
    ],
)
def test_words_for_a_setting_lead_below_config(word: str, setting: str) -> None:
    text = BARE.replace("members: 2", f"members: 2, {word}")
    said = " ".join(p.message for p in story_of(text.encode(), "s").problems())
    assert f"Kafka calls it {setting}; put it below, under config:" in said, said


@pytest.mark.parametrize("label", LABELS)
def test_what_a_table_says_is_a_metric_wherever_one_is_written(label: str) -> None:
    assert registered_name(label) == LABELS[label] and LABELS[label] in METRICS
    assert nearest_metric(label) == LABELS[label]


def test_every_label_of_a_table_can_be_written() -> None:
    for metric, title in TITLES.items():
        written = title.replace(" ", "_").replace("-", "_")
        assert registered_name(written) == metric or metric == "skipped", title


def test_a_budget_may_be_written_as_the_table_says_it() -> None:
    story = story_of((BARE + 'budgets: {partitions_moved: "<= 1"}\n').encode(), "s").check()
    assert [b.metric for b in story.budgets] == ["moved_partitions"]


def test_no_word_of_the_table_is_a_metric_itself() -> None:
    assert not set(WORDS) & set(METRICS)
    assert all(words for words in WORDS.values())


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (
            "title: t\ntopics: {orders: 4}\ngroup:\n  members: 2\n  rack: 'a\nhorizon: 1m\n# it's\n",
            5,
            "quotes opened here are not closed",
        ),
        (
            "topics: {orders: 4}\ngroup:\n  members: 2\n   config: {}\nhorizon: 1m\n",
            4,
            "indented deeper than the one above",
        ),
    ],
)
def test_what_yaml_trips_over_later_is_told_where_it_began(text: str, line: int, says: str) -> None:
    from rebalsim.domain.errors import ProblemsError

    try:
        found = story_of(text.encode(), "s").problems()
    except ProblemsError as e:
        found = e.problems
    assert found[0].line == line and says in found[0].message
