"""A sweep's answer in all its forms, from one made-up value: what is said, what is drawn, and
that hostile names stay names.
"""

from __future__ import annotations

import base64
import hashlib
import html as html_module
import io
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

from rebalsim.domain.answer import Answer, AxisSaid, Bar, BudgetSaid, PointSaid, ValueSaid
from rebalsim.reports import figures
from rebalsim.reports.sweep_to_html import render as render_html
from rebalsim.reports.sweep_to_json import render as render_json
from rebalsim.reports.sweep_to_markdown import render as render_markdown
from rebalsim.reports.sweep_to_svg import render as render_svg
from rebalsim.reports.sweep_to_terminal import render_answer

HOSTILE = "</script><script>alert('x')</script> & | `b` <img src=x onerror=alert(1)>"
SESSIONS, MEMBERS = ("6s", "10s", "45s"), ("3", "6")


def point(number: int, variant: str) -> PointSaid:
    session, members = divmod(number, 2)
    pause = (2.0 + session + (3 if variant == "eager" else 0)) * 1e6
    verdict = "error" if number == 5 else "fail" if pause > 5e6 else "pass"
    cost = (members + 1) * 0.3
    told = (None, None, None) if verdict == "error" else (pause / 2, pause, pause)
    return PointSaid(
        number=number,
        scenario="crash",
        variant=variant,
        at={"session": SESSIONS[session], "members": MEMBERS[members]},
        digits={"session": session, "members": members},
        settings=(
            ("group.config.session.timeout.ms", SESSIONS[session]),
            ("group.members", MEMBERS[members]),
        ),
        consumers=3,
        cost_per_hour=cost,
        seeds=4,
        errors=4 * (verdict == "error"),
        error="it cannot be" if verdict == "error" else "",
        pass_share=None if verdict == "error" else float(verdict == "pass"),
        verdict=verdict,
        broken=("longest_pause <= 5s",) if verdict == "fail" else (),
        objectives=(None, None) if verdict == "error" else (cost, pause),
        is_on_front=number in (0, 1) and variant == "cooperative",
        metrics=dict.fromkeys(
            (
                "longest_pause",
                "rebalances",
                "lag_peak",
                "partition_seconds",
                "settle_time",
                "unsettled",
            ),
            told,
        ),
        settles="" if verdict == "error" else "never" if session == 2 else "at once",
        fullest=1.2 if members == 0 else 0.9,
    )


def answer(title: str = "Which session timeout", label: str = "6s") -> Answer:
    points = tuple(
        replace(p, at={**p.at, "session": label} if p.digits["session"] == 0 else p.at)
        for p in (point(n, v) for n in range(6) for v in ("cooperative", "eager"))
    )
    best = tuple(
        sorted((p for p in points if p.verdict == "pass"), key=lambda p: (p.objectives, p.number))
    )
    broken = next(p for p in points if p.verdict == "fail")
    return Answer(
        title=title,
        description="",
        plan_file="plan.yaml",
        version="0.1.0",
        out="out",
        axes=(
            AxisSaid(
                "session",
                "duration",
                "group.config.session.timeout.ms",
                (label, *SESSIONS[1:]),
                (6e6, 10e6, 45e6),
            ),
            AxisSaid("members", "number", "group.members", MEMBERS, (3.0, 6.0)),
        ),
        variants=("cooperative", "eager"),
        scenarios=("crash",),
        objectives=("cost", "longest_pause"),
        main_metric="longest_pause",
        main_percentile=None,
        currency="EUR",
        has_costs=True,
        budgets=("longest_pause <= 5s",),
        points=12,
        runs=48,
        passing=len(best),
        failing=3,
        inconclusive=0,
        erring=2,
        errors=(("it cannot be", 2),),
        cut=0,
        best=best,
        next_cheaper=replace(broken, objectives=(0.1, 6e6)),
        next_cheaper_budgets=(
            BudgetSaid("longest_pause <= 5s", "longest_pause", "fail", 6e6, 5e6, 0.25, 3),
        ),
        front=best[:2],
        tornado=(
            Bar(
                "variant",
                "cooperative",
                3e6,
                "eager",
                6e6,
                (
                    ValueSaid("cooperative", 6, 1, 0.8, 3e6, 2e6, 4e6),
                    ValueSaid("eager", 6, 1, 0.2, 6e6, 5e6, 7e6),
                ),
            ),
            Bar("session", label, 3.5e6, "45s", 5.5e6),
        ),
        shown=points,
        is_all_shown=True,
        curves={"0-cooperative": [2e6 + i * 1e4 for i in range(21)], "0-eager": [5e6] * 21},
        heat=("session", "members"),
        seeds=4,
    )


def terminal(width: int, is_ascii: bool = False) -> str:
    out = io.StringIO()
    render_answer(answer(), Console(file=out, width=width, no_color=True), is_ascii)
    return out.getvalue()


def test_the_terminal_says_what_meets_the_budgets_what_breaks_and_what_moves() -> None:
    text = terminal(80)
    assert "7 of 12 meet all budgets; 3 break a budget, 2 cannot be played" in text
    lines = text.splitlines()
    table = next(
        i for i, line in enumerate(lines) if line.split()[:3] == ["point", "session", "members"]
    )
    assert lines[table + 1].split()[:4] == ["0", "6s", "3", "cooperative"]
    assert "219 EUR" in lines[table + 1] and "2.00 s" in lines[table + 1]
    assert "✗ longest_pause <= 5s: 6.00 s, 1.00 s beyond it; 25 % of the seeds are within" in text
    assert "rebalsim replay out --run 0-cooperative-1" in text
    bars = [line for line in lines if "━" in line]
    assert (
        bars[0].split()[:3] == ["variant", "cooperative", "3.00"]
        and bars[0].count("━") > bars[1].count("━") > 0
    )


def test_what_is_undecided_bears_a_question_mark_in_every_form() -> None:
    whole = answer()
    points = tuple(replace(p, verdict="inconclusive") for p in whole.shown)
    made = replace(
        whole, shown=points, best=(), front=points[:2], inconclusive=12, passing=0, failing=0
    )
    out = io.StringIO()
    render_answer(made, Console(file=out, width=100, no_color=True))
    rows = [line.split()[:2] for line in out.getvalue().splitlines()]
    assert ["?", str(points[0].number)] in rows and "? is undecided" in out.getvalue()
    assert f"| ? {points[0].number} |" in render_markdown(made)
    assert "? is undecided" in render_markdown(made)
    assert ">? 2.00 s<" in render_svg(made)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    assert max(len(line) for line in terminal(width).splitlines()) <= width


def test_plain_ascii_where_the_terminal_knows_no_more() -> None:
    assert terminal(80, is_ascii=True).replace("—", "").isascii()


def test_json_is_the_same_value() -> None:
    document = json.loads(render_json(answer()))
    assert (document["schema_version"], document["kind"], document["passing"]) == (1, "sweep", 7)
    assert (
        document["best"][0]["objectives"] == [0.3, 2e6]
        and document["units"]["longest_pause"] == "duration"
    )


def test_markdown_keeps_hostile_names_as_text() -> None:
    text = render_markdown(answer(HOSTILE, "a|b"))
    assert "<script>" not in text.replace("\\<", "") and "a\\|b" in text
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({line.replace("\\|", "").count("|") for line in rows[:4]}) == 1


NASTY = "a\x1b]0;owned\x07\u202e\x9b2Jb"


def on_a_terminal(told: Answer) -> str:
    shown = io.StringIO()
    render_answer(told, Console(file=shown, width=100))
    return shown.getvalue()


@pytest.mark.parametrize("render", [on_a_terminal, render_html, render_svg, render_markdown])
def test_escapes_and_overrides_in_a_plans_names_went_through_raw(
    render: Callable[[Answer], str],
) -> None:
    told = render(answer(NASTY, NASTY))
    assert not set("\x1b\x07\u202e\x9b") & set(told)
    assert "202e" in told  # it is shown, by its number


class Tags(HTMLParser):
    """Every tag and attribute of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


def test_the_page_needs_nothing_but_itself_and_trusts_no_name() -> None:
    page = render_html(answer(HOSTILE, HOSTILE))
    tags = Tags()
    tags.feed(page)
    assert [t for t, _ in tags.tags].count("script") == 2 and not [
        t for t, _ in tags.tags if t in ("img", "link", "iframe", "base", "object")
    ]
    assert not [
        (t, a)
        for t, a in tags.tags
        if any(k.startswith("on") or k in ("src", "href", "style") for k in a)
    ]
    assert (
        "http://" not in page.replace("http://www.w3.org/2000/svg", "") and "https://" not in page
    )
    policy = next(
        a["content"] for t, a in tags.tags if a.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None and policy.startswith("default-src 'none'")
    for name, text in (
        ("style", re.findall(r"<style>(.*?)</style>", page, re.S)[0]),
        ("script", re.findall(r"<script>(.*?)</script>", page, re.S)[0]),
    ):
        assert (
            f"{name}-src "
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
            in policy
        )
    assert "alert" in page and "<script>alert" not in page
    assert len(page) < 60_000


def chromium() -> str:
    found = next(
        (
            path
            for name in ("chromium", "chromium-browser", "google-chrome", "chrome")
            if (path := shutil.which(name))
        ),
        None,
    )
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("CI must have Chromium")
        pytest.skip("BROWSER TESTS ARE NOT RUN: there is no Chromium")
    return found


def dom(page: str, folder: Path, anchor: str = "") -> tuple[str, str]:
    """The page's tree after its script has run, and what the console said."""
    file = folder / "page.html"
    file.write_text(page, "utf-8")
    told = subprocess.run(
        [
            chromium(),
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--virtual-time-budget=3000",
            f"--user-data-dir={folder / 'profile'}",
            "--dump-dom",
            f"file://{file}{anchor}",
        ],
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    console = [line for line in told.stderr.splitlines() if "CONSOLE" in line]
    return told.stdout, "\n".join(console)


@pytest.mark.browser
def test_what_is_drawn_is_what_was_found(tmp_path: Path) -> None:
    tree, console = dom(render_html(answer()), tmp_path)
    assert console == ""
    cells = dict(
        re.findall(
            r'<rect[^>]*class="cell[^"]*"[^>]*data-key="([^"]*)"[^>]*><title>([^<]*)</title>', tree
        )
    )
    assert cells == {
        "0-cooperative": "session 6s, members 3: 2.00 s (pass)",
        "2-cooperative": "session 10s, members 3: 3.00 s (pass)",
        "4-cooperative": "session 45s, members 3: 4.00 s (pass)",
        "1-cooperative": "session 6s, members 6: 2.00 s (pass)",
        "3-cooperative": "session 10s, members 6: 3.00 s (pass)",
        "5-cooperative": "session 45s, members 6: it cannot be (error)",
    }
    # The budget line runs around the one cell that does not pass: above it and to its left.
    assert tree.count('class="budget"') == 2
    dots = re.findall(r'<circle[^>]*class="dot (\w+)', tree)
    assert sorted(dots) == ["fail"] * 3 + ["pass"] * 7
    assert tree.count('class="curve') == 2 and tree.count('class="bar"') == 2
    assert "rebalsim replay out --run 0-cooperative-1" in html_module.unescape(tree)


@pytest.mark.browser
def test_the_storm_map_has_three_colours(tmp_path: Path) -> None:
    tree, console = dom(render_html(replace(answer(), show="settles")), tmp_path)
    assert console == ""
    assert sorted(re.findall(r'<text[^>]*pointer-events="none"[^>]*>([^<]*)</text>', tree)) == [
        "at once"
    ] * 4 + ["never", "×"]


@pytest.mark.browser
def test_an_anchor_chooses_the_point_and_its_variant(tmp_path: Path) -> None:
    tree, console = dom(render_html(answer()), tmp_path, "#2-eager")
    assert console == ""
    assert "rebalsim replay out --run 2-eager-1" in html_module.unescape(tree)
    assert (
        'class="cell is-chosen"' in tree
        and 'data-key="2-eager"' in tree
        and "breaks longest_pause &lt;= 5s" in tree
    )


@pytest.mark.browser
def test_hostile_names_are_shown_as_they_are(tmp_path: Path) -> None:
    tree, console = dom(render_html(answer(HOSTILE, HOSTILE)), tmp_path)
    assert console == ""
    assert tree.count("<script") == 2 and "<img" not in tree
    assert html_module.escape(HOSTILE, quote=False) in tree


@pytest.mark.browser
def test_clicks_keys_and_choices_work_and_nothing_leaves_the_page(tmp_path: Path) -> None:
    from chromium import Chromium, Page

    file = tmp_path / "page.html"
    file.write_text(render_html(answer()), "utf-8")
    with Chromium(chromium()) as browser:
        page = Page(browser, file, 1180, 1600)

        def command() -> str:
            return str(page.run("document.querySelector('#replay').textContent"))

        assert command().endswith("--run 0-cooperative-1")
        page.click_on('rect[data-key="3-cooperative"]')
        assert (
            command().endswith("--run 3-cooperative-1")
            and page.run("location.hash") == "#3-cooperative"
        )
        page.click_on('circle[data-key="2-eager"]')
        assert command().endswith("--run 2-eager-1")
        assert page.run("document.querySelector('#heat-controls select:last-of-type') !== null")
        assert (
            page.run(
                "[...document.querySelectorAll('rect.is-chosen')].map((r) => r.dataset.key).join()"
            )
            == "2-eager"
        )
        page.run("document.querySelector('rect[data-key=\"0-eager\"]').focus()")
        page.key("Enter", "\r")
        assert command().endswith("--run 0-eager-1")
        page.run(
            "(() => { const s = document.querySelectorAll('#heat-controls select')[2]; s.value = "
            "'verdict'; s.dispatchEvent(new Event('change')); })()"
        )
        assert (
            page.run(
                "[...document.querySelectorAll('#heat svg text[pointer-events]')].map((t) => "
                "t.textContent).join()"
            )
            == "pass,fail,fail,pass,fail,×"
        )
        page.run(
            "(() => { const s = document.querySelectorAll('#heat-controls select')[0]; s.value = "
            "'1'; s.dispatchEvent(new Event('change')); })()"
        )
        assert page.run(
            "document.querySelectorAll('#heat svg rect').length"
        ) == 6 and "members" in page.run("document.querySelector('#heat svg').textContent")
        for width in (400, 1600):
            page.resize(width, 900)
            assert page.run("document.documentElement.scrollWidth") <= width
        assert page.complaints() == [] and len(page.requests()) == 1


def test_the_picture_has_a_panel_a_variant_and_the_line_between_what_meets_the_budgets_and_what_does_not() -> (
    None
):
    import xml.etree.ElementTree as ET

    picture = render_svg(answer(title=HOSTILE, label=HOSTILE))
    root = ET.fromstring(picture)
    space = {"s": "http://www.w3.org/2000/svg"}
    said = [t.text or "" for t in root.iterfind(".//s:rect/s:title", space)]
    assert (
        len(said) == 12
        and said[0] == f"session {HOSTILE}, members 3: 2.00 s (pass, point 0-cooperative)"
    )
    assert "session 45s, members 6: it cannot be (error, point 5-eager)" in said
    lines = [
        {k: line.get(k) for k in ("x1", "y1", "x2", "y2")}
        for line in root.iterfind(".//s:line", space)
    ]
    assert len(lines) == 4, (
        lines
    )  # cooperative: two edges of the point that cannot be; eager: under 5 s and above, twice
    assert "<script" not in picture and "<img" not in picture
    texts = [t.text for t in root.iterfind(".//s:text", space)]
    assert {
        "cooperative",
        "eager",
        "longest pause (worst seed)",
        "the red line parts what meets all budgets from what does not",
    } <= set(texts)


def test_the_picture_takes_the_other_axes_from_the_best_and_colours_words() -> None:
    base = answer()
    three = replace(
        base,
        axes=(
            *base.axes,
            AxisSaid(
                "batch", "number", "group.config.max.poll.records", ("50", "500"), (50.0, 500.0)
            ),
        ),
        show="settles",
        best=tuple(
            replace(p, at={**p.at, "batch": "500"}, digits={**p.digits, "batch": 1})
            for p in base.best
        ),
        shown=tuple(
            replace(
                p, at={**p.at, "batch": b}, digits={**p.digits, "batch": i}, number=2 * p.number + i
            )
            for p in base.shown
            for i, b in enumerate(("50", "500"))
        ),
    )
    picture = render_svg(three)
    assert (
        "with batch 500" in picture
        and "point 1-cooperative" in picture
        and "point 0-cooperative" not in picture
    )
    assert picture.count('fill="#1a7f4b"') == 8 and picture.count('fill="#b3261e"') == 2
    nothing = render_svg(replace(base, axes=(), heat=()))
    assert "A heat map needs an axis with listed values." in nothing


def test_a_metric_has_one_title_on_every_page() -> None:
    data = re.search(r'id="data">(.*?)</script>', render_html(answer()), re.DOTALL)
    assert data is not None
    told = json.loads(data[1])["titles"]
    assert told and all(title == figures.title_of(name) for name, title in told.items())
    assert any(title != name.replace("_", " ") for name, title in told.items())


def test_a_page_has_no_panel_without_content_and_the_cheaper_one_is_held_against_the_first() -> (
    None
):
    whole = render_html(answer())
    assert all(f'id="{name}"' in whole for name in ("pareto", "curves", "tornado"))
    bare = replace(answer(), objectives=("cost",), seeds=1, tornado=())
    page = render_html(bare)
    assert not any(f'id="{name}"' in page for name in ("pareto", "curves", "tornado"))
    assert "The next cheaper one (73 EUR instead of 219 EUR a month) breaks" in terminal(80)
    assert "The next cheaper one (73 EUR instead of 219 EUR a month), " in whole


def test_what_is_not_paid_for_is_better_and_not_cheaper() -> None:
    page = render_html(replace(answer(), objectives=("longest_pause", "cost")))
    assert "The next better one (longest_pause " in page and "cheaper" not in page
