"""What a simulation costs: quiet time against busy time, model events against bare SimPy's, runs a
second, a thousand members.

Ratios are taken within one run, in processor time, so that what else the machine does shows little.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import simpy

from rebalsim.analysis import analyse
from rebalsim.domain.scenario import Scenario
from rebalsim.proof.bench.apart import apart
from rebalsim.proof.bench.figure import Figure
from rebalsim.proof.bench.where import where
from rebalsim.scenario.load import load_scenario, story_of
from rebalsim.simulation.world import World, play

MINUTE = 60_000_000
PATIENCE_S = 1_800.0  # with a story of many members
LEARNING_S = (
    90.0  # of processor time: PyPy compiles what it has seen often, and there is much to see
)


def measure(quick: bool = False) -> list[Figure]:
    """Figures (a) to (d)."""
    story = load_scenario("scale-out")
    both = [story.scenario(variant) for variant in ("eager", "cooperative")]
    return [
        quiet_time(both, quick),
        event_rate(quick),
        runs_a_second(both, quick),
        *thousand_members(quick),
    ]


def timed(work: Callable[[], Any], repeats: int) -> float:
    """The least processor time of several goes, in seconds."""
    best = float("inf")
    for _ in range(repeats):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def _runs(scenarios: list[Scenario], seeds: range) -> None:
    for seed in seeds:
        for scenario in scenarios:
            _ = analyse(play(scenario, seed=seed)).summary


def quiet_time(both: list[Scenario], quick: bool) -> Figure:
    """(a) The scale-out with a horizon of a day against ten minutes."""
    seeds = range(10 if quick else 30)
    short = [replace(scenario, horizon_us=10 * MINUTE) for scenario in both]
    day = [replace(scenario, horizon_us=24 * 60 * MINUTE) for scenario in both]
    _runs(short, range(3))
    ratio = min(
        timed(lambda: _runs(day, seeds), 1) / timed(lambda: _runs(short, seeds), 1)
        for _ in range(5)
    )
    return Figure("(a) scale-out over 24 h against 10 minutes", ratio, "×", 1.2)


def event_rate(quick: bool) -> Figure:
    """(b) Trace events, messages and timers a second against SimPy's timeouts, as many over as
    many processes.
    """
    scenario = load_scenario("scale-out-100").scenario("eager")
    busy = replace(scenario, horizon_us=90_000_000)
    events = processes = 0

    def model() -> None:
        nonlocal events, processes
        world = World(busy, 1, is_wire=True, drive=None)
        trace = world.play()
        events = len(trace.events) + world.engine.entries
        processes = len(world.consumers)

    took = timed(model, 2 if quick else 4)

    def bare() -> None:
        env = simpy.Environment()

        def sleeper(each: int) -> Any:
            for _ in range(events // processes):
                yield env.timeout(each)

        for i in range(processes):
            env.process(sleeper(1 + i % 7))
        env.run()

    ratio = timed(bare, 3) / took
    return Figure(
        "(b) model events a second, as a share of bare SimPy's",
        ratio,
        "×",
        1 / 3,
        is_most=False,
        note=f"{events / took:,.0f} a second",
    )


def runs_a_second(both: list[Scenario], quick: bool) -> Figure:
    """(c) The scale-out in both variants, simulated and analysed."""
    _runs(both, range(5))
    seeds = range(20 if quick else 80)
    while sys.implementation.name == "pypy" and time.process_time() < LEARNING_S:
        _runs(both, seeds)
    rate = len(seeds) / timed(lambda: _runs(both, seeds), 4)
    layers = ", ".join(
        f"{layer} {share:.0%}"
        for layer, share in where(lambda: _runs(both, range(5 * len(seeds)))).items()
    )
    return Figure(
        "(c) scale-out runs a second (both variants, analysed)",
        rate,
        "/s",
        150,
        is_most=False,
        goal=850,
        note=f"{1e3 / rate:.2f} ms each" + (f": {layers}" if layers else ""),
    )


def story_of_many(members: int, partitions: int, script: str, horizon: str) -> Scenario:
    """A group of so many, cooperative-sticky."""
    text = (
        f"topics:\n  orders: {{partitions: {partitions}, rate: {partitions}/s}}\n"
        f"group:\n  members: {members}\n  handler: 1ms\n  config: "
        f"{{partition.assignment.strategy: cooperative-sticky}}\n"
        f"replay: as-written\nscript:\n{script}horizon: {horizon}\n"
    )
    return story_of(text.encode(), "many").check().scenario()


def _crash_and_grow(members: int) -> str:
    return f"  - {{at: 1m, crash: c7}}\n  - {{at: 3m, scale: {members + 9}}}\n"


def play_many(members: int, partitions: int, is_bounce: bool) -> tuple[int, int, float, float]:
    """Rounds and trace events of the large story, a crash and ten newcomers or a bounce of
    everybody; seconds played and analysed.
    """
    if is_bounce:
        script, horizon = (
            "  - {at: 1m, rolling_bounce: {down: 5s, ready_when: assigned, settle: 2s}}\n",
            f"{members // 3 + 10}m",
        )
    else:
        script, horizon = _crash_and_grow(members), "5m"
    scenario = story_of_many(members, partitions, script, horizon)
    began = time.process_time()
    trace = play(scenario)
    played = time.process_time()
    rounds = len(analyse(trace).rebalances)
    return rounds, len(trace.events), played - began, time.process_time() - played


def _rebalances(scenario: Scenario) -> int:
    return len(analyse(play(scenario)).rebalances)


def thousand_members(quick: bool) -> list[Figure]:
    """(d) 1,000 members on 10,000 partitions, in a process of its own so that its memory is
    known.
    """
    members, partitions = (200, 2_000) if quick else (1_000, 10_000)
    bounced = 50 if quick else 1_000
    size = f"(d) {members:,} members × {partitions:,} partitions: a crash, then 10 more"
    bounce = f"(d) a rolling bounce of {bounced:,}"
    play = "rebalsim.proof.bench.simulation:play_many"
    crashed = apart(play, members, partitions, False, patience_s=PATIENCE_S)
    rolled = apart(play, bounced, bounced * 10, True, patience_s=PATIENCE_S)
    found = [_of_many(size, crashed, 30.0), _of_many(bounce, rolled, 600.0)]
    if crashed is not None:
        found.insert(1, Figure("(d) … its memory", crashed[1], "MB", 1_500.0))
    return found


def _of_many(name: str, told: tuple[float, float, list[float]] | None, limit_s: float) -> Figure:
    if told is None:
        return Figure(name, PATIENCE_S, "s", limit_s, note="given up: it was not done by then")
    seconds, megabytes, (rounds, events, played, analysed) = told
    note = (
        f"{rounds:,.0f} rebalances, {events:,.0f} events, {megabytes:,.0f} MB; {played:.1f} s "
        f"simulated, {analysed:.1f} s analysed"
    )
    return Figure(name, seconds, "s", limit_s, note=note)


def growth(quick: bool = False) -> tuple[list[str], Figure]:
    """(e) What a crash and ten newcomers cost against members and partitions: so much a member and
    rebalance, so much a partition and rebalance.

    Both prices are taken from two groups of a hundred; what larger ones cost beyond them is what
    grows faster than it should.
    """
    sizes = [(100, 100), (100, 1_000), (10, 100), (500, 5_000)]
    if not quick:
        sizes += [(1_000, 1_000), (1_000, 10_000), (2_000, 20_000)]
    lines = [
        f"{'members':>8} {'partitions':>11} {'rebalances':>11} {'seconds':>9} "
        f"{'of what the prices say':>23}"
    ]
    costs: list[float] = []  # of one rebalance, in seconds
    worst = per_member = per_partition = 0.0
    for members, partitions in sizes:
        scenario = story_of_many(members, partitions, _crash_and_grow(members), "5m")
        rounds = max(1, _rebalances(scenario))
        costs.append(timed(partial(_rebalances, scenario), 5 if members <= 100 else 2) / rounds)
        if len(costs) == 2:
            per_partition = max(0.0, (costs[1] - costs[0]) / (sizes[1][1] - sizes[0][1]))
            per_member = costs[0] / members - per_partition
        share = (
            costs[-1] / (per_member * members + per_partition * partitions)
            if len(costs) > 2
            else 1.0
        )
        if members > 100:  # beneath that, what every run costs shows
            worst = max(worst, share)
        lines.append(
            f"{members:>8,} {partitions:>11,} {rounds:>11} {costs[-1] * rounds:>9.2f} "
            f"{share:>21.2f} ×"
        )
    lines.append(
        f"a rebalance costs {per_member * 1e6:.0f} µs a member and {per_partition * 1e6:.1f} µs "
        "a partition"
    )
    return lines, Figure("(e) cost against members and partitions, dearest", worst, "×", 2.0)
