"""As written → as meant: members, topics, layers of settings, the script on named consumers."""

from __future__ import annotations

from typing import Any

import pytest
from stories import SMALL, consumers, messages, played, told

from rebalsim.domain import script as deeds
from rebalsim.domain.client import ClientConfig
from rebalsim.domain.consumer import Cost
from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import MINUTE, SECOND
from rebalsim.domain.scenario import RateStep


def test_the_smallest_story_has_kafkas_defaults_everywhere() -> None:
    scenario = played(SMALL, "eager")
    assert list(consumers(scenario)) == ["c0", "c1", "c2"]
    for consumer in scenario.groups[0].consumers:
        assert consumer.config == ClientConfig()
        assert consumer.topics == ("orders",)
        assert consumer.starts_at == Draw()
    assert scenario.topics[0].partitions == 4
    assert scenario.horizon_us == 10 * MINUTE


def test_layers_lie_upon_each_other_from_the_template_to_the_override() -> None:
    scenario = played(
        """
        topics: {orders: 4}
        templates:
          base: {config: {max.poll.records: 1, fetch.min.bytes: 1, session.timeout.ms: 11s}, handler: {per_record: 1ms, per_batch: 7ms}}
          fast: {config: {fetch.min.bytes: 3}}
        group:
          template: base
          config: {max.poll.records: 2}
          members: {a: , b: {template: fast, config: {max.poll.records: 3}}, c: {handler: 9ms}}
          overrides: {b: {config: {max.poll.records: 4}}}
        """,
        "eager",
    )
    a, b, c = consumers(scenario).values()
    assert (a.config.max_poll_records, a.config.fetch_min_bytes, a.config.session_timeout_us) == (
        2,
        1,
        11 * SECOND,
    )
    assert (b.config.max_poll_records, b.config.fetch_min_bytes) == (4, 3)
    assert c.handler.per_record == constantly(9000) and c.handler.per_batch == constantly(7000)


def test_ids_racks_and_names_are_filled_from_patterns() -> None:
    scenario = played(
        """
        topics: {orders: 4}
        group:
          members: {"orders-{n}": {count: 4}}
          per_process: 2
          racks: [x, y]
          config: {group.instance.id: "{name}/{pod}".replace, client.rack: "{rack}", client.id: "app-{n}-{pod}-{i}"}
        """.replace('"{name}/{pod}".replace', '"{name}.{pod}.{i}"'),
        "eager",
    )
    found = [
        (
            c.name,
            c.process,
            c.rack,
            c.config.group_instance_id,
            c.config.client_rack,
            c.config.client_id,
        )
        for c in scenario.groups[0].consumers
    ]
    assert found[0] == ("orders-0", "p0", "x", "orders-0.0.0", "x", "app-0-0-0")
    assert found[3] == ("orders-3", "p1", "y", "orders-3.1.1", "y", "app-3-1-1")


def test_unnamed_members_of_several_groups_carry_their_groups_name() -> None:
    scenario = played(
        """
        topics: {orders: 4}
        groups: {one: {members: 2}, two: {members: 1}}
        script: [{at: 1m, crash: {member: c1, group: one}}, {at: 2m, scale: {to: 2, group: two}}]
        """,
        "eager",
    )
    assert list(consumers(scenario)) == ["one-c0", "one-c1", "two-c0"]
    assert scenario.script[0].deed == deeds.Crash(("one-c1",))
    deed = scenario.script[1].deed
    assert isinstance(deed, deeds.Scale) and [c.name for c in deed.joiners] == ["two-c1"]


def test_a_commit_by_the_application_switches_auto_commit_off_unless_the_file_says_otherwise() -> (
    None
):
    scenario = played(
        """
        topics: {orders: 4}
        group: {members: {a: {handler: {commit: sync-batch}}, b: {handler: {commit: async}, config: {enable.auto.commit: true}}, c: }}
        """,
        "eager",
    )
    assert [c.config.enable_auto_commit for c in scenario.groups[0].consumers] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("rate", "steps"),
    [
        ("200/s", (RateStep(0, 200.0),)),
        ("20/s/partition", (RateStep(0, 80.0),)),
        ("0", (RateStep(0, 0.0),)),
        (
            "[{at: 0, rate: 60/m}, {at: 5s, rate: 2/s/partition, ramp: true}]",
            (RateStep(0, 1.0), RateStep(5 * SECOND, 8.0, True)),
        ),
    ],
)
def test_rates_are_the_whole_topics(rate: str, steps: tuple[RateStep, ...]) -> None:
    assert (
        played(f"topics: {{orders: {{partitions: 4, rate: {rate}}}}}\ngroup: {{members: 1}}\n")
        .topics[0]
        .rate
        == steps
    )


def test_a_daily_curve_peaks_where_it_says_and_repeats() -> None:
    rate = (
        played(
            "topics: {o: {partitions: 1, rate: {daily: {low: 10/s, high: 110/s, peak: "
            "14h}}}}\ngroup: {members: 1}\nhorizon: 3d\n"
        )
        .topics[0]
        .rate
    )
    by_hour = {step.at_us // (60 * MINUTE): step.per_second for step in rate}
    assert (
        by_hour[14] == 110
        and by_hour[2] == 10
        and by_hour[38] == 110
        and by_hour[8] == pytest.approx(60)
    )
    assert all(step.is_ramp for step in rate[1:]) and rate[-1].at_us >= 72 * 60 * MINUTE


def test_a_skew_is_a_weight_for_each_partition() -> None:
    zipf, weights = played(
        "topics: {a: {partitions: 3, skew: zipf 1}, b: {partitions: 2, skew: [3, 1]}}\ngroup: "
        "{members: 1}\n"
    ).topics
    assert zipf.weights == pytest.approx((1, 1 / 2, 1 / 3)) and weights.weights == (3, 1)


def test_listener_costs_are_fixed_and_per_partition() -> None:
    group = "{members: 1, listener: {on_revoked: 150ms + 20ms/partition, on_lost: 5ms/partition}}"
    listener = played(f"topics: {{o: 1}}\ngroup: {group}\n").groups[0].consumers[0].listener
    assert (
        listener.revoked == Cost(constantly(150_000), constantly(20_000))
        and listener.lost == Cost(Draw(), constantly(5_000))
        and listener.assigned == Cost()
    )


# --------------------------------------------------------------------------------------- the script


def script(
    text: str, more: str = "", head: str = "topics: {orders: 4}\ngroup: {members: 3}\n"
) -> list[Any]:
    return [
        a.deed
        for a in played(
            f"{head}{more}script:\n{text}", "as-written" if "replay" in more else ""
        ).script
    ]


def test_scaling_out_brings_the_next_names_and_scaling_in_takes_the_last() -> None:
    out, back, again = script(
        "  - {at: 1m, scale: 5}\n  - {at: 2m, scale: 2}\n  - {at: 3m, scale: 4}\n"
    )
    assert [c.name for c in out.joiners] == ["c3", "c4"] and back.joiners == ()
    assert [c.name for c in again.joiners] == ["c2", "c3"]
    assert all(c.starts_at is None for c in out.joiners)


def test_numbers_count_members_from_nought() -> None:
    assert script(
        "  - {at: 1m, crash: {member: 2, restart_after: 5s}}\n  - {at: 2m, hang: {members: [0, "
        "c1], for: 5s}}\n"
    ) == [deeds.Crash(("c2",), constantly(5e6)), deeds.Hang(("c0", "c1"), constantly(5e6))]


def test_those_who_share_a_process_crash_freeze_and_bounce_together() -> None:
    head = "topics: {orders: 4}\ngroup: {members: 4, per_process: 2}\n"
    crash, hang, bounce = script(
        "  - {at: 1m, freeze: {member: c1, for: 5s}}\n  - {at: 2m, hang: {member: c1, for: "
        "5s}}\n  - {at: 3m,"
        " rolling_bounce: {members: c3}}\n",
        head=head,
    )
    assert (
        crash.consumers == ("c1", "c0")
        and hang.consumers == ("c1",)
        and bounce.consumers == ("c3", "c2")
    )


def test_a_statefulset_bounces_the_last_first_and_a_deployment_brings_new_names() -> None:
    stateful, deployment = script(
        "  - {at: 1m, rolling_bounce: {as: statefulset}}\n  - {at: 2m, rolling_bounce: {as: "
        "deployment}}\n"
    )
    assert (
        stateful.consumers == ("c2", "c1", "c0")
        and stateful.max_unavailable == 1
        and stateful.surge_consumers == ()
    )
    assert deployment.consumers == ("c0", "c1", "c2") and [
        c.name for c in deployment.surge_consumers
    ] == ["c3", "c4", "c5"]
    assert (deployment.max_unavailable, deployment.surge) == (
        0,
        1,
    )  # 25 % of 3, rounded as Kubernetes does


def test_kubernetes_rounds_unavailable_down_and_surge_up() -> None:
    head = "topics: {orders: 4}\ngroup: {members: 10}\n"
    (bounce,) = script(
        "  - {at: 1m, rolling_bounce: {as: deployment, max_unavailable: 25%, surge: 25%}}\n",
        head=head,
    )
    assert (bounce.max_unavailable, bounce.surge) == (2, 3)


def test_a_deploy_brings_its_settings_to_the_restarted_and_to_all_who_come_later() -> None:
    deploy, join, second = script(
        "  - {at: 1m, deploy: {config: {max.poll.records: 7}}}\n  - {at: 2m, join: 1}\n  - {at: "
        "3m, deploy: {members: c0, config: {fetch.min.bytes: 9}}}\n"
    )
    assert [c.config.max_poll_records for c in deploy.deploy.consumers] == [7, 7, 7]
    assert join.consumers[0].config.max_poll_records == 7
    assert [
        (c.name, c.config.max_poll_records, c.config.fetch_min_bytes)
        for c in second.deploy.consumers
    ] == [("c0", 7, 9)]


def test_a_repeated_join_brings_new_members_each_time() -> None:
    joins = played(
        SMALL + "script:\n  - {at: 1m, join: {count: 2, stagger: 1s}, every: 30s, times: 3}\n"
    ).script
    assert [
        (a.at_us // SECOND, [c.name for c in a.deed.consumers])
        for a in joins
        if isinstance(a.deed, deeds.Join)
    ] == [(60, ["c3", "c4"]), (90, ["c5", "c6"]), (120, ["c7", "c8"])]


def test_what_repeats_without_times_goes_on_until_the_horizon() -> None:
    action = played(
        SMALL
        + "script:\n  - {at: 1m, every: 2m, crash: {member: c0, restart_after: 1s}}\nhorizon: 10m\n"
    ).script[0]
    assert (action.every_us, action.times) == (2 * MINUTE, 5)


@pytest.mark.parametrize(
    ("when", "expected"),
    [
        ("stable", ("group", "stable", 0)),
        ("group is stable", ("group", "stable", 0)),
        ("the group is caught-up", ("group", "caught-up", 0)),
        ("{is: empty, for: 5s}", ("group", "empty", 5 * SECOND)),
    ],
)
def test_a_condition_can_be_said_as_a_sentence(when: str, expected: tuple[str, str, int]) -> None:
    found = played(SMALL + f"script:\n  - {{when: {when}, scale: 4}}\n").script[0].when
    assert found is not None and (found.group, found.is_, found.for_us) == expected


def test_chance_strikes_those_too_who_join_later() -> None:
    faults = played(
        SMALL
        + "script: [{at: 1m, join: 1}]\nrandom_faults: [{kind: freeze, about_every: 10m, for: "
        "1s}]\n"
    ).random_faults
    assert faults[0].consumers == ("c0", "c1", "c2", "c3")


# ----------------------------------------------------------------------------------- what cannot be


@pytest.mark.parametrize(
    ("group", "wrong"),
    [
        (
            "config: {session.timeout.ms: 3s, heartbeat.interval.ms: 1s}",
            "below the brokers' group.min.session.timeout.ms, 6s",
        ),
        ("config: {heartbeat.interval.ms: 45s}", "is not below session.timeout.ms 45s"),
        ("config: {group.instance.id: same}", "would both be 'same'"),
        (
            "config: {group.protocol: consumer, session.timeout.ms: 45s}",
            "does not exist under group.protocol: consumer",
        ),
        ("config: {group.remote.assignor: range}", "needs group.protocol: consumer"),
        ("config: {partition.assignment.strategy: [own:assignor]}", "add --allow-code"),
        ("pattern: '(a)++'", "cannot be matched"),
    ],
)
def test_impossible_settings_are_refused(group: str, wrong: str) -> None:
    assert wrong in messages(f"topics: {{orders: 4}}\ngroup:\n  members: 2\n  {group}\n")


def test_one_mistake_in_all_variants_is_told_once() -> None:
    text = (
        "topics: {orders: 4}\ngroup: {members: 2, config: {heartbeat.interval.ms: 45s}}\nreplay: "
        "[eager, cooperative, as-written]\n"
    )
    assert len(told(text).problems()) == 1


def test_all_mistakes_are_told_at_once_in_the_files_order() -> None:
    found = told(
        "topics: {orders: 0}\ngroup: {members: x}\nscript: [{at: 5, crash: c0}]\nhorizon: 1:30\n"
    ).problems()
    assert [p.line for p in found] == [1, 2, 3, 4]


def test_members_beyond_number_are_refused_quickly() -> None:
    assert "at most" in messages(
        "topics: {orders: 4}\ngroup: {members: 5000000}\n"
    ) or "out of bounds" in messages("topics: {orders: 4}\ngroup: {members: 5000000}\n")
    assert "more than 10,000 members" in messages(
        SMALL + "script: [{at: 1m, join: 9999, every: 1s, times: 100}]\n"
    )


def test_inherited_classic_settings_are_left_behind_by_a_deploy_to_the_consumer_protocol() -> None:
    scenario = played("""
        topics: {orders: 4}
        group: {members: 2, config: {session.timeout.ms: 30s}}
        script: [{at: 1m, deploy: {config: {group.protocol: consumer}}}]
        """)
    deed = scenario.script[0].deed
    assert isinstance(deed, deeds.RollingBounce)
    assert [c.config.group_protocol for c in deed.deploy.consumers] == ["consumer", "consumer"]
    assert any("session.timeout.ms: 30s is dropped" in note for note in scenario.notes)
    assert scenario.variant == "as-written"


def test_a_newcomer_must_not_take_an_id_in_use_unless_its_join_says_so() -> None:
    head = "topics: {orders: 4}\ngroup: {members: 1, config: {group.instance.id: fixed}}\n"
    assert "c1, which joins on line 3, would be 'fixed' as c0 is" in messages(
        head + "script: [{at: 1m, scale: 2}]\n"
    )
    assert "would be 'fixed' as c0 is" in messages(head + "script: [{at: 1m, join: 1}]\n")
    twin = (
        played(head + "script: [{at: 1m, join: {names: [twin], group.instance.id: fixed}}]\n")
        .script[0]
        .deed
    )
    assert isinstance(twin, deeds.Join) and twin.consumers[0].config.group_instance_id == "fixed"
    assert messages(head + "script: [{at: 1m, leave: c0}, {at: 2m, join: 1}]\n") == ""


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            "{at: 1m, create_topic: order}",
            "There is no topic 'order' — write it under topics:, with exists: false",
        ),  # a new one, no slip of the pen
        (
            "{at: 1m, create_topic: {topic: bills, partitions: 3}}",
            "write topic: orders, and what it is like under topics:, with exists: false",
        ),
        ("{at: 1m, delete_topic: order}", "There is no topic 'order' — did you mean 'orders'?"),
        ("{at: 1m, broker_restart: {broker: 7, down: 1s}}", "There is no broker 7"),
        (
            "{at: 1m, broker_restart: {broker: leader, down: 1s}}",
            "write coordinator, or a whole number",
        ),
    ],
)
def test_what_a_newcomer_writes_is_answered_with_what_there_is(line: str, says: str) -> None:
    found = messages(f"topics: {{orders: 4}}\ngroup: {{members: 3}}\nscript:\n  - {line}\n")
    assert says in found


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("lag: 5", "backlog: 5000"),
        ("replication.factor: 3", "replicas: 3"),
        ("throughput: 5", "rate: 200/s"),
    ],
)
def test_other_peoples_words_for_a_topic_are_known(key: str, says: str) -> None:
    found = messages(f"topics: {{orders: {{partitions: 4, {key}}}}}\ngroup: {{members: 3}}\n")
    assert says in found
