"""The page in a real headless Chromium: what is drawn equals the analysis, zoom and click work,
nothing leaves the page, nothing complains.
"""

from __future__ import annotations

import json
import os
import random
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import trace
from chromium import Chromium, Page, find_chromium
from told import bounced, hostile, one, story

from rebalsim.reports import to_html
from rebalsim.reports.page_data import KINDS
from rebalsim.reports.palette import LOOKS
from rebalsim.reports.report import Report
from rebalsim.reports.sentences import Together, tell
from rebalsim.words.times import say_duration, say_instant

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Chromium]:
    binary = find_chromium()
    if binary is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(
                "CI=true, and no Chromium: the page's tests must run there (.ci/run installs one)"
            )
        pytest.skip(
            "NO CHROMIUM HERE: the page was NOT tried in a browser. `apt-get install chromium` "
            "and run again."
        )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with Chromium(binary) as running:
            yield running


def opened(browser: Chromium, folder: Path, report: Report, **options: Any) -> Page:
    path = folder / "page.html"
    path.write_text(to_html.render(report), encoding="utf-8")
    return Page(browser, path, **options)


@pytest.fixture(scope="module")
def troubles(browser: Chromium, tmp_path_factory: pytest.TempPathFactory) -> Page:
    return opened(browser, tmp_path_factory.mktemp("troubles"), story("troubles"))


def reset(page: Page) -> None:
    page.run(
        "document.getElementById('zoom-all').click(); document.getElementById('filter').value = "
        "''; "
        "document.getElementById('filter').dispatchEvent(new Event('input')); window.scrollTo(0, 0)"
    )


LENGTH = (
    "((p) => { let sum = 0; for (let k = 1; k < p[6].length; k += 3) sum += p[6][k]; return sum; })"
)


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def pixel(page: Page, place: int, x: float, y: float) -> list[int]:
    found: list[int] = page.run(
        f"Array.from(rebalsim.timelines[{place}].context.getImageData({round(x)}, {round(y)}, 1, "
        "1).data).slice(0, 3)"
    )
    return found


def test_nothing_leaves_the_page_and_nothing_complains(troubles: Page) -> None:
    assert troubles.complaints() == []
    assert [url for url in troubles.requests() if not url.startswith("file://")] == [] and len(
        troubles.requests()
    ) == 1


def test_what_is_drawn_equals_the_analysis(troubles: Page) -> None:
    """In the middle of every phase wide enough to see, the canvas has that phase's colour; where
    nothing paused it has the consuming one.
    """
    reset(troubles)
    troubles.run("rebalsim.view.isFolded && document.getElementById('fold').click()")
    compared = 0
    for place, variant in enumerate(story("troubles").variants):
        rows = troubles.run(f"rebalsim.timelines[{place}].rows.map(r => r[0])")
        for row, lane in enumerate(rows):
            expected = variant.analysis.lanes[lane]
            y = troubles.run(f"rebalsim.timelines[{place}].y({row})")
            for segment in expected.segments:
                left, right = (
                    troubles.run(f"rebalsim.timelines[{place}].x({at})")
                    for at in (segment.started_us, segment.ended_us)
                )
                if right - left < 24 or segment.what == "unowned":
                    continue
                drawn = pixel(
                    troubles, place, right - 3, y + 11 - (7 if segment.what == "paused" else 3)
                )
                if segment.what == "paused":
                    assert segment.phase is not None
                    assert drawn == rgb(LOOKS[segment.phase].light), (expected.partition, segment)
                else:
                    assert drawn in ([0x7F, 0xB5, 0x8F], [0xA5, 0xCD, 0xB0]), (
                        expected.partition,
                        segment,
                        drawn,
                    )
                compared += 1
    troubles.run("document.getElementById('fold').click()")
    assert compared > 40


def test_a_short_pause_is_still_seen(troubles: Page) -> None:
    reset(troubles)
    short = troubles.run(
        "(() => { const t = rebalsim.timelines[0]; for (const [row, members] of "
        "t.rows.entries()) for (const i of t.variant.lanes[members[0]][3]) {"
        f" const p = t.variant.pauses[i]; if ({LENGTH}(p) < 300000) return [t.x(p[0]), "
        f"t.y(row)]; }} }})()"
    )
    assert short is not None
    kinds = [rgb(LOOKS[kind].light) for kind in KINDS]
    assert pixel(troubles, 0, short[0] + 1, short[1] + 4) in kinds


def where(page: Page, place: int, row: int, pause: int = 0) -> tuple[float, float]:
    """The middle of a pause on the screen."""
    found = page.run(
        f"(() => {{ const t = rebalsim.timelines[{place}], i = "
        f"t.variant.lanes[t.rows[{row}][0]][3][{pause}], p = t.variant.pauses[i];"
        " t.frame.scrollIntoView({block: 'center'}); const b = t.canvas.getBoundingClientRect();"
        f" return [b.x + t.x(p[0] + {LENGTH}(p) / 2), b.y + t.y({row}) + 11]; }})()"
    )
    return found[0], found[1]


def longest_row(page: Page, place: int) -> tuple[int, int]:
    """The row and the place in it of the longest pause."""
    row, pause = page.run(
        f"(() => {{ const t = rebalsim.timelines[{place}]; let best = [0, 0, -1]; "
        f"t.rows.forEach((m, row) => t.variant.lanes[m[0]][3].forEach((i, n) => {{"
        f" const sum = {LENGTH}(t.variant.pauses[i]); if (sum > best[2]) best = [row, n, sum]; "
        f"}}));"
        " return best.slice(0, 2); })()"
    )
    return row, pause


def test_hover_tells_who_which_phase_and_why(troubles: Page) -> None:
    reset(troubles)
    row, pause = longest_row(troubles, 0)
    x, y = where(troubles, 0, row, pause)
    troubles.mouse("mouseMoved", x, y)
    tip = troubles.run(
        "document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent"
    )
    assert "stuck for 20.1 s: while c2's handler was stuck" in tip and "orders-4" in tip
    troubles.mouse("mouseMoved", 2, 2)


def test_a_click_tells_the_chain(troubles: Page) -> None:
    reset(troubles)
    row, pause = longest_row(troubles, 0)
    troubles.click(*where(troubles, 0, row, pause))
    told = troubles.run(
        "document.getElementById('pause').hidden ? '' : document.getElementById('pause').innerText"
    )
    assert "stood still for 20.1 s when c2's handler got stuck (hang-2)" in told
    longest = max(story("troubles").variants[0].analysis.pauses, key=lambda p: p.length_us)
    cells = troubles.run(
        "Array.from(document.querySelector('#pause table').querySelectorAll('tbody "
        "td:first-child')).map(c => c.textContent)"
    )
    assert cells == [phase.kind.value for phase in longest.phases]
    assert (
        "rebalsim explain troubles.yaml --partition orders-4 --at "
        f"{longest.started_us / 1e6:.6f}s --variant eager" in told
    )
    assert (
        "the handler of c2 hangs for 30s" in told
        and "max.poll.interval.ms ran out, last poll at" in told
    )
    numbers = troubles.run(
        "Array.from(document.querySelectorAll('#pause details td:last-child')).map(c => "
        "Number(c.textContent.slice(1)))"
    )
    assert numbers == sorted({*longest.cause.evidence, longest.end_event})


def test_buttons_wheel_and_drag_zoom_and_pan(troubles: Page) -> None:
    reset(troubles)
    whole = troubles.run("[rebalsim.view.from, rebalsim.view.until]")
    troubles.click_on("#zoom-in")
    near = troubles.run("[rebalsim.view.from, rebalsim.view.until]")
    assert near[1] - near[0] == pytest.approx((whole[1] - whole[0]) / 2)
    box = troubles.box("#frame-0 canvas")
    x, y = box["x"] + box["width"] * 0.6, box["y"] + box["height"] - 12
    troubles.mouse("mousePressed", x, y, button="left", clickCount=1)
    troubles.mouse("mouseMoved", x - 120, y, button="left", buttons=1)
    troubles.mouse("mouseReleased", x - 120, y, button="left", clickCount=1)
    panned = troubles.run("[rebalsim.view.from, rebalsim.view.until]")
    assert panned[0] > near[0] and panned[1] - panned[0] == pytest.approx(near[1] - near[0])
    troubles.mouse("mouseWheel", x, y, deltaX=0, deltaY=-100, modifiers=2)
    closer = troubles.run("[rebalsim.view.from, rebalsim.view.until]")
    assert closer[1] - closer[0] < panned[1] - panned[0]
    troubles.click_on("#zoom-all")
    assert troubles.run("[rebalsim.view.from, rebalsim.view.until]") == whole


def test_zoomed_in_the_picture_is_still_right(troubles: Page) -> None:
    reset(troubles)
    longest = max(story("troubles").variants[1].analysis.pauses, key=lambda p: p.length_us)
    row, pause = longest_row(troubles, 1)
    troubles.click(*where(troubles, 1, row, pause))
    troubles.run("rebalsim.timelines[1].canvas.focus()")
    for _ in range(4):
        troubles.key("+", "+")
    window = troubles.run("[rebalsim.view.from, rebalsim.view.until]")
    assert (
        window[1] - window[0] < 12_000_000
        and window[0] < longest.started_us + longest.length_us / 2 < window[1]
    )
    y = troubles.run(f"rebalsim.timelines[1].y({row})")
    assert pixel(troubles, 1, 700, y + 4) == rgb(LOOKS[longest.phases[0].kind].light)
    troubles.key("0", "0")
    assert troubles.run("rebalsim.view.until - rebalsim.view.from") == troubles.run(
        "rebalsim.data.horizon"
    )


def test_the_keyboard_walks_rows_and_pauses(troubles: Page) -> None:
    reset(troubles)
    troubles.run(
        "rebalsim.timelines[0].canvas.focus(); rebalsim.timelines[0].row = 0; "
        "rebalsim.timelines[0].chosen = null"
    )
    troubles.key("ArrowDown")
    said = troubles.run("document.getElementById('said').textContent")
    assert said.startswith("orders-") and "pauses" in said
    troubles.key("ArrowRight")
    assert "stood still for" in troubles.run("document.getElementById('said').textContent")
    first = troubles.run("rebalsim.timelines[0].chosen.pause")
    troubles.key("ArrowRight")
    assert troubles.run("rebalsim.timelines[0].chosen.pause") != first
    troubles.key("ArrowLeft")
    assert troubles.run("rebalsim.timelines[0].chosen.pause") == first


def test_tables_say_what_the_pictures_show(troubles: Page) -> None:
    for place, variant in enumerate(story("troubles").variants):
        troubles.run(f"document.getElementById('details-{place}').open = true")
        troubles.run("new Promise(done => setTimeout(done, 50))")
        rows = troubles.run(f"document.querySelectorAll('#table-{place} tbody tr').length")
        quiet = sum(not lane.pauses for lane in variant.analysis.lanes)
        assert rows == len(variant.analysis.pauses) + quiet


def test_folding_and_finding(troubles: Page) -> None:
    reset(troubles)
    folded = troubles.run("rebalsim.timelines.map(t => t.rows.length)")
    troubles.click_on("#fold")
    assert troubles.run("rebalsim.timelines.map(t => t.rows.length)") == [8, 8] and sum(folded) < 16
    troubles.run(
        "document.getElementById('filter').value = 'ers-7'; "
        "document.getElementById('filter').dispatchEvent(new Event('input'))"
    )
    assert troubles.run("rebalsim.timelines.map(t => t.rows.length)") == [1, 1]
    troubles.click_on("#fold")
    reset(troubles)


def test_the_page_says_times_as_all_reports_do(troubles: Page) -> None:
    chance = random.Random(11)
    values = [
        0,
        1,
        999,
        1_000,
        1_500,
        9_950,
        10_500,
        11_500,
        999_499,
        1_125_000,
        1_115_000,
        9_995_000,
        59_950_000,
        60_000_000,
        3_599_500_000,
        7_230_000_000,
    ]
    values += [chance.randrange(10 ** chance.randint(1, 11)) for _ in range(3_000)] + [
        chance.randrange(10**5) * 500 for _ in range(3_000)
    ]
    assert troubles.run(f"{values}.map(rebalsim.duration)") == [say_duration(us) for us in values]
    for step in (1, 1_000, 1_000_000):
        wanted = [
            us // 1_000_000 * 1_000_000 if step == 1_000_000 else us // step * step for us in values
        ]
        assert troubles.run(f"{wanted}.map(us => rebalsim.instant(us, {step}))") == [
            say_instant(us, step) for us in wanted
        ]


def test_the_page_says_of_a_pause_what_the_terminal_says(troubles: Page) -> None:
    for place, variant in enumerate(story("troubles").variants):
        told = troubles.run(
            f"(() => {{ const v = rebalsim.data.variants[{place}]; return v.lanes.flatMap(l => "
            "l[3].map(i => "
            "rebalsim.sentence(rebalsim.data.texts[l[0]], v.pauses[i]))); })()"
        )
        assert told == [
            tell(Together((pause,))) for lane in variant.analysis.lanes for pause in lane.pauses
        ]


def test_an_open_pause_is_told_as_one(browser: Chromium, tmp_path: Path) -> None:
    report = one(trace("c0+p0@0 c0!@40", until=60))
    page = opened(browser, tmp_path, report)
    said = page.run("rebalsim.sentence('t-0', rebalsim.data.variants[0].pauses[0])")
    assert said == tell(Together((report.variants[0].analysis.pauses[0],))) and "still does" in said
    page.close()


@pytest.mark.parametrize("width", [400, 1600])
@pytest.mark.parametrize("is_dark", [False, True])
def test_both_themes_and_widths(
    browser: Chromium, tmp_path: Path, width: int, is_dark: bool
) -> None:
    page = opened(browser, tmp_path, story("troubles"), width=width, is_dark=is_dark)
    back = page.run("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(20, 23, 27)" if is_dark else "rgb(255, 255, 255)")
    assert page.run("document.documentElement.scrollWidth") <= width
    page.click_on("#theme")
    assert page.run("getComputedStyle(document.body).backgroundColor") != back
    assert page.complaints() == []
    page.close()


def test_hostile_names_stay_text(browser: Chromium, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, hostile())
    page.click(*where(page, 0, 0))
    told = page.run("document.body.innerText")
    assert (
        "<script>alert(1)</script>" in told
        and page.run("document.querySelectorAll('script').length") == 2
    )
    assert page.complaints() == [] and len(page.requests()) == 1
    page.close()


def test_two_thousand_partitions_are_there_within_a_second(
    browser: Chromium, tmp_path: Path
) -> None:
    page = opened(browser, tmp_path, one(bounced(2_000, 20, 2, shift_us=10)))
    drawn = page.run(
        "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => "
        "done(performance.now()))))"
    )
    assert drawn < 1_000, f"first paint after {drawn:.0f} ms"
    page.click_on("#fold")
    assert page.run("rebalsim.timelines[0].rows.length") == 2_000
    page.run("rebalsim.timelines[0].frame.scrollTop = 20000")
    spent = page.run(
        "(() => { const begun = performance.now(), t = rebalsim.timelines[0]; t.layout(); "
        "t.draw(); return performance.now() - begun; })()"
    )
    assert spent < 100, f"a frame takes {spent:.0f} ms"
    assert page.complaints() == []
    page.close()


def test_print_is_light_and_whole(browser: Chromium, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, story("troubles"), is_dark=True)
    pdf = page.call("Page.printToPDF", printBackground=True)["data"]
    assert len(pdf) > 20_000
    assert page.run("document.documentElement.dataset.theme || ''") == ""
    assert page.complaints() == []
    page.close()


def test_without_a_script_the_page_still_reads(browser: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        to_html.render(story("troubles")).replace("script-src 'sha256-", "script-src 'sha256-no"),
        encoding="utf-8",
    )
    page = Page(browser, path)
    assert page.run("document.documentElement.dataset.script || ''") == ""
    text = page.run("document.body.innerText")
    assert "━" in text and "What stood still longest" in text
    assert (
        json.loads(page.run("JSON.stringify(document.querySelector('.needs-script').hidden)"))
        is True
    )
    page.close()


BOXES = (
    "['#frame-0', '#frame-1', '#pause'].map(name => "
    "document.querySelector(name).getBoundingClientRect()).map(b => "
    "({left: b.left, right: b.right, top: b.top, bottom: b.bottom}))"
)


@pytest.mark.parametrize("is_dark", [False, True])
def test_the_panel_of_a_pause_opens_beside_it(
    browser: Chromium, tmp_path: Path, is_dark: bool
) -> None:
    """In sight with what was clicked, and all timelines keep one scale; Escape gives the room back."""
    page = opened(browser, tmp_path, story("troubles"), width=1600, is_dark=is_dark)
    row, pause = longest_row(page, 1)
    x, y = where(page, 1, row, pause)
    clicked = (
        f"rebalsim.timelines[1].frame.getBoundingClientRect().top + rebalsim.timelines[1].y({row})"
    )
    before = page.run(clicked)
    page.click(x, y)
    first, second, panel = page.run(BOXES)
    assert panel["left"] >= second["right"] and panel["top"] < y < panel["bottom"]
    assert (first["left"], first["right"]) == (second["left"], second["right"])
    assert page.run(clicked) == pytest.approx(before, abs=2)  # it has not moved away
    assert page.run("document.documentElement.scrollWidth") <= 1600
    page.run("rebalsim.timelines[1].canvas.focus()")
    page.key("Escape")
    assert page.run("document.getElementById('pause').hidden")
    assert page.run(BOXES)[1]["right"] > panel["left"]


def test_on_a_narrow_window_the_panel_opens_right_below(browser: Chromium, tmp_path: Path) -> None:
    page = opened(browser, tmp_path, story("troubles"), width=1600)
    row, pause = longest_row(page, 0)
    page.click(*where(page, 0, row, pause))
    page.resize(900, 1000)
    page.run("new Promise(told => requestAnimationFrame(() => requestAnimationFrame(told)))")
    first, second, panel = page.run(BOXES)
    assert first["bottom"] <= panel["top"] < panel["bottom"] <= second["top"]
    page.click_on("#pause .close")
    assert page.run("document.getElementById('pause').hidden")
