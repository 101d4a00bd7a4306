"""The answer first: at most four lines of a terminal that say which variant to take, what all of
them share, what decides between them, and how sure that is.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest
from told import story

from rebalsim.domain.remedy import Patch, Remedy, Turn
from rebalsim.domain.verdict import Outcome
from rebalsim.one_run import run_once
from rebalsim.reports import to_html, to_json, to_markdown, to_terminal
from rebalsim.reports.answer_told import MOST_LINES, WIDTH, tell_answer_first, tell_decisive
from rebalsim.reports.fitting import fitting, height
from rebalsim.reports.report import BudgetResult, BySeed, Report, Spread, VariantReport
from rebalsim.reports.view import View
from rebalsim.scenario.load import load_scenario

STORIES = sorted((Path(__file__).parents[2] / "scenarios").glob("*.yaml"))
TOO_LONG = BudgetResult("longest_pause <= 10ms", "", Outcome.FAIL, "23 ms")


def test_the_order_decides_where_no_budget_does() -> None:
    report = story("scale-out")
    first, *others = tell_answer_first(report)
    assert first == "Take eager: longest pause 23 ms (cooperative 3.01 s)."
    assert others[0].startswith("They differ most in c2's joining (scale-1): under cooperative")


def test_budgets_come_before_the_order() -> None:
    broken = replace(TOO_LONG, text="partitions_touched <= 1", variant="eager")
    report = replace(story("scale-out"), budgets=(broken,))
    assert tell_answer_first(report)[0] == (
        "Take cooperative: no budget is broken; eager breaks partitions_touched <= 1."
    )


def test_a_warning_decides_nothing() -> None:
    broken = replace(TOO_LONG, text="rebalances <= 0", variant="eager", level="warn")
    assert "Take eager" in tell_answer_first(replace(story("scale-out"), budgets=(broken,)))[0]


def test_a_tried_change_that_keeps_all_budgets_is_the_answer_where_none_is_kept() -> None:
    report = story("scale-out")
    patch = Patch((Turn("heartbeat.interval.ms", "3s", "1s"),), (("p", "1s"),))
    remedy = Remedy(
        "cooperative",
        patch,
        {"longest_pause": 3e6},
        {"longest_pause": 9e3},
        tuple(range(20)),
        ("longest_pause",),
        keeps_budgets=True,
    )
    eager, cooperative = report.variants
    cured = replace(
        report,
        variants=(eager, replace(cooperative, remedies=(remedy,))),
        budgets=(TOO_LONG,),
    )
    first, second = tell_answer_first(cured)
    assert first == (
        "Take cooperative with heartbeat.interval.ms 3s → 1s: longest pause 3.00 s → 9 ms, all "
        "budgets kept under each of 20 seeds."
    )
    assert second == "As it is, both break longest_pause <= 10ms."


def test_what_all_variants_share_is_told_with_what_most_of_it_was() -> None:
    said = tell_answer_first(story("troubles"))
    assert "Both share c2's stuck handler (hang-2): 20.0 s of 20.1 s stuck." in said


def test_where_the_shared_pause_is_longer_in_one_it_is_told_in_which() -> None:
    report = story("troubles")
    first, second = report.variants
    longest = max(second.analysis.pauses, key=lambda p: p.length_us)
    shorter = replace(longest, ended_us=longest.started_us + longest.length_us * 2 // 3)
    others = tuple(p for p in second.analysis.pauses if p.length_us < shorter.length_us)
    quicker = copy(second.analysis)
    quicker.pauses = (*others, shorter)
    said = tell_answer_first(replace(report, variants=(first, replace(second, analysis=quicker))))
    assert any(f"of 20.1 s stuck under {first.name}." in line for line in said)


def test_it_does_not_matter_here_is_an_answer() -> None:
    one = story("scale-out").variants[0]
    same = Report("t", (one, replace(one, name="other")))
    assert tell_answer_first(same)[0] == (
        "Which variant you take does not matter here: longest pause 23 ms in both."
    )


def test_how_sure_it_is_over_seeds() -> None:
    report = story("scale-out")

    def over(*values: float) -> BySeed:
        return BySeed(tuple(range(len(values))), {"longest_pause": values})

    eager, cooperative = report.variants
    for mine, others, told in (
        ((1.0, 1.0), (2.0, 2.0), "The same under each of 2 seeds."),
        ((1.0, 3.0), (2.0, 2.0), "The same under 1 of 2 seeds: chance decides as much."),
    ):
        sampled = (replace(eager, by_seed=over(*mine)), replace(cooperative, by_seed=over(*others)))
        assert tell_answer_first(replace(report, variants=sampled))[0].endswith(told)


@pytest.mark.slow
def test_that_it_does_not_matter_is_held_against_the_seeds_as_well() -> None:
    one = story("scale-out").variants[0]

    def told(*values: float) -> str:
        seeds = tuple(range(len(values)))
        other = replace(one, name="other", by_seed=BySeed(seeds, {"longest_pause": values}))
        first = replace(one, by_seed=BySeed(seeds, {"longest_pause": (1e6,) * len(values)}))
        return tell_answer_first(Report("t", (first, other)))[0]

    assert told(1e6, 1e6).endswith("23 ms in both. The same under each of 2 seeds.")
    assert told(1e6, 3e6).endswith("The same under 1 of 2 seeds: chance decides as much.")


def test_what_the_budgets_decide_says_over_how_many_seeds_they_were_judged() -> None:
    broken = replace(TOO_LONG, variant="eager", runs=20)
    told = tell_answer_first(replace(story("scale-out"), budgets=(broken,)))[0]
    assert told == (
        "Take cooperative: no budget is broken; eager breaks longest_pause <= 10ms. Judged over "
        "20 seeds."
    )


@pytest.mark.parametrize("path", STORIES, ids=lambda path: path.stem)
def test_every_stock_story_has_an_answer_of_at_most_four_lines(path: Path) -> None:
    played = load_scenario(path)
    variants = tuple(
        VariantReport(name, run_once(played.scenario(name)).analysis) for name in played.variants
    )
    lines = tell_answer_first(Report(played.title, variants))
    assert lines
    assert height(lines, WIDTH) <= MOST_LINES
    assert all(line.endswith(".") and "None" not in line for line in lines)


def test_every_form_begins_with_it() -> None:
    report = story("scale-out")
    first = tell_answer_first(report)[0]
    assert to_terminal.render(report, View(width=100)).splitlines()[2] == first
    page = to_html.render(report).replace("\u00a0", " ")
    assert page.index(first) < page.index('id="timelines"')
    assert to_markdown.render(report).splitlines()[2] == f"- {first}"
    assert to_json.document_of(report)["answer"][0] == first


def test_a_variant_that_is_alike_in_the_first_metric_is_told_apart_by_the_next() -> None:
    """`longest pause 32.0 s, cooperative 32.0 s` told nobody why the one was taken."""
    report = story("scale-out")
    eager, cooperative = report.variants
    spread = {
        name: {"longest_pause": one_value(32e6), "partition_seconds": one_value(seconds * 1e6)}
        for name, seconds in (("eager", 83), ("cooperative", 99))
    }
    alike = replace(
        report,
        variants=tuple(replace(v, spread=spread[v.name]) for v in (eager, cooperative)),
    )
    assert tell_answer_first(alike)[0] == (
        "Take eager: partition-seconds 83.0 s (cooperative 99.0 s)."
    )


def one_value(value: float) -> Spread:
    return Spread(value, value, value, value, 5, 5)


def test_what_has_no_room_above_the_picture_is_told_below_it() -> None:
    report = story("scale-out")
    long = tuple(replace(v, name=f"{v.name}-{'x' * 60}") for v in report.variants)
    named = replace(report, variants=long)
    assert height(tell_answer_first(named), WIDTH) <= MOST_LINES
    assert tell_decisive(named) not in tell_answer_first(named)
    shown = " ".join(to_terminal.render(named, View(width=WIDTH)).split())
    assert " ".join(tell_decisive(named).split()) in shown
    assert tell_decisive(report) == ""  # it stands above it already


def test_later_sentences_are_shortened_first_and_none_is_left_out_that_could_be_shorter() -> None:
    first, second = ["a" * 60 + " a", "a"], ["b" * 60 + " b " + "b" * 60, "b" * 30, ""]
    assert fitting([first, second], 80, 3) == [first[0], second[0]]
    assert fitting([first, second], 80, 2) == [first[0], second[1]]
    assert fitting([first, second], 80, 1) == [first[0]]
    (cut,) = fitting([["c" * 500]], 80, 1)
    assert cut.endswith("…")
    assert height([cut], 80) == 1


def test_where_a_change_keeps_all_budgets_the_others_are_told_with_what_helps_them() -> None:
    """On the first screen stands what to change in every variant."""
    report = story("scale-out")
    eager, cooperative = report.variants
    beat = Turn("heartbeat.interval.ms", "3s", "1s")
    session = Turn("session.timeout.ms", "45s", "10s")

    def helped(name: str, after_us: float, cost: float, *turns: Turn) -> Remedy:
        before, after = {"longest_pause": 3e6}, {"longest_pause": after_us}
        gains, seeds = ("longest_pause",), tuple(range(20))
        patch = Patch(turns, tuple((t.setting, t.after) for t in turns))
        return Remedy(name, patch, before, after, seeds, gains, keeps_budgets=True, cost=cost)

    third = replace(eager, name="third", remedies=(helped("third", 8e3, 3.5, beat),))
    cured = replace(
        report,
        variants=(
            replace(eager, remedies=(helped("eager", 7e3, 5.0, beat, session),)),
            replace(cooperative, remedies=(helped("cooperative", 9e3, 1.5, beat),)),
            third,
        ),
        budgets=(TOO_LONG,),
    )
    first, others = tell_answer_first(cured)
    assert first.startswith("Take cooperative with heartbeat.interval.ms 3s → 1s: ")
    assert others == (
        "The others' longest pause with session.timeout.ms 45s → 10s too: eager 7 ms; with the "
        "same change: third 8 ms."
    )
