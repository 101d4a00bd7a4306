"""What a story says about itself: digest, places of values, words for its script, and its speed."""

from __future__ import annotations

import pickle
import time

import pytest
from stories import SMALL, played, problems_of, told

from rebalsim.domain.draws import NOTHING, constantly
from rebalsim.domain.instants import SECOND
from rebalsim.domain.script import Action, Crash, Scale, When
from rebalsim.scenario.action_words import say_names
from rebalsim.scenario.script_words import say_deed, say_when

STORY = """\
# a comment
topics:
  orders: {partitions: 4, rate: 5/s}
group:
  members: 3
  config:
    session.timeout.ms: 30s
  overrides:
    c1: {handler: {per_record: 9ms}}
cluster: {brokers: 2}
"""


def test_the_digest_is_of_what_the_file_says_not_of_how_it_looks() -> None:
    same = (
        STORY.replace("# a comment", "# another")
        .replace("30s", "'30s'")
        .replace("{brokers: 2}", "\n  brokers: 2")
    )
    assert told(STORY).digest == told(same).digest
    assert told(STORY).digest != told(STORY.replace("30s", "31s")).digest
    assert told(STORY).digest != told(STORY, ["cluster.brokers=3"]).digest
    assert told(STORY).scenario().digest == told(STORY).digest


def test_the_digest_never_changes_for_the_same_file() -> None:
    assert (
        told(SMALL).digest == told(SMALL).digest == "1aeac63ac8c81a9d"
    )  # baselines are compared by it


@pytest.mark.parametrize(
    ("where", "line", "column"),
    [
        (("consumer", "c0", "session.timeout.ms"), 7, 25),
        (("consumer", "c1", "per_record"), 9, 32),
        (("topic", "orders", "rate"), 3, 33),
        (("topic", "orders", "record_size"), 3, 3),
        (("group", "group", "session.timeout.ms"), 7, 25),
        (("cluster", "", "brokers"), 10, 20),
        (("consumer", "c0", "handler"), 5, 3),
        (("story", "", "horizon"), 2, 1),
    ],
)
def test_a_value_has_a_place_or_its_nearest_neighbour_has(
    where: tuple[str, str, str], line: int, column: int
) -> None:
    found = told(STORY).check().place_of(*where)
    assert found[0] == line, found
    assert found[2] == STORY.splitlines()[line - 1]
    if column > 3:
        assert found[1] == column


def test_a_resolved_scenario_can_be_sent_to_another_process() -> None:
    scenario = played(STORY)
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    assert hash(scenario) == hash(played(STORY))


def test_a_story_can_be_sent_too_and_is_read_again_there() -> None:
    story = told(STORY, [("cluster.brokers", 3)])
    again = pickle.loads(pickle.dumps(story))
    assert again.scenario("eager") == story.scenario("eager") and again.digest == story.digest
    assert (
        pickle.loads(pickle.dumps(told("topics: 5\n"))).problems() == told("topics: 5\n").problems()
    )


def test_the_same_file_resolves_to_equal_scenarios() -> None:
    assert played(STORY) == played(STORY)


def test_an_action_is_told_in_words() -> None:
    assert say_deed(Crash(("c1",), constantly(5 * SECOND))) == "c1 crashes, started again after 5s"
    assert say_deed(Scale("g", 2)) == "scale to 2: the last ones leave"
    assert (
        say_names(["a", "b", "c"]) == "a, b and c"
        and say_names([f"c{i}" for i in range(12)]) == "c0 … c11 (12)"
    )
    assert (
        say_when(Action(Crash(("c1",)), at_us=90 * SECOND, every_us=30 * SECOND, times=4))
        == "1m30s, every 30s, 4 times"
    )
    assert say_when(Action(Crash(("c1",)), after="bounce", at_us=SECOND)) == "after bounce + 1s"
    assert (
        say_when(Action(Crash(("c1",)), when=When("g", "stable", SECOND)))
        == "when g is stable for 1s"
    )


def test_every_deed_has_words_of_its_own() -> None:
    """A deed that say_deed forgot would be told by its class's name."""
    from pathlib import Path

    from rebalsim.scenario.load import load_scenario

    files = Path(__file__).parent / "files"
    script = [
        action
        for name in ("actions", "connect")
        for action in load_scenario(files / f"{name}.good.yaml").scenario().script
    ]
    from rebalsim.scenario.script_action import actions_by_deed

    seen = {type(a.deed) for a in script}
    assert {kind.__name__ for kind in actions_by_deed()} - {kind.__name__ for kind in seen} == set()
    for action in script:
        assert say_deed(action.deed) != type(action.deed).__name__


def test_a_plan_is_told_from_a_story() -> None:
    assert any(
        "`rebalsim sweep` plays it" in p.message
        for p in problems_of("scenario: x.yaml\naxes: {members: [1, 2]}\n")
    )


def test_keys_of_kafka_without_bearing_are_a_warning() -> None:
    story = told(
        "topics: {orders: 4}\ngroup: {members: 1, config: {bootstrap.servers: 'kafka:9092', "
        "send.buffer.bytes: 5}}\n"
    ).check()
    assert ["bootstrap.servers" in w.message for w in story.warnings] == [True, False]
    assert all(w.is_warning for w in story.warnings)


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_thousand_members_resolve_in_a_tenth_of_a_second() -> None:
    story = told(
        "topics: {orders: 10000}\ngroup: {members: 1000, config: {group.instance.id: "
        "'{name}'}}\nscript: [{at: 1m, rolling_bounce: all}]\n"
    )
    started = time.process_time()
    assert len(story.scenario("eager").groups[0].consumers) == 1000
    assert time.process_time() - started < 0.1


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (
            "group: {members: 10000}\nscript: ["
            + ", ".join("{at: 1m, rolling_bounce: all}" for _ in range(2000))
            + "]\n",
            "named members 250,000 times",
        ),
        (
            "group: {members: 9000, per_process: 10}\nscript: [{at: 1m, crash: {members: all, "
            "restart_after: 1s}}]\n"
            "replay: {" + ", ".join(f"v{i}: {{handler: {i + 1}ms}}" for i in range(30)) + "}\n",
            "30 variants of 9,000 members",
        ),
    ],
)
def test_what_would_take_minutes_is_refused_within_two_seconds(text: str, wrong: str) -> None:
    started = time.process_time()
    assert any(wrong in p.message for p in problems_of("topics: {orders: 4}\n" + text))
    assert time.process_time() - started < 2


def test_a_default_draw_is_nothing() -> None:
    assert played(SMALL).groups[0].consumers[0].life.start == NOTHING


def test_five_hundred_problems_are_enough() -> None:
    text = "topics: {orders: 4}\ngroup: {members: 1}\nscript:\n" + "".join(
        f"- {{at: 1m, crsh{i}: c0}}\n" for i in range(4000)
    )
    found = problems_of(text)
    assert len(found) == 501 and "There are more problems than these 500" in found[-1].message
    assert [p.line for p in found[:3]] == [4, 5, 6]


@pytest.mark.parametrize(
    "pattern", ["(a|a)*c", "(.*a){12}c", ".*.*.*.*x", "(a+)+", "a?" * 40 + "b", "(a|a)" * 60 + "b"]
)
def test_a_pattern_that_would_backtrack_for_ever_is_matched_at_once(pattern: str) -> None:
    began = time.process_time()
    problems_of("topics: {" + "a" * 200 + f": 1}}\ngroup: {{members: 1, pattern: '{pattern}'}}\n")
    assert time.process_time() - began < 1


@pytest.mark.parametrize("pattern", ["a++", r"(a)\1", "(?<=a)b", "((((a{99}){99}){99}){99})"])
def test_a_pattern_that_nobody_can_match_in_bounded_time_is_refused(pattern: str) -> None:
    assert any(
        "cannot be matched" in p.message
        for p in problems_of(
            f"topics: {{orders: 1}}\ngroup: {{members: 1, pattern: '{pattern}'}}\n"
        )
    )


@pytest.mark.parametrize(
    "pattern", ["orders.*", "(orders|payments)-.*", r"orders-\d+", "[a-z]+.o?rders.*"]
)
def test_an_ordinary_pattern_is_fine(pattern: str) -> None:
    assert (
        problems_of(
            f"topics: {{orders-1: 1, xx.orders: 1}}\ngroup: {{members: 1, pattern: '{pattern}'}}\n"
        )
        == ()
    )
