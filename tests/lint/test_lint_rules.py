"""Each rule against a world that has what it looks for, and one that has it not; with the
figures that the message must name.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pytest
from lint_worlds import consumer, every, members, s, topic, world

from rebalsim.domain.autoscaling import Autoscale
from rebalsim.domain.budget import Budget
from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.commit_style import CommitOnRevoke, CommitStyle
from rebalsim.domain.connect import ConnectCluster, Connector, WorkerConfig
from rebalsim.domain.consumer import AssignorCost, Consumer, Cost, Handler, Listener, State
from rebalsim.domain.draws import NOTHING, Draw
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Broker, Cluster, Scenario, Topic
from rebalsim.domain.script import (
    Action,
    AddPartitions,
    Crash,
    CreateTopic,
    Cut,
    Freeze,
    Hang,
    Join,
    Leave,
    Overlay,
    Poison,
    RandomFault,
    RollingBounce,
    Scale,
    Slow,
)
from rebalsim.domain.streams import (
    StreamsApp,
    StreamsConfig,
    StreamsPart,
    StreamsPunctuator,
    StreamsStore,
)
from rebalsim.lint.registry import RULES

NAMES = ("c0", "c1", "c2")
DEFAULT_LIST = ("range", "cooperative-sticky")


@dataclass
class Case:
    """A world that must be warned of (`says`: what the message names), or one that must not
    (`says` empty).
    """

    rule: str
    scenario: Scenario
    says: tuple[str, ...] = ()


def crashing_every(seconds: int) -> tuple[Action, ...]:
    """c0 crashes ten times, and is back two seconds later."""
    crash = Crash(("c0",), restart_after=every(2))
    return (Action(crash, s(60), every_us=s(seconds), times=10),)


def handler(per_record_s: float, **more: object) -> Handler:
    return Handler(per_record=every(per_record_s), **more)  # type: ignore[arg-type]


def surge(*ids: str | None, old: int = 3, static: bool = True, amount: int = 1) -> Scenario:
    new = tuple(consumer(f"n{n}", group_instance_id=i, starts_at=None) for n, i in enumerate(ids))
    return world(
        *members(old, is_static=static),
        script=(RollingBounce(NAMES[:old], surge=amount, surge_consumers=new, settle_us=s(60)),),
    )


def bounce(static: bool = False, start: float = 5, **more: object) -> Scenario:
    more = {"settle_us": s(60), **more}
    return world(
        *members(3, is_static=static, life=Life(start=every(start))),
        script=(RollingBounce(NAMES, **more),),
    )  # type: ignore[arg-type]


BY_PATTERN = members(3, topics=(), pattern="t.*")
EAGER_HANG = Hang(("c0",), every(600))
LONG_TAIL = Handler(per_record=Draw(a=s(0.01), tail_share=0.01, tail_us=s(40)))

CASES = [
    # session-under-three-heartbeats
    Case(
        "session-under-three-heartbeats",
        world(*members(2, session_timeout_us=s(10), heartbeat_interval_us=s(5))),
        ("5.00 s", "10.0 s", "3s or less", "15s", "c0 and c1"),
    ),
    Case(
        "session-under-three-heartbeats",
        world(*members(2, session_timeout_us=s(9), heartbeat_interval_us=s(3))),
    ),
    Case(
        "session-under-three-heartbeats",
        world(
            *members(
                2, session_timeout_us=s(5), heartbeat_interval_us=s(3), group_protocol="consumer"
            )
        ),
    ),
    # uneven-poll-intervals
    Case(
        "uneven-poll-intervals",
        world(consumer("a"), consumer("b", max_poll_interval_us=s(1800))),
        ("30 m", "5 m", "b"),
    ),
    Case(
        "uneven-poll-intervals",
        world(consumer("a"), consumer("b", group="h", max_poll_interval_us=s(1800))),
    ),
    # rebalance-timeout-unmeetable: heartbeat 3 s + batch 9 s > 10 s, though 9 s < 10 s
    Case(
        "rebalance-timeout-unmeetable",
        world(*members(2, handler=handler(0.09), max_poll_records=100, max_poll_interval_us=s(10))),
        ("12.0 s", "10.0 s"),
    ),
    Case(
        "rebalance-timeout-unmeetable",
        world(*members(2, handler=handler(0.06), max_poll_records=100, max_poll_interval_us=s(10))),
    ),
    # … and where the batch alone is too long, another rule says so
    Case(
        "rebalance-timeout-unmeetable",
        world(*members(2, handler=handler(0.2), max_poll_records=100, max_poll_interval_us=s(10))),
    ),
    # slow-cooperative-heartbeat
    Case(
        "slow-cooperative-heartbeat",
        world(*members(2, heartbeat_interval_us=s(15))),
        ("15.0 s", "3s"),
    ),
    Case(
        "slow-cooperative-heartbeat",
        world(*members(2, heartbeat_interval_us=s(15), partition_assignment_strategy=("range",))),
    ),
    # sync-timeout-under-assignor: 100 × 1000 × 400 µs = 40 s
    Case(
        "sync-timeout-under-assignor",
        world(
            *members(100, assignor_cost=AssignorCost(NOTHING, 400)),
            topics=(topic(partitions=1000),),
        ),
        ("40.0 s", "30.0 s", "100 members and 1000 partitions"),
    ),
    Case(
        "sync-timeout-under-assignor",
        world(
            *members(100, assignor_cost=AssignorCost(NOTHING, 200)),
            topics=(topic(partitions=1000),),
        ),
    ),
    # initial-delay-under-start-spread: starts at 0, 10, 20 s; the delay is over 3 s after the first
    Case(
        "initial-delay-under-start-spread",
        world(*(consumer(f"c{n}", starts_at=every(10 * n)) for n in range(3))),
        ("3 members", "20.0 s", "about 2 come later", "11s"),
    ),
    Case(
        "initial-delay-under-start-spread",
        world(*(consumer(f"c{n}", starts_at=every(2 * n)) for n in range(3))),
    ),
    Case(
        "initial-delay-under-start-spread",
        world(*members(12, life=Life(start=Draw("uniform", 0, s(60))))),
        ("12 members",),
    ),
    Case(
        "initial-delay-under-start-spread",
        world(*members(60, life=Life(start=Draw("uniform", 0, s(60))))),
    ),
    # poll-interval-under-worst-batch: 500 × 100 ms = 50 s > 30 s
    Case(
        "poll-interval-under-worst-batch",
        world(consumer(handler=handler(0.1), max_poll_interval_us=s(30))),
        ("30.0 s", "50.0 s", "max.poll.records: 150"),
    ),
    Case(
        "poll-interval-under-worst-batch",
        world(consumer(handler=handler(0.02), max_poll_interval_us=s(30))),
    ),
    # … not on the mean (500 × 0.2 s is far below 300 s without the tail), but a tail of 1 % up to
    # 40 s makes it so
    Case(
        "poll-interval-under-worst-batch",
        world(consumer(handler=LONG_TAIL, max_poll_interval_us=s(120))),
        ("500 records",),
    ),
    Case(
        "poll-interval-under-worst-batch",
        world(
            consumer(handler=handler(0.1), max_poll_interval_us=s(30)),
            topics=(topic(per_second=0),),
        ),
    ),
    Case(
        "poll-interval-under-worst-batch",
        world(
            consumer(handler=handler(0.1), max_poll_interval_us=s(30)),
            topics=(topic(partitions=2, record_bytes=500_000),),
        ),
    ),
    Case(
        "poll-interval-under-worst-batch",
        world(consumer(handler=handler(0.1)), script=(Slow(("c0",), 10, s(60)),)),
        ("10-fold", "8 m 20 s"),
    ),
    # heavy-batch: 500 × 40 ms = 20 s
    Case(
        "heavy-batch",
        world(consumer(handler=handler(0.04))),
        ("500", "20.0 s", "max.poll.records: 125", "500 records come twice"),
    ),
    Case("heavy-batch", world(consumer(handler=handler(0.01)))),
    Case("heavy-batch", world(consumer(handler=handler(0.04), max_poll_records=100))),
    # handler-slower-than-arrival: 3 × 200/s < 1200/s
    Case(
        "handler-slower-than-arrival",
        world(*members(3, handler=handler(0.005)), topics=(topic(per_second=1200),)),
        ("1,200", "600/s", "7 members"),
    ),
    Case(
        "handler-slower-than-arrival",
        world(*members(7, handler=handler(0.005)), topics=(topic(per_second=1200),)),
    ),
    # … and members beyond the partitions do not help
    Case(
        "handler-slower-than-arrival",
        world(*members(7, handler=handler(0.005)), topics=(topic(partitions=3, per_second=1200),)),
        ("3 working members",),
    ),
    # uneven-share: 10 partitions on 4 members are 3 at most, 300/s of 1000/s; 270/s is what
    # 1/0.0037 s make
    Case(
        "uneven-share",
        world(
            *members(4, handler=handler(0.0037)), topics=(topic(partitions=10, per_second=1000),)
        ),
        ("up to 3", "300", "270/s", "5 members"),
    ),
    Case(
        "uneven-share",
        world(
            *members(5, handler=handler(0.0037)), topics=(topic(partitions=10, per_second=1000),)
        ),
    ),
    # … a group too slow as a whole is handler-slower-than-arrival's; more partitions where one
    # alone is too much
    Case(
        "uneven-share",
        world(
            *members(4, handler=handler(0.0045)), topics=(topic(partitions=10, per_second=1000),)
        ),
    ),
    Case(
        "uneven-share",
        world(*members(4, handler=handler(0.0021)), topics=(topic(partitions=2, per_second=1000),)),
    ),
    # hot-partition
    Case(
        "hot-partition",
        world(
            *members(4, handler=handler(0.002)),
            topics=(topic(partitions=4, per_second=1000, weights=(8, 1, 1, 1)),),
        ),
        ("t-0", "727", "500/s"),
    ),
    Case(
        "hot-partition",
        world(
            *members(4, handler=handler(0.001)),
            topics=(topic(partitions=4, per_second=1000, weights=(8, 1, 1, 1)),),
        ),
    ),
    # sync-commit-per-record: 2 × 1 ms + 1 ms = 3 ms each
    Case(
        "sync-commit-per-record",
        world(consumer(handler=handler(0.001, commit=CommitStyle.EACH_RECORD))),
        ("3 ms", "1.50 s", "250 records/s"),
    ),
    Case(
        "sync-commit-per-record",
        world(consumer(handler=handler(0.001, commit=CommitStyle.EACH_BATCH))),
    ),
    # auto-commit-long-batches: 500 × 15 ms = 7.5 s > 5 s; 15 s are heavy-batch's
    Case(
        "auto-commit-long-batches",
        world(consumer(handler=handler(0.015))),
        ("7.50 s", "5.00 s", "500"),
    ),
    Case("auto-commit-long-batches", world(consumer(handler=handler(0.03)))),
    Case("auto-commit-long-batches", world(consumer(handler=handler(0.005)))),
    Case(
        "auto-commit-long-batches",
        world(
            consumer(
                handler=handler(0.015, commit=CommitStyle.EACH_BATCH), enable_auto_commit=False
            )
        ),
    ),
    # async-commit-without-revoke-commit
    Case(
        "async-commit-without-revoke-commit",
        world(consumer(handler=handler(0.001, commit=CommitStyle.ASYNC))),
        ("500", "commit_on_revoke: once"),
    ),
    Case(
        "async-commit-without-revoke-commit",
        world(
            consumer(
                handler=handler(
                    0.001, commit=CommitStyle.ASYNC, commit_on_revoke=CommitOnRevoke.ONCE
                )
            )
        ),
    ),
    # nothing-commits
    Case(
        "nothing-commits",
        world(consumer(handler=handler(0.001, commit=CommitStyle.NONE), enable_auto_commit=False)),
        ("skips what arrived", "latest"),
    ),
    Case(
        "nothing-commits",
        world(
            consumer(
                handler=handler(0.001, commit=CommitStyle.NONE),
                enable_auto_commit=False,
                auto_offset_reset="earliest",
            )
        ),
        ("again", "earliest"),
    ),
    Case("nothing-commits", world(consumer(handler=handler(0.001)))),
    # slow-listener: 2 members, 12 partitions: 6 × 1 s
    Case(
        "slow-listener",
        world(*members(2, listener=Listener(revoked=Cost(per_partition=every(1))))),
        ("6 partitions", "6.00 s", "3.00 s"),
    ),
    Case(
        "slow-listener",
        world(*members(2, listener=Listener(revoked=Cost(per_partition=every(0.1))))),
    ),
    Case(
        "slow-listener",
        world(*members(2, state=State(bytes_per_partition=10**9, flush_bytes_per_second=1e9))),
        ("6.00 s",),
    ),
    # restore-without-standby
    Case(
        "restore-without-standby",
        world(*members(2, state=State(10**9, 5e7), partition_assignment_strategy=("range",))),
        ("20.0 s", "2 m", "instead of range"),
    ),
    Case("restore-without-standby", world(*members(2, state=State(10**9, 5e7, standby_share=0.9)))),
    Case("restore-without-standby", world(*members(2, state=State(10**6, 5e7)))),
    # restore-outlasts-poll-interval: 6 × 80 s = 480 s > 300 s
    Case(
        "restore-outlasts-poll-interval",
        world(*members(2, state=State(4 * 10**9, 5e7))),
        ("8 m", "5 m", "10m"),
    ),
    Case(
        "restore-outlasts-poll-interval",
        world(*members(2, state=State(4 * 10**9, 5e7, standby_share=0.9))),
    ),
    # default-list-runs-eager
    Case(
        "default-list-runs-eager",
        world(*members(2, partition_assignment_strategy=DEFAULT_LIST)),
        ("[range, cooperative-sticky]", "c0 and c1"),
    ),
    Case("default-list-runs-eager", world(*members(2))),
    Case("default-list-runs-eager", world(*members(2, partition_assignment_strategy=("range",)))),
    Case(
        "default-list-runs-eager",
        world(
            *members(2, partition_assignment_strategy=DEFAULT_LIST),
            script=(RollingBounce(("c0", "c1"), deploy=Overlay(members(2)), settle_us=s(60)),),
        ),
    ),
    # mixed-protocols
    Case(
        "mixed-protocols",
        world(
            consumer("a", partition_assignment_strategy=("cooperative-sticky", "range")),
            consumer("b"),
        ),
        ("a runs eager", "b cooperative"),
    ),
    Case("mixed-protocols", world(*members(2))),
    # direct-assignor-swap
    Case(
        "direct-assignor-swap",
        world(
            *members(3, partition_assignment_strategy=("range",)),
            script=(RollingBounce(NAMES, deploy=Overlay(members(3))),),
        ),
        ("c0", "[range]", "[cooperative-sticky, range]"),
    ),
    Case(
        "direct-assignor-swap",
        world(
            *members(3, partition_assignment_strategy=("range",)),
            script=(
                RollingBounce(
                    NAMES,
                    deploy=Overlay(
                        members(3, partition_assignment_strategy=("cooperative-sticky", "range"))
                    ),
                ),
                RollingBounce(NAMES, deploy=Overlay(members(3))),
            ),
        ),
    ),
    # range-skew: 10 topics of 4 partitions over 3 members: 20, 10, 10
    Case(
        "range-skew",
        world(
            *members(
                3,
                partition_assignment_strategy=("range",),
                topics=tuple(f"t{n}" for n in range(10)),
            ),
            topics=tuple(topic(f"t{n}", 4) for n in range(10)),
        ),
        ("10 topics", "1 of 3 members 20 partitions", "2 others 10", "14 at most"),
    ),
    Case(
        "range-skew",
        world(
            *members(
                3, is_static=True, partition_assignment_strategy=("range",), topics=("t0", "t1")
            ),
            topics=(topic("t0", 4), topic("t1", 4)),
        ),
        ("c0 4 partitions",),
    ),
    Case(
        "range-skew",
        world(
            *members(
                3,
                partition_assignment_strategy=("range",),
                topics=tuple(f"t{n}" for n in range(10)),
            ),
            topics=tuple(topic(f"t{n}", 6) for n in range(10)),
        ),
    ),
    Case(
        "range-skew",
        world(
            *members(3, topics=tuple(f"t{n}" for n in range(10))),
            topics=tuple(topic(f"t{n}", 4) for n in range(10)),
        ),
    ),
    Case(
        "range-skew",
        world(*members(3, partition_assignment_strategy=("range",)), topics=(topic("t", 4),)),
    ),
    # idle-members
    Case(
        "idle-members",
        world(*members(10), topics=(topic(partitions=8),)),
        ("10 members", "8 partitions", "2 own nothing"),
    ),
    Case(
        "idle-members",
        world(*members(6), topics=(topic(partitions=8),), script=(Scale("g", 9, members(9)[6:]),)),
        ("9 members", "1 own nothing"),
    ),
    Case("idle-members", world(*members(8), topics=(topic(partitions=8),))),
    Case(
        "idle-members",
        world(
            *members(6, partition_assignment_strategy=("range",), topics=("t0", "t1")),
            topics=(topic("t0", 4), topic("t1", 4)),
        ),
        ("range fills at most 4", "2 own nothing"),
    ),
    Case(
        "idle-members",
        world(*members(6, topics=("t0", "t1")), topics=(topic("t0", 4), topic("t1", 4))),
    ),
    # different-subscriptions
    Case(
        "different-subscriptions",
        world(
            consumer("a", topics=("t0",)),
            consumer("b", topics=("t1",)),
            topics=(topic("t0"), topic("t1")),
        ),
        ("a: t0; b: t1",),
    ),
    Case(
        "different-subscriptions",
        world(
            consumer("a", topics=("t0", "t1")),
            consumer("b", topics=("t1", "t0")),
            topics=(topic("t0"), topic("t1")),
        ),
    ),
    # group-over-max-size
    Case(
        "group-over-max-size",
        world(*members(4), broker=BrokerConfig(group_max_size=3)),
        ("4 members", "is 3", "1 are refused"),
    ),
    Case(
        "group-over-max-size",
        world(*members(4), broker=BrokerConfig(group_max_size=4, group_consumer_max_size=1)),
    ),
    Case(
        "group-over-max-size",
        world(
            *members(4, group_protocol="consumer"), broker=BrokerConfig(group_consumer_max_size=1)
        ),
        ("group.consumer.max.size",),
    ),
    # rack-without-selector
    Case(
        "rack-without-selector",
        world(
            *members(2, client_rack="a"), cluster=Cluster(brokers=(Broker(0, "a"), Broker(1, "b")))
        ),
        ("c0 and c1",),
    ),
    Case("rack-without-selector", world(*members(2, client_rack="a"))),
    Case(
        "rack-without-selector",
        world(
            *members(2, client_rack="a"),
            cluster=Cluster(
                brokers=(Broker(0, "a"), Broker(1, "b")),
                config=BrokerConfig(replica_selector_class="Rack"),
            ),
        ),
    ),
    # static-restart-outlives-session: 15 s + 3 s > 10 s
    Case(
        "static-restart-outlives-session",
        world(
            *members(3, is_static=True, session_timeout_us=s(10), life=Life(start=every(15))),
            script=(RollingBounce(NAMES),),
        ),
        ("15.0 s", "3.00 s", "10.0 s", "25s"),
    ),
    Case("static-restart-outlives-session", bounce(static=True, start=15)),
    Case("static-restart-outlives-session", bounce(static=False, start=50)),
    Case(
        "static-restart-outlives-session",
        world(*members(3, is_static=True), script=(Crash(("c0",), restart_after=every(60)),)),
        ("1 m", "45.0 s"),
    ),
    # static-long-session
    Case(
        "static-long-session",
        world(*members(3, is_static=True, session_timeout_us=s(1800))),
        ("30 m", "4 partitions", "1m"),
    ),
    Case("static-long-session", world(*members(3, is_static=True, session_timeout_us=s(60)))),
    Case("static-long-session", world(*members(3, session_timeout_us=s(1800)))),
    Case(
        "static-long-session",
        world(
            *members(3, is_static=True, session_timeout_us=s(300), life=Life(start=every(150))),
            script=(RollingBounce(NAMES, settle_us=s(200)),),
        ),
    ),
    # static-scale-down
    Case(
        "static-scale-down",
        world(*members(3, is_static=True), script=(Scale("g", 2),)),
        ("c2", "4 partitions", "45.0 s", "option: leave"),
    ),
    Case(
        "static-scale-down",
        world(*members(3, is_static=True), script=(Leave(("c0", "c1")),)),
        ("c0 and c1", "8 partitions"),
    ),
    Case(
        "static-scale-down",
        world(*members(3, is_static=True), script=(Leave(("c0",), option="leave"),)),
    ),
    Case("static-scale-down", world(*members(3), script=(Scale("g", 2),))),
    Case(
        "static-scale-down",
        world(*members(3, is_static=True), script=(Scale("g", 5, members(5, is_static=True)[3:]),)),
    ),
    # static-stuck-waits-twice: 5 m and 45 s
    Case(
        "static-stuck-waits-twice",
        world(*members(3, is_static=True), script=(EAGER_HANG,)),
        ("10 m", "5 m", "4 partitions", "5 m 45 s"),
    ),
    Case("static-stuck-waits-twice", world(*members(3), script=(EAGER_HANG,))),
    Case(
        "static-stuck-waits-twice",
        world(*members(3, is_static=True), script=(Hang(("c0",), every(60)),)),
    ),
    # static-ids-of-random-pods
    Case(
        "static-ids-of-random-pods", surge("x0", "x1", "x2"), ("3 static members", "id-0", "45.0 s")
    ),
    Case("static-ids-of-random-pods", surge("id-0", "id-1", "id-2")),
    Case("static-ids-of-random-pods", surge(None, None, None, static=False)),
    Case("static-ids-of-random-pods", bounce(static=True)),
    # static-id-in-two-groups
    Case(
        "static-id-in-two-groups",
        world(
            consumer("a", group_instance_id="x"), consumer("b", group="h", group_instance_id="x")
        ),
        ("x", "g and h"),
    ),
    Case(
        "static-id-in-two-groups",
        world(
            consumer("a", group_instance_id="x"), consumer("b", group="h", group_instance_id="y")
        ),
    ),
    # static-kill-consumer-protocol
    Case(
        "static-kill-consumer-protocol",
        world(
            *members(3, is_static=True, group_protocol="consumer"),
            script=(Crash(("c0",), restart_after=every(5)),),
        ),
        ("5.00 s", "45.0 s", "40.0 s"),
    ),
    Case(
        "static-kill-consumer-protocol",
        world(*members(3, is_static=True), script=(Crash(("c0",), restart_after=every(5)),)),
    ),
    Case(
        "static-kill-consumer-protocol",
        world(
            *members(3, group_protocol="consumer"), script=(Crash(("c0",), restart_after=every(5)),)
        ),
    ),
    # surge-shares-static-id
    Case(
        "surge-shares-static-id", surge("id-0", "id-1", "id-2"), ("3 consumers", "id-0", "fenced")
    ),
    Case("surge-shares-static-id", surge("x0", "x1", "x2")),
    # dynamic-in-statefulset
    Case("dynamic-in-statefulset", bounce(), ("c0 … c2 (3 consumers)", "up to 6 disturbances")),
    Case("dynamic-in-statefulset", bounce(static=True)),
    Case("dynamic-in-statefulset", surge(None, None, None, static=False)),
    # surge-of-dynamic-members
    Case(
        "surge-of-dynamic-members",
        surge(None, None, None, static=False),
        ("surge of 1 over 3", "up to 6 disturbances", "two rounds"),
    ),
    Case("surge-of-dynamic-members", surge(None, None, None, static=False, amount=3)),
    Case("surge-of-dynamic-members", bounce()),
    # bounce-outpaces-start
    Case(
        "bounce-outpaces-start",
        bounce(start=20, settle_us=0, ready_after_us=s(5)),
        ("goes on 5.00 s", "20.0 s", "23s"),
    ),
    Case(
        "bounce-outpaces-start",
        bounce(start=20, settle_us=0),
        ("goes on at once after", "its start takes 20.0 s and the others hear of it up to"),
    ),
    Case(
        "bounce-outpaces-start",
        bounce(start=0, settle_us=0),
        ("but the others hear of it up to 3.00 s later",),
    ),
    Case("bounce-outpaces-start", bounce(start=20, settle_us=s(20), ready_after_us=s(5))),
    Case("bounce-outpaces-start", bounce(start=20, settle_us=0, ready_when_assigned=True)),
    # lag-threshold-under-a-rebalance
    Case(
        "lag-threshold-under-a-rebalance",
        world(*members(2), script=(Autoscale("g", lag_threshold=100, least=2),)),
        ("auto.commit.interval.ms", "lagThreshold"),
    ),
    Case(
        "lag-threshold-under-a-rebalance",
        world(*members(2), script=(Autoscale("g", lag_threshold=10**9, least=2),)),
    ),
    # scale-down-before-settled
    Case(
        "scale-down-before-settled",
        world(*members(2), script=(Autoscale("g", members(4)[2:], least=2, down_window_us=s(15)),)),
        ("scaleDownStabilization is 15.0 s",),
    ),
    Case(
        "scale-down-before-settled",
        world(*members(2), script=(Autoscale("g", members(4)[2:], least=2),)),
    ),
    # staggered-joins
    Case(
        "staggered-joins",
        world(*members(4), script=(Scale("g", 10, members(10)[4:], stagger_us=s(10)),)),
        ("6 consumers", "10.0 s", "6 rebalances, 12 rounds"),
    ),
    Case(
        "staggered-joins",
        world(*members(4), script=(Scale("g", 10, members(10)[4:], stagger_us=s(1)),)),
    ),
    Case("staggered-joins", world(*members(4), script=(Join(members(6)[4:], stagger_us=s(10)),))),
    # grace-under-stop
    Case(
        "grace-under-stop",
        world(*members(3, life=Life(stop=every(40)))),
        ("40.0 s", "30.0 s", "45.0 s", "50s"),
    ),
    Case("grace-under-stop", world(*members(3, life=Life(stop=every(20))))),
    Case(
        "grace-under-stop",
        world(*members(3, life=Life(stop=every(20)), listener=Listener(revoked=Cost(every(15))))),
        ("35.0 s",),
    ),
    # hang-outlasts-grace
    Case(
        "hang-outlasts-grace",
        world(
            *members(3),
            script=(
                Action(Hang(("c1",), every(360)), at_us=s(60), line=30),
                Action(RollingBounce(("c0", "c1"), down=every(10)), at_us=s(80), line=31),
            ),
        ),
        ("c1 is stuck until 7 m", "asked to stop at 1 m 30 s", "killed at 2 m", "330s"),
    ),
    Case(
        "hang-outlasts-grace",
        world(
            *members(3),
            script=(
                Action(Hang(("c1",), every(40)), at_us=s(60), line=30),
                Action(Leave(("c1",)), at_us=s(80), line=31),
            ),
        ),
    ),
    Case(
        "hang-outlasts-grace",
        world(
            *members(3),
            script=(
                Action(Leave(("c1",)), at_us=s(50), line=30),
                Action(Hang(("c0", "c1"), every(360)), at_us=s(60), line=31),
            ),
        ),
    ),
    # freeze-outlasts-session
    Case(
        "freeze-outlasts-session",
        world(*members(3, session_timeout_us=s(10)), script=(Freeze(("c0",), every(15)),)),
        ("15.0 s", "10.0 s", "20s"),
    ),
    Case("freeze-outlasts-session", world(*members(3), script=(Freeze(("c0",), every(15)),))),
    Case(
        "freeze-outlasts-session",
        world(*members(3), random_faults=(RandomFault("freeze", NAMES, s(600), every(50)),)),
        ("a random freeze", "50.0 s"),
    ),
    Case(
        "freeze-outlasts-session",
        world(*members(3), random_faults=(RandomFault("cut", NAMES, s(600), every(50)),)),
    ),
    # cut-outlasts-session
    Case(
        "cut-outlasts-session",
        world(*members(3), script=(Cut(("c0",), False, every(60)),)),
        ("the coordinator", "1 m", "up to 18.0 s"),
    ),
    Case(
        "cut-outlasts-session",
        world(*members(3), script=(Cut(("c0",), True, every(60)),)),
        ("any broker",),
    ),
    Case("cut-outlasts-session", world(*members(3), script=(Cut(("c0",), False, every(20)),))),
    # restart-before-session-ends
    Case(
        "restart-before-session-ends",
        world(*members(3), script=(Crash(("c0",), restart_after=every(5)),)),
        ("5.00 s", "40.0 s", "the dead member's partitions"),
    ),
    Case(
        "restart-before-session-ends",
        world(
            *members(3, partition_assignment_strategy=("range",)),
            script=(Crash(("c0",), restart_after=every(5)),),
        ),
        ("all partitions",),
    ),
    Case(
        "restart-before-session-ends",
        world(*members(3, is_static=True), script=(Crash(("c0",), restart_after=every(5)),)),
    ),
    Case(
        "restart-before-session-ends",
        world(*members(3), script=(Crash(("c0",), restart_after=every(60)),)),
    ),
    Case("restart-before-session-ends", world(*members(3), script=(Crash(("c0",)),))),
    # … and no longer than the join timer lets it: 20 s
    Case(
        "restart-before-session-ends",
        world(
            *members(3, partition_assignment_strategy=("range",), max_poll_interval_us=s(20)),
            script=(Crash(("c0",), restart_after=every(5)),),
        ),
        ("20.0 s",),
    ),
    # crash-loop
    Case(
        "crash-loop",
        world(
            *members(3, group_protocol="consumer"),
            script=crashing_every(20),
        ),
    ),
    Case(
        "crash-loop",
        world(
            *members(3),
            script=crashing_every(20),
        ),
        ("20.0 s", "45.0 s", "3 ghosts"),
    ),
    Case(
        "crash-loop",
        world(
            *members(3),
            script=crashing_every(60),
        ),
    ),
    Case(
        "crash-loop",
        world(
            *members(3, is_static=True),
            script=crashing_every(20),
        ),
    ),
    Case(
        "crash-loop",
        world(*members(3), random_faults=(RandomFault("crash", NAMES, s(60), every(5)),)),
        ("20.0 s on average",),
    ),
    Case(
        "crash-loop",
        world(*members(3), random_faults=(RandomFault("crash", NAMES, s(600), every(5)),)),
    ),
    # stuck-handler-holds-barrier
    Case(
        "stuck-handler-holds-barrier",
        world(*members(3, handler=handler(0.001)), script=(EAGER_HANG,)),
        ("5 m", "500 ms", "30s"),
    ),
    Case(
        "stuck-handler-holds-barrier",
        world(*members(3, handler=handler(0.001)), script=(Hang(("c0",), every(20)),)),
    ),
    Case(
        "stuck-handler-holds-barrier",
        world(
            *members(3, handler=handler(0.001), max_poll_interval_us=s(30)), script=(EAGER_HANG,)
        ),
    ),
    Case(
        "stuck-handler-holds-barrier",
        world(*members(1, handler=handler(0.001)), script=(EAGER_HANG,)),
    ),
    # poison-travels
    Case(
        "poison-travels",
        world(*members(3), script=(Poison("t", 3, None, every(360)),)),
        ("t-3", "6 m", "5 m", "each owner"),
    ),
    Case("poison-travels", world(*members(3), script=(Poison("t", 3, None, every(360), times=3),))),
    Case("poison-travels", world(*members(3), script=(Poison("t", 3, None, every(60)),))),
    # backlog-behind-latest
    Case(
        "backlog-behind-latest",
        world(*members(3), topics=(topic(backlog=500),)),
        ("6,000 records wait in t", "500 in each partition", "begin behind them"),
    ),
    Case(
        "backlog-behind-latest",
        world(*members(3, auto_offset_reset="earliest"), topics=(topic(backlog=500),)),
    ),
    Case(
        "backlog-behind-latest",
        world(*members(3), topics=(topic(backlog=500, exists_from_start=False),)),
    ),
    Case(
        "backlog-behind-latest",
        world(*members(3, topics=("u",)), topics=(topic(backlog=500), topic("u"))),
    ),
    Case("backlog-behind-latest", world(*members(3))),
    # latest-on-growing-topic: of 600/s a half goes to 12 new partitions, for 300 s
    Case(
        "latest-on-growing-topic",
        world(*members(3), script=(AddPartitions("t", 24),)),
        ("12 partitions", "5 m", "90,000 records"),
    ),
    Case(
        "latest-on-growing-topic",
        world(*members(3, group_protocol="consumer"), script=(AddPartitions("t", 24),)),
        ("5.00 s", "1,500 records"),
    ),
    Case(
        "latest-on-growing-topic",
        world(*members(3, auto_offset_reset="earliest"), script=(AddPartitions("t", 24),)),
    ),
    Case(
        "latest-on-growing-topic",
        world(*members(3), topics=(topic(per_second=0),), script=(AddPartitions("t", 24),)),
    ),
    Case(
        "latest-on-growing-topic",
        world(*members(3), topics=(topic(exists_from_start=False),), script=(CreateTopic("t"),)),
        ("12 partitions", "4.00 s"),
    ),
    Case(
        "latest-on-growing-topic",
        world(*BY_PATTERN, topics=(topic(exists_from_start=False),), script=(CreateTopic("t"),)),
        ("12 partitions", "5 m"),
    ),
    # slow-metadata-refresh
    Case(
        "slow-metadata-refresh",
        world(*members(3), script=(AddPartitions("t", 24),)),
        ("12 new partitions", "5 m", "90,000"),
    ),
    Case(
        "slow-metadata-refresh",
        world(*members(3, metadata_max_age_us=s(30)), script=(AddPartitions("t", 24),)),
    ),
    Case(
        "slow-metadata-refresh",
        world(*members(3, group_protocol="consumer"), script=(AddPartitions("t", 24),)),
    ),
    Case(
        "slow-metadata-refresh",
        world(*BY_PATTERN, topics=(topic(exists_from_start=False),), script=(CreateTopic("t"),)),
        ("12 new partitions", "5 m"),
    ),
    Case(
        "slow-metadata-refresh",
        world(*members(3), topics=(topic(exists_from_start=False),), script=(CreateTopic("t"),)),
    ),
    # budget-under-detection
    Case(
        "budget-under-detection",
        world(
            *members(3),
            script=(Crash(("c1",)),),
            budgets=(Budget("longest_pause", "<=", s(30), "<= 30s", line=40, column=3),),
        ),
        ("30.0 s", "c1", "42.0 s"),
    ),
    Case(
        "budget-under-detection",
        world(
            *members(3),
            script=(Crash(("c1",)),),
            budgets=(Budget("longest_pause", "<=", s(60), "<= 60s"),),
        ),
    ),
    Case(
        "budget-under-detection",
        world(
            *members(3),
            script=(Crash(("c1",)),),
            budgets=(Budget("longest_pause", "<=", s(30), "<= 30s", variant="other"),),
        ),
    ),
    Case(
        "budget-under-detection",
        world(
            *members(3),
            script=(Leave(("c1",)),),
            budgets=(Budget("longest_pause", "<=", s(30), "<= 30s"),),
        ),
    ),
    Case(
        "budget-under-detection",
        world(
            *members(3, is_static=True),
            script=(Crash(("c1",), restart_after=every(5)),),
            budgets=(Budget("longest_pause", "<=", s(30), "<= 30s"),),
        ),
    ),
    # horizon-cuts-detection
    Case(
        "horizon-cuts-detection",
        world(*members(3), script=(Crash(("c1",)),), horizon_us=s(90)),
        ("1 m", "1 m 48 s", "1 m 30 s", "150s"),
    ),
    Case("horizon-cuts-detection", world(*members(3), script=(Crash(("c1",)),), horizon_us=s(180))),
]


def connect(
    *connectors: Connector,
    script: tuple[Any, ...] = (),
    topics: tuple[Topic, ...] = (),
    budgets: tuple[Budget, ...] = (),
    starts: float = 0,
    **settings: Any,
) -> Scenario:
    """Three workers with these settings, and connectors."""
    config = WorkerConfig(**settings)
    workers = [
        Consumer(
            f"w{n}", "connect", client="connect", worker=config, life=Life(start=every(starts))
        )
        for n in range(3)
    ]
    told = world(*workers, script=script, topics=topics, budgets=budgets)
    return replace(told, connect=(ConnectCluster("connect", connectors),))


BOUNCE = RollingBounce(("w0", "w1", "w2"), down=every(10))
NO_LONGER = (Budget("longest_task_pause", "<=", s(60), "<= 1m"),)
CASES += [
    Case(
        "connect-delay-under-restart",
        connect(script=(BOUNCE,), starts=35, scheduled_rebalance_max_delay_us=s(20)),
        ("w0", "45.0 s", "20.0 s", "1m"),
    ),
    Case("connect-delay-under-restart", connect(script=(BOUNCE,), starts=35)),
    Case(
        "bounce-outpaces-start",
        connect(script=(replace(BOUNCE, settle_us=s(15)),), starts=35),
        ("15.0 s after a worker was started", "35.0 s", "3.00 s", "ready_when: assigned"),
    ),
    Case("bounce-outpaces-start", connect(script=(replace(BOUNCE, settle_us=s(40)),), starts=35)),
    Case(
        "bounce-outpaces-start",
        connect(script=(replace(BOUNCE, ready_when_assigned=True),), starts=35),
    ),
    Case(
        "connect-delay-under-restart",
        connect(
            script=(Crash(("w1",), restart_after=every(50)),),
            scheduled_rebalance_max_delay_us=s(20),
        ),
        ("w1", "50.0 s", "20.0 s", "65s"),
    ),
    # nobody waits ten minutes for a node
    Case(
        "connect-delay-under-restart",
        connect(script=(Crash(("w1",), restart_after=every(600)),)),
    ),
    Case(
        "connect-delay-over-budget",
        connect(script=(Crash(("w1",)),), budgets=NO_LONGER),
        ("10.0 s", "5 m", "1 m", "45s"),
    ),
    Case(
        "connect-delay-over-budget",
        connect(
            script=(Crash(("w1",)),), budgets=NO_LONGER, scheduled_rebalance_max_delay_us=s(30)
        ),
    ),
    Case(
        "connect-eager-by-setting",
        connect(connect_protocol="eager"),
        ("connect.protocol: eager", "w0", "sessioned"),
    ),
    Case("connect-eager-by-setting", connect(connect_protocol="compatible")),
    Case(
        "connect-grace-under-stop",
        connect(Connector("slow", poll=every(4), stop=every(3))),
        ("slow", "7.00 s", "5.00 s", "9s"),
    ),
    Case("connect-grace-under-stop", connect(Connector("quick", stop=every(3)))),
    Case(
        "connect-tasks-over-partitions",
        connect(Connector("lake", "sink", 9, ("t",)), topics=(topic(partitions=6),)),
        ("lake", "9 tasks", "6 partitions", "tasks.max: 6"),
    ),
    Case(
        "connect-tasks-over-partitions",
        connect(Connector("lake", "sink", 6, ("t",)), topics=(topic(partitions=6),)),
    ),
]


def streams(
    *consumers: Consumer,
    store: int = 600_000_000,
    script: tuple[Any, ...] = (),
    close: str = "remain",
    volume: str = "kept",
    per_record: Draw = NOTHING,
    of_part: Draw | None = None,
    punctuators: tuple[StreamsPunctuator, ...] = (),
    **config: Any,
) -> Scenario:
    """An application of twelve tasks; its store has so many records, of 100 bytes."""
    stores = (StreamsStore("s", store),) if store else ()
    part = StreamsPart(("t",), stores, per_record=of_part, punctuators=punctuators)
    app = StreamsApp((part,), StreamsConfig(**config), close=close, volume=volume)
    app = replace(app, per_record=per_record)
    plain = world(*(consumers or members(3)), script=script)
    return replace(plain, groups=tuple(replace(g, streams=app) for g in plain.groups))


ROLL = (RollingBounce(NAMES, down=every(20), settle_us=s(120)),)
STATIC = members(3, is_static=True)
CASES += [
    Case("streams-store-without-standby", streams(), ("num.standby.replicas: 1",)),
    Case("streams-store-without-standby", streams(num_standby_replicas=1)),
    Case("streams-store-without-standby", streams(store=6_000_000)),
    Case(
        "streams-store-without-standby",
        streams(group_protocol="streams"),
        ("streams.num.standby.replicas: 1",),
    ),
    Case(
        "streams-standbys-without-instance",
        streams(num_standby_replicas=3),
        ("3 standbys", "Unable to assign 1 of 3 standby tasks", "num.standby.replicas: 2"),
    ),
    Case("streams-standbys-without-instance", streams(num_standby_replicas=2)),
    Case("streams-threads-without-task", streams(num_stream_threads=5), ("15 threads", "12 tasks")),
    Case("streams-threads-without-task", streams(num_stream_threads=4)),
    Case(
        "streams-lag-above-store",
        streams(acceptable_recovery_lag=50_000_000),
        ("50,000,000 records", "cold"),
    ),
    Case("streams-lag-above-store", streams()),
    Case("streams-lag-under-writes", streams(acceptable_recovery_lag=10), ("50 records a second",)),
    Case(
        "streams-record-outlasts-poll-interval",
        streams(per_record=every(50)),
        ("4 tasks", "3 m 20 s", "max.poll.interval.ms: 400s"),
    ),
    Case("streams-record-outlasts-poll-interval", streams(per_record=every(30))),
    Case("streams-record-outlasts-poll-interval", streams(of_part=every(50)), ("4 tasks",)),
    Case("streams-record-outlasts-poll-interval", streams(per_record=every(50), of_part=every(1))),
    Case(
        "streams-punctuator-outlasts-poll-interval",
        streams(punctuators=(StreamsPunctuator(s(600), every(80)),)),
        ("5 m 20 s", "4 tasks", "max.poll.interval.ms: 320s"),
    ),
    Case(
        "streams-punctuator-outlasts-poll-interval",
        streams(punctuators=(StreamsPunctuator(s(600), every(70)),)),
    ),
    Case(
        "streams-slower-than-arrival",
        streams(of_part=every(0.006)),
        ("takes 3.6 s", "3 threads", "at least 4 threads"),
    ),
    Case("streams-slower-than-arrival", streams(of_part=every(0.004))),
    Case(
        "streams-slower-than-arrival",
        streams(punctuators=(StreamsPunctuator(s(10), every(3)),)),
        ("takes 3.6 s",),
    ),
    Case("streams-lag-under-writes", streams(acceptable_recovery_lag=100)),
    Case("streams-probing-outlasts-settle", streams(script=ROLL), ("2 m", "10 m")),
    Case("streams-probing-outlasts-settle", streams(*STATIC, script=ROLL)),
    Case("streams-restart-waits-for-session", streams(script=ROLL), ("45.0 s", "close: leave")),
    Case("streams-restart-waits-for-session", streams(*STATIC, script=ROLL)),
    Case("streams-restart-waits-for-session", streams(script=ROLL, close="leave")),
    Case("streams-restart-waits-for-session", streams(script=ROLL, group_protocol="streams")),
    Case(
        "streams-state-on-lost-volume",
        streams(*STATIC, script=ROLL, volume="lost"),
        ("volume: kept",),
    ),
    Case("streams-state-on-lost-volume", streams(*STATIC, script=ROLL)),
    Case(
        "streams-transaction-outlives-session",
        streams(processing_guarantee="exactly_once_v2", transaction_timeout_us=s(60)),
        ("1 m", "45.0 s", "transaction.timeout.ms: 45000"),
    ),
    Case("streams-transaction-outlives-session", streams(processing_guarantee="exactly_once_v2")),
    Case("streams-transaction-outlives-session", streams(transaction_timeout_us=s(60))),
]


def found(case: Case) -> list[str]:
    checked = next(c for c in RULES if c.rule.id == case.rule)
    return [finding.message for finding in checked.find(case.scenario)]


@pytest.mark.parametrize("case", [c for c in CASES if c.says], ids=lambda c: c.rule)
def test_it_is_found_once_and_told_with_its_figures(case: Case) -> None:
    messages = found(case)
    assert len(messages) == 1, messages
    for text in case.says:
        assert text in messages[0]


@pytest.mark.parametrize("case", [c for c in CASES if not c.says], ids=lambda c: c.rule)
def test_no_false_alarm(case: Case) -> None:
    assert found(case) == []


def test_every_rule_has_a_world_with_it_and_one_without() -> None:
    for checked, warned in product(RULES, (True, False)):
        assert any(c.rule == checked.rule.id and bool(c.says) is warned for c in CASES), (
            f"{checked.rule.id}: no case {'with' if warned else 'without'} it"
        )


def test_a_quiet_world_is_quiet() -> None:
    """Kafka's defaults but for the assignor, on a light load: nothing to say."""
    scenario = world(*members(3, handler=handler(0.001)))
    assert [c.rule.id for c in RULES for _ in c.find(scenario)] == []


def test_messages_say_what_to_write_and_have_no_floats() -> None:
    for case in CASES:
        for message in found(case):
            assert " — " in message, f"{case.rule}: what to do is missing: {message}"
            assert "e+" not in message and "nan" not in message and "inf" not in message.split()


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(),
        world(),
        world(replace(consumer(), topics=(), pattern="(")),
        world(consumer(topics=("none",))),
    ],
    ids=["nothing", "no members", "a broken pattern", "a topic that is not there"],
)
def test_an_empty_scenario_breaks_no_rule(scenario: Scenario) -> None:
    assert [c.rule.id for c in RULES for _ in c.find(scenario)] == []
