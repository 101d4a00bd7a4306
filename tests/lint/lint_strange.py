"""Worlds that nobody would write: every setting from nought to huge, every deed at anybody."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from lint_worlds import consumer, topic, world

from rebalsim.domain.budget import Budget
from rebalsim.domain.client import BrokerConfig
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import AssignorCost, Consumer, Cost, Handler, Listener, State
from rebalsim.domain.draws import Draw
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Broker, Cluster, Scenario
from rebalsim.domain.script import (
    Action,
    AddPartitions,
    Crash,
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
    SetRate,
    Slow,
)

TIMES = (0, 1, 1_000, 3_000_000, 45_000_000, 300_000_000, 86_400_000_000)
LISTS = (
    ("range",),
    ("cooperative-sticky",),
    ("range", "cooperative-sticky"),
    ("sticky", "roundrobin"),
    ("mine:assign",),
)


def strange_world(chance: Random) -> Scenario:
    def time() -> int:
        return chance.choice(TIMES)

    def draw() -> Draw:
        a, b = sorted((time(), time()))
        made = chance.choice(
            (
                Draw(a=a),
                Draw("uniform", a, b),
                Draw("normal", a, b),
                Draw("lognormal", a, b),
                Draw("exponential", a, b),
                Draw("exponential", a),
                Draw("choice", values=(a, b)),
            )
        )
        return (
            made
            if chance.random() < 0.7
            else replace(made, tail_share=chance.choice((0.001, 0.5, 1.0)), tail_us=b)
        )

    def who(n: int, starts: bool = True) -> Consumer:
        return consumer(
            f"c{n}",
            group=chance.choice(("g", "h")),
            topics=chance.choice((("t",), ("t", "u"), ("u",), (), ("gone",))),
            pattern=chance.choice((None, None, "t.*", "(")),
            group_protocol=chance.choice(("classic", "classic", "consumer")),
            group_instance_id=chance.choice((None, f"i{n}", "i")),
            partition_assignment_strategy=chance.choice(LISTS),
            session_timeout_us=time(),
            heartbeat_interval_us=time(),
            max_poll_interval_us=time(),
            max_poll_records=chance.choice((1, 500, 2**31 - 1)),
            enable_auto_commit=chance.random() < 0.5,
            auto_commit_interval_us=time(),
            auto_offset_reset=chance.choice(("latest", "earliest", "none")),
            request_timeout_us=time(),
            metadata_max_age_us=time(),
            max_partition_fetch_bytes=chance.choice((0, 1_048_576)),
            client_rack=chance.choice(("", "a")),
            handler=Handler(
                draw(),
                draw(),
                commit=chance.choice(list(CommitStyle)),
            ),
            listener=Listener(Cost(draw(), draw()), Cost(draw(), draw())),
            life=Life(draw(), draw(), time()),
            state=State(
                chance.choice((0, 10**12)),
                chance.choice((0.0, 1.0)),
                chance.choice((0.0, 1.0)),
                chance.choice((0.0, 1.0)),
            ),
            assignor_cost=AssignorCost(draw(), time()),
            starts_at=draw() if starts and chance.random() < 0.8 else None,
        )

    there = tuple(who(n) for n in range(chance.randint(0, 6)))
    names = tuple(c.name for c in there) or ("nobody",)
    some = tuple(chance.sample(names, chance.randint(1, len(names))))
    later = tuple(who(n, starts=False) for n in range(10, 10 + chance.randint(0, 4)))
    deeds: tuple[Any, ...] = (
        Join(later, time()),
        Scale("g", chance.randint(0, 9), later, time()),
        Leave(some, time(), chance.choice(("default", "leave"))),
        Crash(some, chance.choice((None, draw()))),
        Freeze(some, draw()),
        Hang(some, draw()),
        Poison("t", 0, None, draw(), chance.choice((None, 1))),
        Slow(some, chance.choice((0.001, 1e6)), time()),
        Cut(some, chance.random() < 0.5, draw()),
        AddPartitions("t", 99),
        AddPartitions("gone", 9),
        RollingBounce(
            some,
            chance.randint(0, 3),
            chance.randint(0, 3),
            later,
            chance.choice((None, draw())),
            time(),
            deploy=Overlay(there[:2]),
        ),
        SetRate("t", 1e9),
    )
    script = tuple(
        Action(
            d,
            at_us=time(),
            after=chance.choice((None, "x")),
            every_us=chance.choice((None, 1, 20_000_000)),
            times=chance.choice((1, 3, 100_000)),
            line=9,
        )
        for d in chance.sample(deeds, chance.randint(0, len(deeds)))
    )
    topics = (
        topic(
            "t",
            chance.randint(1, 50),
            chance.choice((0.0, 100.0, 1e9)),
            weights=chance.choice(((), (0.0,), (5.0, 1.0))),
            record_bytes=chance.choice((0, 10**6)),
        ),
        topic(
            "u", chance.randint(1, 50), 1.0, exists_from_start=chance.random() < 0.5, backlog=10**9
        ),
    )
    budgets = (Budget("longest_pause", "<=", time(), "x", line=3, column=2),)
    faults = tuple(
        RandomFault(kind, some, max(1, time()), draw())
        for kind in ("crash", "freeze", "hang", "cut")
        if chance.random() < 0.4
    )
    return world(
        *there,
        script=script,
        topics=topics,
        budgets=budgets,
        random_faults=faults,
        horizon_us=time(),
        cluster=Cluster(
            brokers=(Broker(0, "a"), Broker(1, "b")),
            config=BrokerConfig(group_max_size=3, group_initial_rebalance_delay_us=time()),
        ),
    )
