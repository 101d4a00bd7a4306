"""--set: any setting by its path, with the file's own errors, on a tree that shares what it does
not change.
"""

from __future__ import annotations

import time

import pytest
from stories import SMALL, messages, played, told

from rebalsim.domain.errors import ProblemsError
from rebalsim.domain.instants import SECOND
from rebalsim.scenario.load import load_scenario, story_of

STORY = """
topics: {orders: {partitions: 4, rate: 100/s}, a.b: 2}
group:
  members: {x.1: {handler: 1ms}, y: }
  config: {session.timeout.ms: 30s}
script:
  - {at: 1m, id: bounce, rolling_bounce: {members: y, settle: 1s}}
  - {at: 2m, scale: 3}
replay: [eager, mine: {config: {session.timeout.ms: 10s}}]
budgets: {longest_pause: "<= 2s", mine: {rebalances: "<= 1"}}
"""


def test_kafkas_keys_are_the_longest_known_leaf() -> None:
    config = played(
        STORY,
        "eager",
        ["group.config.max.poll.records=7", "cluster.config.group.initial.rebalance.delay.ms=0"],
    )
    assert config.groups[0].consumers[0].config.max_poll_records == 7
    assert config.cluster.config.group_initial_rebalance_delay_us == 0


@pytest.mark.parametrize(
    ("override", "path"),
    [
        ("topics.orders.partitions=8", "topics[0].partitions=8"),
        ("topics.a.b=3", "topics[1].partitions=3"),
        ("topics.a.b.partitions=3", "topics[1].partitions=3"),
        ("horizon=7m", "horizon_us=420000000"),
        ("seed=9", "seed=9"),
        ("cluster.brokers=3", "cluster.brokers[2].id=2"),
        (
            "group.members.x.1.handler.per_record=5ms",
            "groups[0].consumers[0].handler.per_record.a=5000.0",
        ),
        ("group.members.y.handler=5ms", "groups[0].consumers[1].handler.per_record.a=5000.0"),
        ("script.0.rolling_bounce.settle=9s", "script[0].deed.settle_us=9000000"),
        ("script.bounce.rolling_bounce.settle=9s", "script[0].deed.settle_us=9000000"),
        ("script.1.scale.to=5", "script[1].deed.to=5"),
        ("script.1.scale=5", "script[1].deed.to=5"),
        ("script.1.at=3m", "script[1].at_us=180000000"),
        ("budgets.longest_pause=<= 5s", "budgets[0].limit=5000000.0"),
        ("budgets.mine.rebalances=<= 3", "budgets[1].limit=3.0"),
        (
            "group.handler={per_record: 3ms, commit: async}",
            "groups[0].consumers[1].handler.commit=async",
        ),
        ("group.starts_at=0s..30s", "groups[0].consumers[0].starts_at.b=30000000.0"),
        ("title=a = b", "title=a = b"),
    ],
)
def test_a_path_leads_to_its_setting(override: str, path: str) -> None:
    scenario = played(STORY, "eager", [override])
    place, _, expected = path.partition("=")
    found: object = scenario
    for step in place.replace("[", ".").replace("]", "").split("."):
        found = found[int(step)] if step.isdigit() else getattr(found, step)  # type: ignore[index]
    assert str(found) == expected


def test_an_override_beats_overlays_and_the_last_one_beats_the_others() -> None:
    path = "group.config.session.timeout.ms"
    assert played(STORY, "mine").groups[0].consumers[0].config.session_timeout_us == 10 * SECOND
    assert (
        played(STORY, "mine", [f"{path}=20s"]).groups[0].consumers[0].config.session_timeout_us
        == 20 * SECOND
    )
    assert (
        played(STORY, "mine", [f"{path}=20s", (path, 25_000)])
        .groups[0]
        .consumers[0]
        .config.session_timeout_us
        == 25 * SECOND
    )
    assert (
        played(
            SMALL, "cooperative", ["group.config.partition.assignment.strategy=[sticky]"]
        ).heading
        == "cooperative (sticky)"
    )


def test_an_instance_id_can_be_overridden_by_either_path() -> None:
    for path in ("group.group.instance.id", "group.config.group.instance.id"):
        for text in (SMALL, SMALL.replace("3}", '3, config: {group.instance.id: "a-{n}"}}')):
            assert (
                played(text, "", [f"{path}=b-{{n}}"])
                .groups[0]
                .consumers[2]
                .config.group_instance_id
                == "b-2"
            )


def test_a_variants_own_setting_can_be_overridden_too() -> None:
    assert (
        played(STORY, "mine", ["replay.mine.config.session.timeout.ms=12s"])
        .groups[0]
        .consumers[0]
        .config.session_timeout_us
        == 12 * SECOND
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "group.confg.max.poll.records=7",
            "'confg.max.poll.records' is not a key of the group — did you mean 'config'?",
        ),
        ("group.config.max.poll.record=7", "did you mean 'max.poll.records'?"),
        (
            "group.session.timeout.ms=7s",
            "it is a setting of the client; put it below, under config:",
        ),
        ("group.config.max.poll.records", "sets nothing — write --set PATH=VALUE"),
        ("group.config.max.poll.records=many", "write a whole number"),
        ("group.config.session.timeout.ms=1:30", "write 1m30s"),
        ("topics.order.partitions=7", "'order' is none of the topics — did you mean 'orders'?"),
        ("script.7.at=1m", "The list has 2 entries"),
        ("script.bonce.at=1m", "did you mean 'bounce'?"),
        ("horizon.x=5", "goes on where there is a single value"),
        ("group.config.session.timeout.ms=3s", "below the brokers'"),
        ("=5", "sets nothing"),
        ("group.members=[", "not closed"),
        ("group.members.zed.handler=1ms", "'zed' is none of the members"),
    ],
)
def test_a_wrong_override_is_told_like_a_wrong_file(override: str, message: str) -> None:
    assert message in messages(STORY, [override])


def test_the_caret_of_a_wrong_override_is_in_the_option() -> None:
    with pytest.raises(ProblemsError) as caught:
        told(STORY, ["group.config.max.poll.records=many"]).check()
    assert str(caught.value).splitlines() == [
        "--set:1:31: 'many' does not fit here — write a whole number from 1",
        "     1 | group.config.max.poll.records=many",
        "       |                               ^^^^",
    ]


def test_the_original_is_untouched_and_the_rest_is_shared() -> None:
    story = told(STORY).check()
    digest = story.digest
    other = story.with_overrides([("topics.orders.partitions", 64)])
    assert other.scenario("eager").topics[0].partitions == 64
    assert story.scenario("eager").topics[0].partitions == 4
    assert other.digest != digest and story.digest == digest
    assert other.written.get("group") is story.written.get("group")


def test_python_values_of_every_kind_can_be_set() -> None:
    story = told(STORY)
    made = (
        story.with_overrides(
            [
                ("group.config.enable.auto.commit", False),
                ("group.handler", {"commit": "none", "per_record": "2ms"}),
                ("group.racks", ["a", "b"]),
                ("topics.orders.rate", "5/s"),
                ("group.listener.on_lost", 0),
            ]
        )
        .check()
        .scenario("eager")
    )
    consumer = made.groups[0].consumers[1]
    assert (
        consumer.rack == "b"
        and not consumer.config.enable_auto_commit
        and consumer.handler.commit == "none"
    )


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_a_neighbour_in_a_sweep_costs_less_than_a_millisecond() -> None:
    story = told(SMALL)
    story.check()
    best = min(_timed(story, n) for n in range(60))
    assert best < 0.001, f"{best * 1000:.2f} ms"


def _timed(story: object, n: int) -> float:
    started = time.process_time()
    story.with_overrides(
        [("group.config.session.timeout.ms", 10_000 + n), ("topics.orders.partitions", n + 1)]
    ).scenario("eager")  # type: ignore[attr-defined]
    return time.process_time() - started


@pytest.mark.parametrize(
    "setting",
    [
        "group.handler.poll_timeout=0",
        "group.config.retry.backoff.ms=0",
        "group.config.retry.backoff.max.ms=0",
    ],
)
def test_what_would_make_a_client_spin_without_time_going_on_is_refused(setting: str) -> None:
    """Kafka allows it, and burns a core; a simulated clock would stand still for ever."""
    with pytest.raises(ProblemsError, match="is too short here — write 1ms or more"):
        load_scenario("scale-out", [setting])


def test_a_choice_that_may_be_none_is_set_to_nothing() -> None:
    """`replica.selector.class=` takes the selector away, as an empty value does in a broker's
    file.
    """
    text = (
        b"topics: {t: 1}\ngroup: {members: 1}\ncluster: {config: {replica.selector.class: "
        b"RackAwareReplicaSelector}}\n"
    )
    path = "cluster.config.replica.selector.class="
    assert (
        story_of(text, "s.yaml", [path])
        .check()
        .scenario("eager")
        .cluster.config.replica_selector_class
        == ""
    )
    with pytest.raises(ProblemsError, match="RackAwareReplicaSelector or nothing"):
        story_of(text, "s.yaml", [f"{path}Rocks"]).check()


@pytest.mark.parametrize(
    ("short", "whole"),
    [
        ("session.timeout.ms=10s", "group.config.session.timeout.ms=10s"),
        ("config.session.timeout.ms=10s", "group.config.session.timeout.ms=10s"),
        ("members=5", "group.members=5"),
        ("handler.commit=async", "group.handler.commit=async"),
        (
            "group.consumer.session.timeout.ms=50s",
            "cluster.config.group.consumer.session.timeout.ms=50s",
        ),
    ],
)
def test_a_short_path_means_the_one_group_s_or_the_brokers(short: str, whole: str) -> None:
    from rebalsim.scenario.load import story_of

    raw = b"topics: {orders: 4}\ngroup: {members: 2}\nhorizon: 1m\n"
    by_short, by_whole = (story_of(raw, "s", [one]).check() for one in (short, whole))
    assert by_short.digest == by_whole.digest
