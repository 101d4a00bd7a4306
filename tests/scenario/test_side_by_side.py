"""Versions and clients side by side in `replay`, by names that follow from what they are."""

from __future__ import annotations

import pytest

from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.instants import SECOND
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.scenario.story import Story

TEXT = """
topics: {orders: 4}
group: {members: 2}
replay: [%s]
"""


def story(replay: str, *overrides: str, more: str = "") -> Story:
    return story_of((TEXT % replay + more).encode(), "story.yaml", overrides)


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ('{kafka: "3.9"}', "kafka-3.9"),
        ("{kafka: 4.0, protocol: cooperative}", "kafka-4.0-cooperative"),
        ("{client: librdkafka}", "librdkafka"),
        ('{kafka: "4.2", client: librdkafka, client_version: "2.15"}', "kafka-4.2-librdkafka-2.15"),
        ('{client_version: "3.1"}', "client-3.1"),
        ("{based_on: eager}", "eager"),
    ],
)
def test_an_entry_without_a_name_is_called_by_what_it_is(entry: str, name: str) -> None:
    assert story(entry).check().variants == (name,)


def test_a_version_brings_its_brokers_and_the_java_client_that_came_with_it() -> None:
    both = story('{kafka: "2.8"}, {kafka: "4.2"}')
    old, new = both.scenario("kafka-2.8"), both.scenario("kafka-4.2")
    assert (old.cluster.kafka, new.cluster.kafka) == ("2.8", "4.2")
    assert [s.groups[0].consumers[0].client_version for s in (old, new)] == ["2.8", "4.2"]
    assert [s.groups[0].consumers[0].config.session_timeout_us for s in (old, new)] == [
        10 * SECOND,
        45 * SECOND,
    ]
    assert old.heading == "kafka-2.8 (range)"


def test_a_version_with_a_protocol_is_that_variant_on_those_brokers() -> None:
    member = story('{kafka: "4.0", protocol: consumer}').scenario().groups[0].consumers[0]
    assert (member.config.group_protocol, member.client_version) == ("consumer", "4.0")


def test_one_of_ones_own_may_name_a_version_too() -> None:
    found = story('{old: {kafka: "3.1", config: {heartbeat.interval.ms: 1s}}}').scenario("old")
    assert (found.cluster.kafka, found.groups[0].consumers[0].config.heartbeat_interval_us) == (
        "3.1",
        SECOND,
    )


def test_an_override_of_replay_may_name_what_the_file_defines() -> None:
    chosen = story(
        'eager, {mine: {config: {session.timeout.ms: 20s}}}, {kafka: "3.9"}',
        "replay=[mine, kafka-3.9, consumer]",
    ).check()
    assert chosen.variants == ("mine", "kafka-3.9", "consumer")
    assert chosen.scenario("mine").groups[0].consumers[0].config.session_timeout_us == 20 * SECOND
    assert chosen.scenario("kafka-3.9").cluster.kafka == "3.9"


def test_budgets_on_variants_that_an_override_leaves_out_are_not_asked() -> None:
    from rebalsim.check.one_story import questions_of

    chosen = story(
        "eager, {mine: {config: {session.timeout.ms: 20s}}}",
        "replay=[consumer]",
        more="budgets: {mine: {rebalances: '== 0'}, longest_pause: '<= 1h'}",
    ).check()
    assert [(q.asked.metric, q.variant) for q in questions_of(chosen)] == [
        ("longest_pause", "consumer")
    ]  # type: ignore[union-attr]


def test_a_setting_of_an_entry_without_a_name_can_be_overridden_by_the_name_it_is_called_by() -> (
    None
):
    changed = story('{kafka: "3.9"}', "replay.kafka-3.9.config.session.timeout.ms=20s").check()
    assert (
        changed.scenario("kafka-3.9").groups[0].consumers[0].config.session_timeout_us
        == 20 * SECOND
    )


@pytest.mark.parametrize(
    ("replay", "at", "words"),
    [
        ('{kafka: "1.0"}', (4, 18), "Kafka 1.0 is not modelled"),
        ("{client: kafkajs}", (4, 19), "kafkajs is not modelled"),
        (
            'eager, {kafka: "3.9", protocol: consumer}',
            (4, 25),
            "Kafka 3.9 has no group.protocol: consumer",
        ),
        (
            '{kafka: "4.0", client_version: "3.9", protocol: consumer}',
            (4, 41),
            "java 3.9 does not speak",
        ),
        ('{kafka: "4.0"}, {kafka: "4.0"}', (4, 27), "'kafka-4.0' is replayed twice"),
        ('{kafka: "4.0", sesion: 3}', (4, 25), "'sesion' is not a key of the variant"),
    ],
)
def test_what_is_wrong_stands_where_it_is_written(
    replay: str, at: tuple[int, int], words: str
) -> None:
    with pytest.raises(ProblemsError) as caught:
        story(replay).check()
    first = caught.value.problems[0]
    assert (first.line, first.column) == at and words in first.message


def test_a_client_that_has_no_poll_limit_is_played_without_it_and_says_so() -> None:
    """The Java members of the file need theirs; franz-go in their place has none to set, which
    is what differs between the two.
    """
    limit = "group: {members: 2, config: {max.poll.interval.ms: 30s}}"
    both = story_of(
        TEXT.replace("group: {members: 2}", limit)
        .replace("%s", "{client: java}, {client: franz-go}")
        .encode(),
        "s.yaml",
    ).check()
    said = (
        "max.poll.interval.ms: 30s is dropped: franz-go has none, and a stuck handler never "
        "leaves the group."
    )
    assert (
        both.scenario("java").groups[0].consumers[0].config.max_poll_interval_us == 30 * SECOND
        and said not in both.scenario("java").notes
    )
    assert (
        said in both.scenario("franz-go").notes
        and not both.scenario("franz-go").groups[0].consumers[0].habits.has_poll_limit
    )
    for own in (
        "group: {members: 2, client: franz-go, config: {max.poll.interval.ms: 30s}}",
        "group: {members: 2}",
    ):
        entry = (
            "as-written"
            if "franz" in own
            else "{client: franz-go, config: {max.poll.interval.ms: 30s}}"
        )
        with pytest.raises(ProblemsError, match=r"franz-go has no max\.poll\.interval\.ms"):
            story_of(
                TEXT.replace("group: {members: 2}", own).replace("%s", entry).encode(), "s.yaml"
            ).check()


@pytest.mark.parametrize(
    "name", ["stuck-handler", "poison-record", "rebalance-storm-chain", "stateful-handover"]
)
def test_stock_stories_that_set_the_poll_limit_are_played_with_clients_that_have_none(
    name: str,
) -> None:
    assert load_scenario(
        name, ["replay=[{client: java}, {client: franz-go}]"]
    ).check().variants == ("java", "franz-go")
