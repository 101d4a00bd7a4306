"""Which lines are let through, whatever stands beside them."""

from __future__ import annotations

import gc

import pytest
from reading_logs import facts_of

from rebalsim.worlds.logs.sieve import Sieve
from rebalsim.worlds.logs.streams import Census, Reader

TIME = "[2025-11-18 15:40:07,559] "
TELLING = {
    "version": TIME + "INFO Kafka version: 4.3.1 (org.apache.kafka.common.utils.AppInfoParser)",
    "closed": TIME + "INFO App info kafka.consumer for c unregistered (x.AppInfoParser)",
    "container-assigned": TIME + "INFO [orders-0-C-1] x.Listener: g: partitions assigned: [t-0]",
    "positioned": TIME + "INFO Setting offset for partition t-0 to the committed offset "
    "FetchPosition{offset=42, x}",
}
DULL = {
    "at INFO": TIME + "INFO order 7341 was priced in 4 ms (com.example.orders.OrderService)",
    "at DEBUG": TIME + "DEBUG order 7341 was priced in 4 ms (com.example.orders.OrderService)",
    "broken within": TIME + "INFO order 7341\nwas priced in 4 ms\n(com.example.Orders)",
    "a stack trace": "\tat com.example.orders.OrderService.price(OrderService.java:118)",
    "empty": "",
}


@pytest.mark.parametrize("dull", DULL.values(), ids=DULL)
def test_lines_that_do_not_speak_of_groups_are_found_among_others(dull: str) -> None:
    lines = [line for telling in TELLING.values() for line in (dull, dull, telling)]
    picked = Sieve().sift([*lines, dull])
    assert [(place, line) for place, _, line, _ in picked] == [
        (place, line) for place, line in enumerate(lines) if line in TELLING.values()
    ]


def test_a_line_at_debug_tells_nothing_among_lines_at_debug_either() -> None:
    lines = [line.replace("INFO", "DEBUG") for line in TELLING.values()] * 3
    assert Sieve().sift(lines) == []


def test_a_second_that_was_not_met_has_the_time_of_its_minute() -> None:
    joins = (
        f"[2025-11-18 15:40:{second:02},559] INFO [Consumer clientId=c, groupId=g] (Re-)joining "
        "group"
        for second in (7, 59, 7, 30)
    )
    at = [fact.at_us % 60_000_000 for fact in facts_of(*joins)]
    assert at == [7_559_000, 59_559_000, 7_559_000, 30_559_000]


@pytest.mark.parametrize("is_on", [True, False])
def test_reading_leaves_the_collecting_of_garbage_as_it_was(is_on: bool) -> None:
    was_on = gc.isenabled()
    try:
        (gc.enable if is_on else gc.disable)()
        Reader("a.log", "a.log", {}, Census()).read_all([list(TELLING.values())])
        assert gc.isenabled() is is_on
    finally:
        (gc.enable if was_on else gc.disable)()
