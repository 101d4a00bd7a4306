"""Random scenarios of a few consumers, from a seed: settings, costs, rates and what is done to
them.
"""

from __future__ import annotations

import random

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.commit_style import CommitStyle
from rebalsim.domain.consumer import Consumer, Cost, Handler, Listener
from rebalsim.domain.draws import Draw, constantly
from rebalsim.domain.instants import MS, SECOND
from rebalsim.domain.scenario import Cluster, Group, Network, RateStep, Scenario, Topic
from rebalsim.domain.script import Action, Crash, Freeze, Hang, Join, Leave

STRATEGIES = (
    ("range",),
    ("sticky",),
    ("cooperative-sticky",),
    ("roundrobin",),
    ("range", "cooperative-sticky"),
)


def random_world(seed: int) -> Scenario:
    """One scenario; the same for the same seed on any machine."""
    r = random.Random(seed)
    strategy = r.choice(STRATEGIES)
    interval = r.choice((500, 1000, 1700, 3000)) * MS
    session = interval * r.choice((3, 4, 5)) + r.choice((0, 137, 700)) * MS
    config = ClientConfig(
        partition_assignment_strategy=strategy,
        heartbeat_interval_us=interval,
        session_timeout_us=session,
        max_poll_interval_us=r.choice((4, 9, 30)) * SECOND,
        max_poll_records=r.choice((5, 50, 500)),
        fetch_max_wait_us=r.choice((50, 300, 500)) * MS,
        auto_offset_reset=r.choice(("earliest", "latest")),
        auto_commit_interval_us=r.choice((1, 5)) * SECOND,
    )
    handler = Handler(
        per_record=constantly(r.choice((0, 0, 0, 500, 4000))),
        per_batch=constantly(r.choice((0, 0, 2000))),
        poll_timeout_us=r.choice((50, 100, 400)) * MS,
        commit=CommitStyle(r.choice(("auto", "auto", "auto", "sync-batch", "async", "none"))),
    )
    listener = Listener(
        Cost(constantly(r.choice((0, 0, 90)) * MS)),
        Cost(per_partition=constantly(r.choice((0, 0, 70)) * MS)),
    )
    statics = r.random() < 0.3

    def consumer(i: int) -> Consumer:
        from dataclasses import replace

        own = replace(config, group_instance_id=f"i{i}") if statics else config
        return Consumer(
            f"c{i}",
            "g",
            config=own,
            topics=("t", "u") if i % 3 else ("t",),
            handler=handler,
            listener=listener,
            starts_at=constantly(r.choice((0, 0, 150, 2500)) * MS),
        )

    size = r.randint(1, 5)
    script = []
    for n in range(r.randint(1, 4)):
        at = r.randint(8_000, 60_000) * MS + r.randint(0, 999)
        victim = (f"c{r.randrange(size)}",)
        deed = r.choice(
            (
                Join((consumer(10 + n),)),
                Leave(victim),
                Crash(victim, r.choice((None, constantly(3 * SECOND)))),
                Freeze(victim, constantly(r.choice((1, 5, 20)) * SECOND)),
                Hang(victim, constantly(r.choice((1, 6, 12)) * SECOND)),
            )
        )
        script.append(Action(deed, at_us=at, id=f"a{n}"))
    latency = r.choice((constantly(1 * MS), constantly(4 * MS), Draw("uniform", 500, 6000)))
    topics = tuple(
        Topic(
            name,
            r.randint(1, 6),
            (RateStep(0, r.choice((0.0, 3.0, 40.0, 200.0))),),
            record_bytes=200,
            backlog=r.choice((0, 0, 300)),
        )
        for name in ("t", "u")
    )
    return Scenario(
        title=f"random {seed}",
        topics=topics,
        groups=(Group("g", tuple(consumer(i) for i in range(size))),),
        script=tuple(script),
        horizon_us=90 * SECOND,
        seed=seed,
        cluster=Cluster(
            network=Network(latency),
            config=BrokerConfig(
                group_min_session_timeout_us=1 * SECOND,
                group_initial_rebalance_delay_us=r.choice((0, 500, 3000)) * MS,
            ),
        ),
    )
