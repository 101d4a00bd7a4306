"""How far a Streams application is behind: lag grows while a task stands still, and is worked off at
what a record costs and what the thread's other tasks leave.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.analysis.analysis import Analysis
from rebalsim.domain.ids import Partition
from rebalsim.one_run import run_once
from rebalsim.scenario.load import story_of
from rebalsim.trace.events import LagMarked

STORY = """
topics: {{orders: {{partitions: {partitions}, rate: {rate}}}}}
group:
  members: {{"app-{{n}}": {{count: 2}}}}
  handler: {cost}
  config: {{session.timeout.ms: 10s}}
  streams: {{topology: [{{source: orders{part}}}], config: {{num.stream.threads: {threads}}}}}
script: [{script}]
horizon: 10m
"""
CRASH = "{at: 4m, crash: app-0}"


def played(
    cost: str,
    rate: str = "200/s",
    partitions: int = 2,
    part: str = "",
    threads: int = 1,
    script: str = CRASH,
) -> Analysis:
    text = STORY.format(**locals())
    return run_once(story_of(text.encode(), "lag.yaml").check().scenario()).analysis


def corners(a: Analysis, number: int) -> list[tuple[int, int]]:
    marks = (e for e in a.trace.events if type(e) is LagMarked and e.partition.number == number)
    return [(e.at_us, e.records) for e in marks]


def lag_at(a: Analysis, number: int, at_us: int) -> float:
    group = a.trace.header.consumers["app-0"].group
    found = a.lag_book.at(group, Partition("orders", number), at_us)
    assert found is not None
    return found


def moved(a: Analysis) -> tuple[int, list[tuple[int, int]]]:
    """The dead instance's partition, and its lag from the crash on."""
    number = next(p.partition.number for p in a.pauses if p.started_us >= 240_000_000)
    return number, [c for c in corners(a, number) if c[0] >= 240_000_000]


def test_lag_grows_while_a_task_stands_still_and_is_worked_off_at_what_the_thread_has_left() -> (
    None
):
    number, lag = moved(played("4ms"))
    (_, before), (began_us, peak), *_, (ended_us, at_end), _ = lag
    # 100 a second come; what was handled since the last commit, up to 30 s of it, is done again
    assert before == 0 and peak > 100 * (began_us - 240_000_000) / 1e6 > 500
    # of a second the task that runs beside it takes 100 × 4 ms, and 600 ms are left for 150 records
    took_s = (ended_us - began_us) / 1e6
    assert at_end == 0 and took_s == pytest.approx(peak / (150 - 100), rel=0.001)
    assert number in (0, 1)


def test_what_costs_nothing_is_worked_off_at_once() -> None:
    _, lag = moved(played("0s"))
    (_, before), (began_us, peak), (ended_us, after), _ = lag
    assert (before, after) == (0, 0) and peak > 500 and began_us == ended_us


def test_a_sub_topology_may_say_what_its_records_cost() -> None:
    dear, cheap = played("0s", part=", per_record: 4ms"), played("4ms", part=", per_record: 0s")
    assert moved(dear)[1] == moved(played("4ms"))[1]
    assert moved(cheap)[1] == moved(played("0s"))[1]


def test_what_one_thread_cannot_handle_grows_for_ever_on_all_its_tasks_alike() -> None:
    a = played("8ms")  # 100 a second and partition: 0.8 of a thread, and 1.6 after the crash
    lags = [lag_at(a, n, 600_000_000) for n in (0, 1)]
    came = 100 * (600 - 240)
    assert sum(lags) > 2 * came - 125 * (600 - 240) - 200 and min(lags) > 0
    grown = [lag_at(a, n, 600_000_000) - lag_at(a, n, 500_000_000) for n in (0, 1)]
    assert grown[0] == pytest.approx(grown[1], rel=0.02)
    assert sum(grown) == pytest.approx(100 * (200 - 125), rel=0.02)


def test_a_faster_topic_makes_lag_where_the_thread_has_no_more_time() -> None:
    script = "{at: 2m, set_rate: {topic: orders, rate: 600/s}}, {at: 4m, set_rate: {topic: orders, rate: 200/s}}"
    a = played("4ms", script=script)  # 300 a second for a thread that handles 250
    assert lag_at(a, 0, 119_000_000) == 0
    assert lag_at(a, 0, 240_000_000) == pytest.approx(50 * 120, abs=2)
    # then 100 a second come and 250 are handled
    assert lag_at(a, 0, 270_000_000) == pytest.approx(6000 - 150 * 30, abs=2)
    assert lag_at(a, 0, 281_000_000) == 0


def test_a_line_of_lag_turns_where_records_come_faster_meanwhile() -> None:
    script = f"{CRASH}, {{at: 4m5s, set_rate: {{topic: orders, rate: 2000/s}}}}"
    number, lag = moved(played("0s", script=script))
    assert (245_000_000, 500) in lag
    assert number in (0, 1)


def test_a_thread_that_is_behind_hears_of_a_rebalance_when_its_records_are_through() -> None:
    """A thousand records of 4 ms are four seconds; with nothing to catch up on it sits in poll()."""
    script = "{at: 2m, freeze: {member: app-0, for: 8s}}, {at: 2m12s, join: late}"
    busy, idle = played("4ms", script=script), played("10us", script=script)

    def joined(a: Analysis) -> int:
        return int(max(e.at_us for e in a.trace.events if type(e).__name__ == "GenerationJoined"))

    assert joined(busy) > joined(idle)


def test_the_stock_stories_lag_is_worked_off() -> None:
    path = Path(__file__).parents[2] / "scenarios" / "streams-crash.yaml"
    story = story_of(path.read_bytes(), "crash").check()
    a = run_once(story.scenario(story.variants[0])).analysis
    assert (a.measure("lag_peak") or 0) > 0 and a.measure("lag_at_end") == 0
