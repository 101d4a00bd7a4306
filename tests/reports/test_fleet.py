"""A fleet in a terminal and as a page: what is alarming comes first, and nothing in a name is markup."""

from __future__ import annotations

from dataclasses import replace

from rebalsim.reports.fleet_to_html import render as to_html
from rebalsim.reports.fleet_told import Blame, Deploy, Fleet, GroupLine, render

FLEET = Fleet(
    groups=2,
    rebalances=48,
    days=2,
    worst=[
        GroupLine("orders", 40, 9, 120_000_000, 30_000_000),
        GroupLine("<b>mail</b>", 8, 2, 3_000_000, 1_000_000),
    ],
    causes=[("leave", 12, 100_000_000), ("session-timeout", 1, 23_000_000)],
    weeks=[("2026-11-09", 8, 20_000_000), ("2026-11-16", 40, 103_000_000)],
    condemned=[("orders", "session.timeout.ms fits no three heartbeats")],
    deploys=[Deploy("orders", 1_795_076_000_000_000, 6, 3, 100_000_000)],
    blamed=[Blame("orders", "orders-2", "leave", 12, 100_000_000)],
)


def test_the_screen_tells_rates_deploys_culprits_and_the_trend() -> None:
    text = render(FLEET, "tables")
    assert "48 rebalances in 2 days, 1 an hour" in text
    assert "9 !" in text
    assert "orders-2" in text
    assert "2026-11-19 08:13" in text
    assert "103 partition-seconds, more than the 20 of an earlier one" in text


def test_the_page_begins_with_what_is_alarming_and_escapes_names() -> None:
    page = to_html(FLEET, "1")
    assert "1 group rebalanced more than 5 times within an hour" in page
    assert "&lt;b&gt;mail&lt;/b&gt;" in page
    assert "<b>mail" not in page
    assert "Deploys that cost most" in page
    assert "script" not in page


def test_a_quiet_fleet_is_told_to_be_quiet() -> None:
    page = to_html(replace(FLEET, worst=FLEET.worst[1:], deploys=[]), "1")
    assert "No group rebalanced more than 5 times" in page
    assert "Deploys" not in page
