"""A fleet as one page: what is alarming first, then the worst groups, who causes it, deploys, the trend
by week, and settings that hurt. No script, nothing loaded, escaped.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources

from rebalsim.reports.fleet_told import ALERT_AN_HOUR, Fleet, say_day, summary, trend
from rebalsim.reports.observed import why
from rebalsim.reports.page_tables import table, text
from rebalsim.words.lists import plural
from rebalsim.words.times import say_duration


def render(fleet: Fleet, version: str) -> str:
    """The page."""
    style = resources.files("rebalsim.reports").joinpath("page", "page.css").read_text("utf-8")
    policy = (
        "default-src 'none'; style-src "
        f"'sha256-{base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()}'; "
        "base-uri 'none'; form-action 'none'"
    )
    sections = (_worst(fleet), _blamed(fleet), _deploys(fleet), _weeks(fleet), _condemned(fleet))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta '
        f'http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><meta '
        'name="referrer" content="no-referrer">\n'
        f"<title>A fleet\u2019s rebalances – rebalsim</title><style>{style}</style></head><body>\n"
        f"{_head(fleet)}<main>{''.join(sections)}</main>"
        f'<footer class="dim"><p>rebalsim {text(version)}</p></footer>\n</body></html>\n'
    )


def _head(fleet: Fleet) -> str:
    alarming = fleet.alarming
    said = (
        f'<span class="bad">{plural(len(alarming), "group")} rebalanced more than '
        f"{ALERT_AN_HOUR} times within an hour</span>"
        if alarming
        else f'<span class="good">No group rebalanced more than {ALERT_AN_HOUR} times within an '
        "hour</span>"
    )
    return (
        f'<header class="top"><div><h1>{said}</h1><p class="facts">{text(summary(fleet))}</p>'
        "</div></header>"
    )


def _section(title: str, body: str) -> str:
    return f"<section><h2>{title}</h2>{body}</section>"


def _seconds(us: int) -> str:
    return f"{us / 1e6:,.1f}"


def _worst(fleet: Fleet) -> str:
    head = ("group", "rebalances", "most within an hour", "partition-seconds", "longest pause")
    rows = [
        (
            text(g.name),
            str(g.rebalances),
            f'<span class="bad">{g.most_an_hour}</span>'
            if g.most_an_hour > ALERT_AN_HOUR
            else str(g.most_an_hour),
            _seconds(g.lost_us),
            say_duration(g.longest_us) if g.longest_us else "–",
        )
        for g in fleet.worst
    ]
    return _section("Worst groups", table("By what stood still", head, rows, (1, 2, 3)))


def _blamed(fleet: Fleet) -> str:
    kinds = [
        (text(why(kind, "")), str(count), _seconds(us), _bar(us, [x for *_, x in fleet.causes]))
        for kind, count, us in fleet.causes
    ]
    whose = [
        (text(b.group), text(why(b.kind, b.member)), str(b.pauses), _seconds(b.lost_us))
        for b in fleet.blamed
    ]
    found = table("By cause", ("cause", "pauses", "partition-seconds", ""), kinds, (1, 2))
    if whose:
        head = ("group", "what happened", "pauses", "partition-seconds")
        found += table("Who caused most", head, whose, (2, 3))
    return _section("Who causes it", found)


def _deploys(fleet: Fleet) -> str:
    if not fleet.deploys:
        return ""
    head = ("group", "when (UTC)", "members", "rebalances", "partition-seconds")
    rows = [
        (text(d.group), say_day(d.at_us), str(d.members), str(d.rebalances), _seconds(d.lost_us))
        for d in fleet.deploys
    ]
    said = "Members that left and came within a short time of each other count as one."
    return _section("Deploys that cost most", table(said, head, rows, (2, 3, 4)))


def _weeks(fleet: Fleet) -> str:
    lost = [us for *_, us in fleet.weeks]
    rows = [
        (text(week), str(count), _seconds(us), _bar(us, lost)) for week, count, us in fleet.weeks
    ]
    head = ("week from", "rebalances", "partition-seconds", "")
    said = f"<p>{text(trend(fleet))}</p>" if trend(fleet) else ""
    return _section("The trend", said + table("By week", head, rows, (1, 2)))


def _bar(value: int, all_of: Sequence[int]) -> str:
    """A length to see it by; the number stands beside it."""
    most = max(all_of, default=0)
    return "█" * round(24 * value / most) if most else ""


def _condemned(fleet: Fleet) -> str:
    if not fleet.condemned:
        return ""
    rows = [(text(group), text(said)) for group, said in fleet.condemned]
    head = ("group", "what lint says of its settings")
    return _section(
        "Settings that hurt", table("As their own logs print them", head, rows, (), (1,))
    )
