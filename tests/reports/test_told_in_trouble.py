"""Sentences about groups in trouble: they blame a dead process, a coordinator that is not there
or a refused commit by name, and call nobody busy who was not; times they tell are those of the
phase they stand in.
"""

from __future__ import annotations

import pytest

from rebalsim.analysis import Analysis, analyse
from rebalsim.reports.hints import hint_on
from rebalsim.reports.sentences import recurring, tell, together
from rebalsim.scenario.load import story_of
from rebalsim.simulation.world import play


def told(text: str, variant: str) -> tuple[str, Analysis]:
    """All sentences of one variant, each pause's phases adding up to it."""
    story = story_of(f"{text}replay: [{variant}]\n".encode(), "a story").check()
    analysis = analyse(play(story.scenario(variant)))
    for p in analysis.pauses:
        assert sum(phase.length_us for phase in p.phases) == p.length_us
    return "\n".join(tell(group) for group in together(analysis.pauses)), analysis


GHOSTS = """
topics: {orders: {partitions: 6, rate: 300/s}}
group: {members: 3, handler: 1ms, life: {start: 4s}}
start: cold
script:
  - {at: 60s, crash: {members: c0, restart_after: 2s}}
  - {at: 90s, crash: {members: c1, restart_after: 2s}}
horizon: 5m
"""


@pytest.mark.parametrize("variant", ["eager", "cooperative"])
def test_a_dead_process_that_leads_is_named_and_nobody_is_called_busy(variant: str) -> None:
    text, analysis = told(GHOSTS, variant)
    assert "for the assignment, which c1's dead process (the leader) was to make" in text
    assert (
        "waiting at the barrier for c1's dead process until its session ran out at 2:28.047" in text
    )
    assert "busy" not in text
    [hint] = {
        hint_on(p, analysis)
        for p in analysis.pauses
        if max(p.phases, key=lambda x: x.length_us).facts.doing == "dead-leader"
    } or {""}
    assert not hint or hint.startswith("Only the session's end tells of a dead member")


def test_a_partition_given_to_a_dead_process_is_said_to_be_in_its_hands() -> None:
    text, _ = told(
        """
topics: {orders: {partitions: 6, rate: 300/s}}
group: {members: {"pod-{n}": {count: 3}}, handler: 5ms, life: {start: 4s, stop: 40s, grace: 30s}}
script: [{at: 60s, rolling_bounce: {down: 2s}}]
horizon: 5m
""",
        "eager",
    )
    assert "in the hands of pod-1's dead process, which was given it" in text and "busy" not in text


def test_a_barrier_that_is_left_before_its_end_is_not_said_to_have_ended_then() -> None:
    text, _ = told(GHOSTS, "eager")
    assert "22.9 s waiting at the barrier for c0's dead process, 6.01 s while c1 was dead" in text


FAIL_OVER = """
start: cold
cluster: {brokers: 3}
topics: {orders: {partitions: 6, rate: 100/s, replicas: 3}}
group: {members: 3, handler: 1ms%s}
script:
%s
horizon: 4m
"""


def test_a_coordinator_that_loads_is_what_the_assignment_waited_for() -> None:
    text, _ = told(
        FAIL_OVER
        % (
            ", life: {start: 1s}",
            "  - {at: 60s, crash: {members: c1, restart_after: 1s}}\n"
            "  - {at: 61s, coordinator_failover: {load: 5s}}",
        ),
        "cooperative",
    )
    assert (
        "4.00 s for the assignment, without a coordinator until 1:06.000" in text
        and "busy" not in text
    )


def test_a_second_rebalance_that_waited_for_a_coordinator_did_not_wait_for_a_heartbeat() -> None:
    text, analysis = told(
        FAIL_OVER
        % ("", "  - {at: 60s, scale: 4}\n  - {at: 61s, coordinator_failover: {load: 5s}}"),
        "cooperative",
    )
    assert "waiting for the second rebalance, without a coordinator until 1:06.000" in text
    assert all(
        "heartbeat.interval.ms" not in hint_on(p, analysis)
        for p in analysis.pauses
        if p.length_us > 5_000_000
    )


def test_a_close_without_a_coordinator_is_no_matter_of_its_callback() -> None:
    text, analysis = told(
        FAIL_OVER
        % (
            "",
            """
  - {at: 61s, coordinator_failover: {load: 0s}}
  - {at: 100s, leave: c0}
  - {at: 100s, broker_restart: {broker: 0, down: 10s, load: 3s}}""",
        ),
        "eager",
    )
    assert "while c0 had no coordinator to commit to or to leave" in text
    assert not any(hint_on(p, analysis).startswith("A quicker commit") for p in analysis.pauses)


@pytest.mark.slow
def test_commits_for_a_topic_that_is_gone_are_made_again_and_again_and_its_deletion_is_the_cause() -> (
    None
):
    text, analysis = told(
        """
topics: {orders: {partitions: 6, rate: 300/s}, bills: {partitions: 3, rate: 3/s}}
group: {members: 3, handler: 1ms}
script:
  - {at: 60s, delete_topic: bills}
  - {at: 140s, add_partitions: {topic: orders, to: 9}}
horizon: 14m
""",
        "eager",
    )
    assert (
        "when the topic changed (delete-topic-1): 5 m while c0 committed, again and again, 5 m "
        "waiting at the barrier for c1, which was committing" in text
    )
    longest = max(analysis.pauses, key=lambda p: p.length_us)
    assert hint_on(longest, analysis).startswith(
        "The brokers refused the commit of what was to be given up"
    )


FREEZES = """
topics: {orders: {partitions: 6, rate: 300/s}}
group: {members: 3, handler: {per_record: 5ms}, config: {session.timeout.ms: 10s}}
script: [%s]
horizon: 4m
"""


def test_who_thaws_and_has_to_join_again_is_said_to_do_both() -> None:
    text, _ = told(
        FREEZES
        % ", ".join(
            f"{{at: 100s, freeze: {{members: {c}, for: {s}s}}}}"
            for c, s in (("c0", 25), ("c1", 20), ("c2", 15))
        ),
        "eager",
    )
    assert "until c2 had thawed and joined again at 1:57.613" in text


def test_a_member_that_went_on_reading_before_it_heard_of_the_rebalance_revoked_nothing() -> None:
    text, _ = told(
        """
start: cold
topics: {orders: {partitions: 9, rate: 450/s}}
group: {members: 3, handler: 1ms, config: {session.timeout.ms: 10s}}
script: [{at: 1m, freeze: {members: c1, for: 8s}}]
horizon: 3m
""",
        "eager",
    )
    longest = next(line for line in text.splitlines() if "8.10 s" in line)
    assert (
        "942 ms before c2 had heard of the rebalance, 100 ms for fetch" in longest
        and "1:09" not in longest
    )


CUTS = """
topics: {orders: {partitions: 6, rate: 100/s}}
group: {members: 3, handler: 1ms, config: {session.timeout.ms: 10s}}
script: [%s]
horizon: 5m
"""


def test_who_lost_everything_because_the_group_had_emptied_is_not_told_of_the_cut_before() -> None:
    _, analysis = told(
        CUTS % "{at: 100s, cut: {members: c0, for: 30s}}, {at: 150s, cut: {members: [c0, c1, c2], "
        "for: 30s}}",
        "eager",
    )
    assert {p.cause.action for p in analysis.pauses if p.started_us > 175_000_000} == {"cut-2"}


def test_a_line_that_heals_is_waited_for_until_somebody_tries_it() -> None:
    text, _ = told(
        (CUTS % "{at: 60s, cut: {members: c1, from: brokers, for: 20s}}").replace(
            "10s}}", "45s}}", 1
        ),
        "cooperative",
    )
    assert (
        "until c1's connections were through again, which TCP and the client try at growing "
        "intervals"
        in text
        and "busy" not in text
    )


POISON = """
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 2ms, config: {max.poll.interval.ms: 20s}}
script:
  - {at: 1m, poison: {partition: orders-2, for: 3m, times: 2}}
  - {at: 70s, leave: c0}
  - {at: 71s, scale: 4}
  - {at: 4m, hang: {members: c1, for: 25s}}
  - {at: 250s, crash: c1}
horizon: 8m
"""


def test_a_poisoned_record_is_blamed_for_whoever_gets_stuck_on_it() -> None:
    _, analysis = told(POISON, "cooperative")
    stuck = [p for p in analysis.pauses if p.cause.kind == "stuck"]
    assert {p.cause.action for p in stuck if p.started_us < 200_000_000} == {"poison-1"}
    assert {p.cause.action for p in stuck if p.started_us > 200_000_000} <= {"hang-4"}


def test_the_hint_names_the_timer_that_the_sentence_names() -> None:
    _, analysis = told(POISON, "cooperative")
    for p in analysis.pauses:
        longest = max(p.phases, key=lambda phase: phase.length_us)
        if longest.facts.timer == "rebalance_timeout_ms":
            assert hint_on(p, analysis).startswith("The brokers wait for who does not join"), tell(
                together([p])[0]
            )
        elif longest.facts.timer == "session.timeout.ms":
            assert "session" in hint_on(p, analysis), tell(together([p])[0])


# --------------------------------------------------------- the consumer protocol, and other clients


def test_the_session_of_an_earlier_life_is_not_taken_for_that_of_the_one_that_held_the_partition() -> (
    None
):
    text, _ = told(
        """
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 1ms, config: {group.protocol: consumer}}
script:
  - {at: 60s, crash: {members: c1, restart_after: 10s}}
  - {at: 90s, crash: {members: c1, restart_after: 80s}}
horizon: 4m
""",
        "as-written",
    )
    assert "40.2 s while c1 was dead and nobody knew until its session ran out at 2:10.208" in text


def test_who_was_stuck_is_not_called_busy_whatever_its_other_threads_did() -> None:
    text, analysis = told(
        """
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, client: librdkafka, handler: 1ms}
script: [{at: 60s, hang: {members: c2, for: 30s}}, {at: 62s, leave: c0}]
horizon: 3m
""",
        "as-written",
    )
    assert "while c2 was stuck in its handler until 1:30" in text and "busy" not in text
    [answer] = [a for a in analysis.answers if a.question == "outlasts-poll-interval"]
    assert answer.figures["longest_stuck_us"] == 30_000_000


def test_a_member_that_could_not_be_told_for_want_of_a_coordinator_did_not_wait_for_its_heartbeat() -> (
    None
):
    text, _ = told(
        """
cluster: {brokers: 3}
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 1ms, config: {group.protocol: consumer}}
script:
  - {at: 60s, scale: 4}
  - {at: 61s, coordinator_failover: {load: 8s}}
  - {at: 120s, crash: c1}
  - {at: 140s, coordinator_failover: {load: 2s}}
horizon: 5m
start: cold
""",
        "as-written",
    )
    assert "9.24 s without a coordinator that could have told c3 until 1:09.000" in text


def test_no_assignment_interval_is_waited_for_where_the_target_is_there_and_the_new_owners_heartbeat_is_not() -> (
    None
):
    text, _ = told(
        """
cluster: {config: {group.consumer.assignment.interval.ms: 15s, group.consumer.heartbeat.interval.ms: 15s, group.consumer.session.timeout.ms: 60s}}
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 5ms, config: {group.protocol: consumer}}
script: [{at: 60s, scale: 4}, {at: 62s, leave: c0}, {at: 64s, scale: 5}]
horizon: 4m
""",
        "as-written",
    )
    assert (
        "orders-1 stood still for 15.2 s when c3 joined (scale-1): 14.8 s until c3 was told at "
        "its heartbeat" in text
    )


def test_a_static_member_that_is_stuck_is_not_called_dead_by_the_hint() -> None:
    _, analysis = told(
        """
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 1ms, config: {group.protocol: consumer, group.instance.id: "{name}", max.poll.interval.ms: 20s}}
script: [{at: 60s, hang: {members: c1, for: 3m}}]
horizon: 5m
""",
        "as-written",
    )
    hints = {hint_on(p, analysis) for p in analysis.pauses if p.cause.kind == "stuck"}
    assert hints and all("dead member" not in hint for hint in hints)


def test_a_callback_that_outlasts_the_poll_interval_is_no_stuck_handler() -> None:
    text, _ = told(
        """
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 2, handler: 1ms, listener: {on_assigned: 40s}, config: {group.protocol: consumer, max.poll.interval.ms: 20s}}
horizon: 2m
""",
        "as-written",
    )
    assert (
        "callback went on until max.poll.interval.ms ran out" in text
        and "handler was stuck" not in text
    )


def test_pauses_that_ended_in_other_ways_are_not_told_as_one_that_happened_again() -> None:
    story = story_of(
        b"""
topics: {orders: {partitions: 6, rate: 60/s}}
group: {members: 3, handler: 1ms, config: {max.poll.interval.ms: 30s}}
script: [{at: 60s, hang: {members: c1, for: 60s}}, {at: 3m, hang: {members: c2, for: 25s}}]
replay: [cooperative]
horizon: 5m
""",
        "a story",
    ).check()
    analysis = analyse(play(story.scenario("cooperative")))
    stuck = [
        group
        for group in together(analysis.pauses)
        if group.first.cause.kind == "stuck" and group.length_us > 20_000_000
    ]
    assert len(stuck) >= 2 and all(not others for group, others in recurring(stuck))
