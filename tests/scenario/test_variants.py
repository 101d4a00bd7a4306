"""Which variants a story is played in, and what the stock ones change."""

from __future__ import annotations

from pathlib import Path

import pytest
from stories import SMALL, consumers, messages, played, told

from rebalsim.check.one_story import StoryJudge
from rebalsim.domain.errors import InputError
from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.script import RollingBounce
from rebalsim.scenario.load import load_scenario, stock_stories

ROOT = Path(__file__).parents[2]


def strategy(config: str, variant: str) -> tuple[str, ...]:
    text = (
        f"topics: {{orders: 4}}\ngroup: {{members: 2, config: {{{config}}}}}\nreplay: [{variant}]\n"
    )
    return played(text, variant).groups[0].consumers[0].config.partition_assignment_strategy


def test_eager_and_cooperative_are_played_unless_the_file_says_otherwise() -> None:
    story = told(SMALL).check()
    assert story.variants == ("eager", "cooperative")
    assert [story.heading(v) for v in story.variants] == [
        "eager (range)",
        "cooperative (cooperative-sticky)",
    ]


@pytest.mark.parametrize(
    ("listed", "eager"),
    [
        ("", ("range", "cooperative-sticky")),
        ("[range, cooperative-sticky]", ("range", "cooperative-sticky")),
        ("[sticky]", ("sticky",)),
        ("[roundrobin, range]", ("roundrobin", "range")),
        ("[cooperative-sticky]", ("range",)),
    ],
)
def test_eager_keeps_assignors_that_run_eager_and_else_takes_range(
    listed: str, eager: tuple[str, ...]
) -> None:
    config = f"partition.assignment.strategy: {listed}" if listed else ""
    assert strategy(config, "eager") == eager
    assert strategy(config, "cooperative") == ("cooperative-sticky",)


@pytest.mark.parametrize(
    "text",
    [
        "topics: {o: 4}\ngroup: {members: {a: {config: {partition.assignment.strategy: [range, "
        "sticky]}}, b: {config: {partition.assignment.strategy:"
        " [sticky]}}}}\n",
        "topics: {o: 4}\ngroup: {members: 2}\nscript: [{at: 1m, deploy: {config: "
        "{partition.assignment.strategy: [cooperative-sticky]}}}]\n",
        "topics: {o: 4}\ngroup: {members: 2, config: {group.protocol: consumer}}\n",
    ],
)
def test_a_story_about_assignors_or_protocols_is_played_as_written_unless_it_lists_variants(
    text: str,
) -> None:
    assert told(text).check().variants == ("as-written",)
    assert told(text + "replay: [eager]\n").variants == ("eager",)


def test_the_consumer_overlay_drops_what_that_protocol_refuses_and_says_so() -> None:
    story = told("""
        topics: {orders: 4}
        group: {members: 2, config: {session.timeout.ms: 30s, heartbeat.interval.ms: 3000, partition.assignment.strategy: [sticky]}}
        replay: [eager, consumer]
        """).check()
    scenario = story.scenario("consumer")
    config = scenario.groups[0].consumers[0].config
    assert config.group_protocol == "consumer" and config.session_timeout_us == 45 * SECOND
    assert [n.split(" ")[0] for n in scenario.notes] == [
        "session.timeout.ms:",
        "heartbeat.interval.ms:",
        "partition.assignment.strategy:",
    ]
    assert scenario.heading == "consumer (uniform)"
    assert story.scenario("eager").notes == ()


def test_a_story_of_the_consumer_protocol_can_be_replayed_eager() -> None:
    text = (
        "topics: {o: 4}\ngroup: {members: 2, config: {group.protocol: consumer, "
        "group.remote.assignor: range}}\nreplay: [eager, consumer]\n"
    )
    assert played(text, "eager").groups[0].consumers[0].config.group_protocol == "classic"
    assert played(text, "consumer").heading == "consumer (range)"


def test_the_stock_overlays_have_their_settings() -> None:
    text = (
        'topics: {o: 4}\ngroup: {members: {"app-{n}": {count: 2}}, racks: [a, b]}\nreplay: '
        "[low-latency, static-production]\n"
    )
    low = played(text, "low-latency").groups[0].consumers[0].config
    assert (
        low.session_timeout_us,
        low.heartbeat_interval_us,
        low.max_poll_interval_us,
        low.max_poll_records,
    ) == (10 * SECOND, 3 * SECOND, 30 * SECOND, 100)
    static = [c.config for c in consumers(played(text, "static-production")).values()]
    assert [(c.group_instance_id, c.client_rack) for c in static] == [
        ("app-0", "a"),
        ("app-1", "b"),
    ]
    assert (
        static[0].session_timeout_us,
        static[0].heartbeat_interval_us,
        static[0].max_poll_interval_us,
    ) == (60 * SECOND, 5 * SECOND, 5 * MINUTE)
    assert (
        low.partition_assignment_strategy
        == static[0].partition_assignment_strategy
        == ("cooperative-sticky",)
    )


def test_ones_own_variant_changes_what_it_says_and_nothing_else() -> None:
    text = (
        SMALL
        + """replay:
  short: {based_on: cooperative, config: {session.timeout.ms: 10s}, handler: 5ms, cluster: {brokers: 3}}
  more: {set: {topics.orders: 24, group.members: 5}}
"""
    )
    short, more = played(text, "short"), played(text, "more")
    assert (
        short.groups[0].consumers[0].config.session_timeout_us == 10 * SECOND
        and len(short.cluster.brokers) == 3
    )
    assert short.heading == "short (cooperative-sticky)"
    assert (
        more.topics[0].partitions == 24
        and len(more.groups[0].consumers) == 5
        and len(more.cluster.brokers) == 1
    )


def test_a_deploy_lies_on_top_of_a_variant() -> None:
    text = (
        SMALL
        + "script: [{at: 1m, deploy: {config: {session.timeout.ms: 20s}}}]\nreplay: [low-latency]\n"
    )
    scenario = played(text)
    assert scenario.groups[0].consumers[0].config.session_timeout_us == 10 * SECOND
    deed = scenario.script[0].deed
    assert getattr(deed, "deploy").consumers[0].config.session_timeout_us == 20 * SECOND  # noqa: B009 - a deed is a union


def test_an_unknown_variant_is_a_problem_of_the_caller() -> None:
    with pytest.raises(InputError, match="did you mean 'eager'"):
        told(SMALL).scenario("eagr")


def test_members_without_an_assignor_in_common_cannot_begin() -> None:
    text = (
        "topics: {o: 4}\ngroup: {members: {a: {config: {partition.assignment.strategy: "
        "[range]}}, b: {config: {partition.assignment.strategy: [sticky]}}}}\n"
    )
    assert "without one in common" in messages(text)


@pytest.mark.parametrize(
    "name",
    [*stock_stories(), *(str(p) for p in sorted((ROOT / "scenarios" / "world").glob("*.yaml")))],
)
def test_every_story_that_ships_can_be_played_under_all_three_protocols(name: str) -> None:
    story = load_scenario(name, ["replay=[eager, cooperative, consumer]"])
    consumer = story.scenario("consumer")
    assert story.variants == ("eager", "cooperative", "consumer")
    assert all(
        c.config.group_protocol == "consumer"
        for group in consumer.groups
        for c in group.consumers
        if c.worker is None  # Kafka Connect's have a classic group, and say so
    )


def test_a_story_that_upgrades_its_brokers_is_overlaid_with_what_they_come_to_and_says_so() -> None:
    consumer = load_scenario("migration-whole-road", ["replay=[consumer]"]).scenario("consumer")
    assert consumer.cluster.kafka == "4.3"
    assert (
        'kafka: "3.9" is played as 4.3, to which the script upgrades: brokers have the consumer '
        "protocol since 4.0." in consumer.notes
    )
    assert (
        "librdkafka 2.5 is played as 2.12, which is the first that speaks the consumer protocol."
        in consumer.notes
    )


def test_what_the_overlay_dropped_is_listed() -> None:
    notes = load_scenario("static-membership", ["replay=[consumer]"]).scenario("consumer").notes
    assert any(
        note.startswith("session.timeout.ms: 30s is dropped: the consumer protocol refuses it")
        for note in notes
    )


def test_a_deploy_back_to_the_classic_protocol_keeps_its_assignor_under_the_consumer_overlay() -> (
    None
):
    """Deploys lie on top of the overlay: whoever comes back classic offers what the deploy says,
    and nothing is said to be refused of that.
    """
    scenario = load_scenario("migration-to-consumer", ["replay=[consumer]"]).scenario("consumer")
    there, back = (
        action.deed.deploy.consumers
        for action in scenario.script
        if isinstance(action.deed, RollingBounce)
    )
    assert {c.config.group_protocol for c in there} == {"consumer"}
    assert {(c.config.group_protocol, c.config.partition_assignment_strategy) for c in back} == {
        ("classic", ("cooperative-sticky",))
    }
    assert (
        len([note for note in scenario.notes if note.startswith("partition.assignment.strategy")])
        == 1
    )  # the one that they start with


@pytest.mark.parametrize("name", ["static-membership", "static-torn-handover"])
def test_budgets_that_hold_under_the_classic_protocols_alone_are_asked_of_these(name: str) -> None:
    story = load_scenario(name, ["replay=[eager, cooperative, consumer]"])
    judge = StoryJudge(story)
    assert {checked.variant for checked in judge.checked()} >= {
        "eager",
        "cooperative",
    } and not judge.problems()
    assert [(c.name, c.variant) for c in judge.checked() if c.outcome != "pass"] == []
