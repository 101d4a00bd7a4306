"""The page as text: one file that asks for nothing, allows nothing, holds what the analysis
says, and stays small.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import accumulate
from typing import Any

import pytest
from builders import trace
from told import bounced, hostile, one, story

from rebalsim.domain.verdict import Outcome
from rebalsim.reports import page_data, to_html
from rebalsim.reports.packed import BASE, DIGITS, pack
from rebalsim.reports.page_data import KINDS, data_of, thinned
from rebalsim.reports.report import BudgetResult, Report
from rebalsim.reports.terminal_page import glue


def data(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert found is not None
    decoded: dict[str, Any] = json.loads(found[1])
    return decoded


def consumed(
    lane: list[int], pauses: list[list[int]], horizon_us: int
) -> list[tuple[int, int, int]]:
    """A lane's consumption unfolded, as the page's script does it."""
    at, *owners = lane[3 + lane[2] :]
    found = []
    for place, owner in enumerate(owners):
        until = pauses[place][1] if place < len(pauses) else horizon_us
        if owner >= 0 and until > at:
            found.append((owner, at, until))
        at = pauses[place][1] + sum(pauses[place][4:]) if place < len(pauses) else at
    return found


class Tags(HTMLParser):
    """Every tag with its attributes, and the text outside of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.text.append(data)


def test_nothing_is_asked_for_from_elsewhere() -> None:
    page = to_html.render(story("troubles"))
    for tag, attributes in Tags(page).tags:
        assert tag not in ("link", "iframe", "object", "embed", "img", "form", "base")
        assert not {"src", "href", "srcset", "action", "style"} & attributes.keys(), (
            tag,
            attributes,
        )
        assert not any(name.startswith("on") for name in attributes)
    assert not re.search(
        r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|innerHTML|eval\(|localStorage", page
    )


def test_the_policy_allows_this_script_and_this_style_only() -> None:
    page = to_html.render(story("scale-out"))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None and "default-src 'none'" in policy[1] and "unsafe" not in policy[1]
    for tag in ("style", "script"):
        inline = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.S)
        assert len(inline) == 1
        digest = base64.b64encode(hashlib.sha256(inline[0].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy[1]


@pytest.mark.parametrize("name", ["scale-out", "troubles"])
def test_the_page_holds_what_the_analysis_says(name: str) -> None:
    report = story(name)
    held = data_of(report)
    texts = held["texts"]
    assert [k["name"] for k in held["kinds"]] == [k.value for k in KINDS]
    for told, variant in zip(held["variants"], report.variants):
        analysis = variant.analysis
        assert [texts[lane[0]] for lane in told["lanes"]] == [
            str(lane.partition) for lane in analysis.lanes
        ]
        assert sorted(i for row in told["rows"] for i in accumulate(row)) == list(
            range(len(analysis.lanes))
        )
        for lane, expected in zip(told["lanes"], analysis.lanes):
            pauses = [told["pauses"][i] for i in places(lane)]
            assert [(p[1], sum(p[4:])) for p in pauses] == [
                (p.started_us, p.length_us) for p in expected.pauses
            ]
            for p, pause in zip(pauses, expected.pauses):
                before, after, _, _, count, *rest = told["shapes"][p[0]]
                kinds, proof = rest[:count], list(accumulate(rest[count:]))
                assert [(KINDS[k], length) for k, length in zip(kinds[::2], p[4:])] == [
                    (x.kind, x.length_us) for x in pause.phases
                ]
                assert (texts[before], texts[after], bool(p[2])) == (
                    pause.owner_before,
                    pause.owner_after,
                    pause.is_open,
                )
                assert set(proof) <= set(pause.cause.evidence)
            assert consumed(lane, pauses, analysis.horizon_us) == [
                (texts.index(s.consumer), s.started_us, s.ended_us)
                for s in expected.segments
                if s.what == "consuming"
            ]
        assert [m[0] for m in told["marks"]] == [
            m.at_us for m in analysis.marks if m.kind == "action"
        ]


def places(lane: list[int]) -> list[int]:
    """The pauses of a lane, out of their runs."""
    runs = lane[3 : 3 + lane[2]]
    return [first + i for first, count in zip(runs[::2], runs[1::2]) for i in range(count)]


def test_numbers_are_packed_and_read_back() -> None:
    """As page/1-words.js reads them."""
    rows = [
        [1, 2, 3],
        [1, 2, 3],
        [],
        [5],
        [-7, 10**13, 0, 44, 43, -44],
        [0, 0, 0, 0, 0, 0, 1_935, 1_936],
    ]
    text = pack(rows)
    assert (
        unpacked(text) == rows
        and not set(text) & set("\"'\\<>&")
        and text.isascii()
        and text.isprintable()
    )
    assert len(pack([[100_000_000 + i] for i in range(100)])) < 210
    page = data(to_html.render(story("troubles")))
    for told, written in zip(data_of(story("troubles"))["variants"], page["variants"]):
        assert all(unpacked(written[key]) == told[key] for key in page["packed"])


def unpacked(text: str) -> list[list[int]]:
    numbers: list[int] = []
    number = 0
    for digit in map(DIGITS.index, text):
        number = number * BASE + digit % BASE
        if digit < BASE:
            numbers.append(number)
            number = 0
    rows: list[list[int]] = []
    left = iter(numbers)
    for count in left:
        above = rows[-1] if rows else []
        steps = [next(left) for _ in range(count)]
        rows.append(
            [
                (above[i] if i < len(above) else 0) + (-(s + 1) // 2 if s % 2 else s // 2)
                for i, s in enumerate(steps)
            ]
        )
    return rows


@pytest.mark.slow
def test_a_story_of_fifty_partitions_takes_less_than_400_kb() -> None:
    eager, other = one(bounced(50, 10, 40)), one(bounced(50, 10, 40, shift_us=1_500))
    page = to_html.render(
        Report("t", (*eager.variants, *other.variants), scenario="topics: {}\n" * 40)
    )
    assert len(page.encode()) < 400_000


@pytest.mark.slow
def test_two_thousand_partitions_stay_small_enough() -> None:
    page = to_html.render(one(bounced(2_000, 20, 2, shift_us=10)))
    assert len(page.encode()) < 3_000_000


def test_more_pauses_than_a_page_can_hold_leave_out_partitions_and_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(page_data, "MOST_PAUSES", 50)
    report = one(bounced(30, 5, 4))
    page = to_html.render(report)
    held = data_of(report)["variants"][0]
    analysis = report.variants[0].analysis
    kept = len(held["lanes"])
    assert 0 < kept < 30 and len(held["pauses"]) <= 50
    assert f"These are the {kept} of 30 partitions that stood still longest" in page
    ordered = sorted(
        (sum(p.length_us for p in lane.pauses) for lane in analysis.lanes), reverse=True
    )
    assert [
        sum(sum(held["pauses"][i][4:]) for i in places(lane)) >= ordered[kept - 1]
        for lane in held["lanes"]
    ] == [True] * kept


def test_evidence_is_told_in_words_of_the_longest_pauses_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    report = story("troubles")
    told = [e[0] for e in data_of(report)["variants"][0]["events"]]
    proofs = {
        n
        for p in report.variants[0].analysis.pauses
        for n in (*p.cause.evidence, p.end_event)
        if n >= 0
    }
    assert told == sorted(proofs)
    monkeypatch.setattr(page_data, "MOST_EVENTS", 5)
    few = [e[0] for e in data_of(report)["variants"][0]["events"]]
    longest = max(report.variants[0].analysis.pauses, key=lambda p: p.length_us)
    assert set(longest.cause.evidence) <= set(few) and len(few) < len(told)


def test_hostile_names_are_text() -> None:
    page = to_html.render(hostile())
    held = re.search(r'id="data">(.*?)</script>', page, re.S)
    assert held is not None and "<" not in held[1]
    tags = Tags(page)
    assert sum(tag == "script" for tag, _ in tags.tags) == 2
    shown = "".join(tags.text)
    assert "<script>alert(1)</script>" in shown and "\x1b" not in page and "\u202e" not in page
    assert "\\x1b" in shown and "\\u202e" in shown


def test_every_picture_has_a_table_and_the_page_reads_without_a_script() -> None:
    page = to_html.render(story("troubles"))
    assert page.count("<canvas") == 3 and page.count("<figure>") == 2
    assert (
        page.count('<details id="details-') == 2
        and "Records that had arrived and were not handled" in page
    )
    assert '<pre class="without-script">' in page and "━" in page
    for wanted in (
        "Four questions",
        "Members",
        "Rebalances",
        "rebalsim run troubles.yaml --seed 1",
        "seed 1",
        "rebalsim 0.0.0",
        "topics: {}",
    ):
        assert wanted in page


def test_budgets_come_with_their_line() -> None:
    report = story("scale-out")
    budget = BudgetResult(
        "longest_pause <= 1s",
        "cooperative",
        Outcome.FAIL,
        "3.01 s",
        "1 s",
        "orders-2 stood still",
        "error",
        "s.yaml",
        28,
    )
    page = to_html.render(Report("t", report.variants, budgets=(budget,)))
    assert (
        "✗ broken" in page
        and "line 28" in page
        and "longest_pause &lt;= 1s" in page
        and "orders-2 stood still" in page
    )


def test_a_comparison_has_its_changes() -> None:
    report = story("troubles")
    page = to_html.render(Report("t", report.variants, pairs=((0, 1),)))
    assert "From eager to cooperative" in page and "By phase, summed over partitions" in page


def test_traces_without_anything_make_a_page_too() -> None:
    for made in (
        trace("", until=1),
        trace("c0+p0@0"),
        trace("c0+p0@0 c0!@40", until=60, rate=None),
    ):
        assert "</html>" in to_html.render(one(made))


def test_thinning_keeps_peaks() -> None:
    points = [(i, float(i % 97)) for i in range(10_000)]
    kept = thinned(points, 100)
    assert (
        len(kept) <= 104
        and max(v for _, v in kept) == 960
        and [at for at, _ in kept] == sorted(at for at, _ in kept)
    )
    assert thinned(points[:5], 100) == [[0, 0], [1, 10], [2, 20], [3, 30], [4, 40]]


def test_thinning_draws_no_slope_from_a_peak_that_was_over_at_once() -> None:
    points: list[tuple[int, float]] = [(i * 10, float(i % 2)) for i in range(300)]
    points += [(10_000, 0.0), (10_010, 90.0), (10_020, 0.0), (900_000, 0.0), (900_010, 2.0)]
    kept = thinned(points, 100)
    assert len(kept) <= 100
    after = next(i for i, (_, v) in enumerate(kept) if v == 900)
    assert kept[after + 1] == [10_020, 0] and kept[after + 2] == [900_000, 0]


def test_the_bytes_are_stable() -> None:
    assert to_html.render(story("scale-out")) == to_html.render(story("scale-out"))


def test_what_was_dropped_of_the_settings_stands_with_them() -> None:
    report = story("scale-out")
    note = "session.timeout.ms: 20s is dropped: the consumer protocol refuses it"
    v = replace(report.variants[0], notes=(note, "Over 20 seeds it differs by chance"))
    page = to_html.render(replace(report, variants=(v, *report.variants[1:])))
    told = page[page.index('<section id="settings">') : page.index('<section id="members">')]
    assert "session.timeout.ms" in told and "is dropped" in told
    assert "differs by chance" not in told and "differs by chance" in page


def test_rebalances_are_one_number_and_the_clients_own_count_has_kafkas_name() -> None:
    report = story("scale-out")
    page = to_html.render(report)
    for v in report.variants:
        count = v.analysis.measure("rebalances")
        assert f"{count} rebalance" in page[page.index('<section id="rebalances">') :]
    assert "and 1 round in which a group formed" in page and "rebalance-total" in page
    assert (
        ">rebalances</th>" not in page[page.index('<section id="members">') :].split("</table>")[0]
    )


def test_a_number_and_its_unit_stay_on_one_line() -> None:
    page = to_html.render(story("scale-out"))
    prose = page[page.index('<section id="longest">') : page.index('<section id="summary">')]
    assert not re.search(r"\d (ms|s|m)\b", prose), re.findall(r".{20}\d (?:ms|s|m)\b", prose)[:3]


def test_the_answer_stands_before_what_the_story_is_about() -> None:
    report = replace(story("scale-out"), description="What it is about.")
    page = to_html.render(report)
    assert page.index("</h1>") < page.index('class="lead"') < page.index("What it is about.")


def test_a_figure_and_its_sign_stay_on_one_line() -> None:
    assert glue("1.5 % of 12 × and 5 m 3 s") == "1.5\u00a0% of 12\u00a0× and 5\u00a0m\u00a03\u00a0s"
