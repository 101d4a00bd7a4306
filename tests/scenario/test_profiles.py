"""What a version of Kafka or of a client changes: defaults, and what is refused."""

from __future__ import annotations

import pytest
from stories import messages

from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.habits import Habits
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.scenario import Scenario
from rebalsim.scenario.known_differences import HABITS
from rebalsim.scenario.load import story_of
from rebalsim.scenario.profiles import (
    AIOKAFKA,
    BROKERS,
    CLIENTS,
    FRANZ_GO,
    KAFKA_PYTHON,
    LIBRDKAFKA,
    SARAMA,
    broker_profile,
    client_profile,
)
from rebalsim.simulation.consumer_coordinator import settings_of
from rebalsim.simulation.coordinator import rules_of


def scenario(text: str, variant: str = "eager") -> Scenario:
    return story_of(f"topics: {{t: 4}}\n{text}".encode(), "story.yaml").scenario(variant)


@pytest.mark.parametrize(
    ("version", "session_s", "assignors"),
    [
        ("2.8", 10, ("range",)),
        ("3.0", 45, ("range", "cooperative-sticky")),
        ("3.9", 45, ("range", "cooperative-sticky")),
        ("4.3", 45, ("range", "cooperative-sticky")),
    ],
)
def test_java_changed_its_session_and_its_assignors_with_3_0(
    version: str, session_s: int, assignors: tuple[str, ...]
) -> None:
    config = CLIENTS["java", version].config
    assert (config.session_timeout_us, config.partition_assignment_strategy) == (
        session_s * SECOND,
        assignors,
    )


@pytest.mark.parametrize(
    ("version", "interval_us", "first", "again", "since_4_3"),
    [
        ("4.0", 0, 0, False, False),
        ("4.2", 0, 0, True, False),
        ("4.3", SECOND, 1, True, True),
        ("4.4", SECOND, 1, True, True),
    ],
)
def test_the_coordinator_of_consumer_groups_changed_with_4_2_and_4_3(
    version: str, interval_us: int, first: int, again: bool, since_4_3: bool
) -> None:
    settings = settings_of(scenario(f'kafka: "{version}"\ngroup: {{members: 1}}').cluster)
    assert (settings.assignment_interval_us, settings.first_epoch) == (interval_us, first)
    assert settings.known_members_may_join_again == again
    assert settings.commits_by_partition == settings.classic_members_follow_target == since_4_3


def test_brokers_up_to_3_9_run_the_coordinator_in_scala() -> None:
    old = rules_of(scenario('kafka: "3.9"\ngroup: {members: 1}').cluster)
    new = rules_of(scenario('kafka: "4.0"\ngroup: {members: 1}').cluster)
    assert not old.extends_every_start
    assert new.extends_every_start


def test_a_write_waits_for_the_linger_in_4_0_to_4_2() -> None:
    lingers = {
        version: BROKERS[version].config.group_coordinator_append_linger_us
        for version in ("3.9", "4.0", "4.2", "4.3")
    }
    assert lingers == {"3.9": 0, "4.0": 5 * MS, "4.2": 5 * MS, "4.3": -1}


def test_a_patch_release_has_its_minors_profile() -> None:
    found = broker_profile("4.2.1")
    assert not isinstance(found, str)
    assert found.version == "4.2"


@pytest.mark.parametrize(
    ("client", "brokers", "version"),
    [
        ("java", "", "4.3"),
        ("java", "2.8", "2.8"),
        ("java", "4.4", "4.4"),
        ("librdkafka", "3.9", "2.16"),
    ],
)
def test_a_client_without_a_version_is_the_brokers_where_it_is_java_else_the_newest_that_is_known(
    client: str, brokers: str, version: str
) -> None:
    found = client_profile(client, "", brokers)
    assert not isinstance(found, str)
    assert found.version == version


def test_old_brokers_come_with_the_java_client_of_their_time() -> None:
    config = scenario('kafka: "2.8"\ngroup: {members: 1}').groups[0].consumers[0].config
    assert (config.session_timeout_us, config.partition_assignment_strategy) == (
        10 * SECOND,
        ("range",),
    )


def test_a_script_that_upgrades_the_brokers_may_go_on_with_what_they_can_then() -> None:
    road = 'kafka: "3.9"\ngroup: {members: 1}\nreplay: as-written\nscript:\n'
    deploy = '- {at: 2m, deploy: {client_version: "4.3", config: {group.protocol: consumer}}}'
    assert scenario(
        road + '- {at: 1m, broker_upgrade: {to: "4.3", down: 5s}}\n' + deploy, "as-written"
    ).script
    with pytest.raises(ProblemsError, match=r"Kafka 3\.9 has no group\.protocol"):
        scenario(road + deploy, "as-written")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'kafka: "3.9"\nreplay: [consumer]\ngroup: {members: 1}',
            "Kafka 3.9 has no group.protocol: consumer",
        ),
        (
            'replay: [consumer]\ngroup: {members: 1, client_version: "3.8"}',
            "java 3.8 does not speak the consumer protocol",
        ),
        (
            "replay: [consumer]\ngroup: {members: 1, client: kafka-python}",
            "kafka-python 3.0 does not speak",
        ),
        (
            'replay: [consumer]\ngroup: {members: 1, client: librdkafka, client_version: "2.11"}',
            "librdkafka 2.11 does not speak",
        ),
    ],
)
def test_what_is_too_old_for_the_consumer_protocol_is_refused(text: str, words: str) -> None:
    with pytest.raises(ProblemsError, match=words):
        scenario(text, "consumer")


def test_every_habit_names_its_source() -> None:
    assert all(habit.source and habit.what for habit in HABITS)


ONE = "group: {members: 1, client: %s, config: {%s}}\nreplay: [eager]"


@pytest.mark.parametrize(
    ("client", "session_s", "assignors", "habits"),
    [
        ("librdkafka", 45, ("range", "roundrobin"), LIBRDKAFKA),
        ("franz-go", 45, ("cooperative-sticky",), FRANZ_GO),
        ("sarama", 10, ("range",), SARAMA),
        ("kafka-python", 45, ("range", "roundrobin"), KAFKA_PYTHON),
        ("aiokafka", 10, ("roundrobin",), AIOKAFKA),
    ],
)
def test_each_client_brings_its_defaults_and_habits(
    client: str, session_s: int, assignors: tuple[str, ...], habits: Habits
) -> None:
    member = (
        scenario(ONE.replace("[eager]", "as-written") % (client, ""), "as-written")
        .groups[0]
        .consumers[0]
    )
    assert (
        member.config.session_timeout_us,
        member.config.partition_assignment_strategy,
        member.habits,
    ) == (session_s * SECOND, assignors, habits)


def test_eager_is_eager_for_a_client_that_is_cooperative_by_default() -> None:
    assert scenario(ONE % ("franz-go", "")).groups[0].consumers[
        0
    ].config.partition_assignment_strategy == ("range",)


@pytest.mark.parametrize(
    ("client", "config", "words"),
    [
        (
            "librdkafka",
            "partition.assignment.strategy: [sticky]",
            "librdkafka 2.16 has no assignor sticky — write range, roundrobin or "
            "cooperative-sticky",
        ),
        (
            "librdkafka",
            "partition.assignment.strategy: [cooperative-sticky, range]",
            "librdkafka refuses a list with cooperative-sticky beside range",
        ),
        (
            "aiokafka",
            "partition.assignment.strategy: [cooperative-sticky]",
            "aiokafka 0.14 has no assignor cooperative-sticky",
        ),
        ("franz-go", "max.poll.interval.ms: 10s", "franz-go has no max.poll.interval.ms"),
        ("sarama", "max.poll.interval.ms: 10s", "sarama has no max.poll.interval.ms"),
    ],
)
def test_what_a_client_has_not_is_refused_where_it_is_written(
    client: str, config: str, words: str
) -> None:
    text = (ONE % (client, config)).replace("[eager]", "as-written")
    with pytest.raises(ProblemsError) as caught:
        scenario(text, "as-written")
    first = caught.value.problems[0]
    assert words in first.message
    assert (first.line, first.column) == (2, text.index(config.split(": ")[1]) + 1)


def test_a_variant_that_a_client_cannot_play_says_so_at_the_variant() -> None:
    with pytest.raises(ProblemsError) as caught:
        scenario(ONE.replace("[eager]", "[eager, cooperative]") % ("aiokafka", ""), "cooperative")
    assert (
        "leave cooperative out of replay" in caught.value.problems[0].message
        and caught.value.problems[0].line == 3
    )


@pytest.mark.parametrize(
    ("client", "listener", "waits"),
    [
        ("java", "", True),
        ("kafka-python", "", True),
        ("librdkafka", "", False),
        ("librdkafka", "on_revoked: 1ms", True),
        ("sarama", "", True),
        ("franz-go", "on_revoked: 1ms", False),
        ("aiokafka", "", False),
    ],
)
def test_whose_group_waits_for_its_application(client: str, listener: str, waits: bool) -> None:
    text = f"group: {{members: 1, client: {client}, listener: {{{listener}}}}}\nreplay: [eager]"
    assert scenario(text).groups[0].consumers[0].awaits_poll == waits


@pytest.mark.parametrize(("client", "is_found"), [("java", True), ("franz-go", False)])
def test_the_rules_on_slow_handlers_know_who_rebalances_beside_them(
    client: str, is_found: bool
) -> None:
    from rebalsim.lint.registry import check

    text = (
        f"topics: {{t: 4}}\ngroup: {{members: 2, client: {client}}}\nscript: [{{at: 1m, hang: "
        f"{{member: c0, for: 2m}}}}]\nreplay: [eager]"
    )
    found = {finding.rule for finding in check(story_of(text.encode(), "story.yaml"))}
    assert ("stuck-handler-holds-barrier" in found) == is_found


STATIC = """kafka: "4.3"
topics: {t: 4}
group: {members: 3, client: %s, client_version: "%s", group.instance.id: "{name}"}
script: [{at: 1m, leave: {members: c1, option: %s}}]
replay: as-written
horizon: 3m
"""


@pytest.mark.parametrize(
    ("client", "version", "option", "is_refused"),
    [
        ("java", "4.0", "leave", True),
        ("java", "4.1", "leave", False),
        ("java", "4.0", "remain", False),
        ("java", "4.0", "default", False),
        ("librdkafka", "2.16", "leave", True),
        ("librdkafka", "2.16", "default", False),
    ],
)
def test_a_static_member_leaves_on_close_only_where_close_has_an_option_for_it(
    client: str, version: str, option: str, is_refused: bool
) -> None:
    told = messages(STATIC % (client, version, option))
    assert ("no option with which a static member leaves" in told) == is_refused and (
        is_refused or not told
    )


def test_a_dynamic_member_of_any_version_may_be_told_to_leave() -> None:
    assert not messages(
        (STATIC % ("java", "3.9", "leave")).replace(', group.instance.id: "{name}"', "")
    )


@pytest.mark.parametrize(
    ("settings", "refused"),
    [
        ("group.consumer.assignment.interval.ms: 15s", ""),
        ("group.consumer.assignment.interval.ms: 20s", "is outside"),
        (
            "group.consumer.assignment.interval.ms: 20s, "
            "group.consumer.max.assignment.interval.ms: 30s",
            "",
        ),
        ("group.consumer.min.assignment.interval.ms: 2s", "is outside"),
        ("group.consumer.min.assignment.interval.ms: 16s", "is above"),
    ],
)
def test_the_assignment_interval_stays_within_the_brokers_bounds(
    settings: str, refused: str
) -> None:
    told = messages(
        f"topics: {{t: 4}}\ncluster: {{config: {{{settings}}}}}\ngroup: {{members: 2, config: "
        f"{{group.protocol: consumer}}}}\nreplay: as-written\n"
    )
    assert (refused in told) if refused else not told


@pytest.mark.parametrize(("version", "is_told"), [("4.0", True), ("4.2", True), ("4.3", False)])
def test_a_story_that_asks_for_an_older_client_of_the_consumer_protocol_is_told_that_it_is_played_as_a_newer_one(
    version: str, is_told: bool
) -> None:
    story = (
        f'topics: {{t: 4}}\ngroup: {{members: 2, client_version: "{version}", config: '
        f"{{group.protocol: consumer}}}}\nreplay: as-written\n"
    )
    notes = story_of(story.encode(), "story.yaml").scenario().notes
    assert (
        any(
            f"Java {version} under the consumer protocol is played as 4.3" in note for note in notes
        )
        == is_told
    )
