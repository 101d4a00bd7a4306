"""A check's forms: JUnit read back by junitparser, GitHub's commands with their escaping and
limits, GitLab, JSON, Markdown, the page, the terminal.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from junitparser import Error, Failure, JUnitXml, Properties, TestSuite
from told import HOSTILE

from rebalsim.analysis.baseline import Change
from rebalsim.domain.errors import Problem
from rebalsim.domain.verdict import Outcome
from rebalsim.outside.text import no_orders
from rebalsim.reports import (
    check_to_html,
    check_to_json,
    check_to_markdown,
    check_to_terminal,
    to_github,
    to_gitlab,
    to_junit,
)
from rebalsim.reports.check_report import Checked, CheckReport, Comparison, Flip, StoryChecked
from rebalsim.reports.view import View

KEPT = Checked(
    "longest_pause <= 40s",
    "eager",
    Outcome.PASS,
    file="a/deploy.yaml",
    line=19,
    column=3,
    metric="longest_pause",
    op="<=",
    observed=35e6,
    limit=40e6,
    said="35.0 s",
    headroom=0.125,
    seed=1,
    again="rebalsim run a/deploy.yaml",
)
BROKEN = Checked(
    "rebalances == 0",
    "eager",
    Outcome.FAIL,
    file="a/deploy.yaml",
    line=20,
    column=3,
    metric="rebalances",
    op="==",
    observed=9,
    limit=0,
    said="9",
    because="orders-1 stood still for 22.1 s when c1 left: 20.0 s, 50 % of it unseen.",
    hint="Lengthen session.timeout.ms.",
    seed=1,
    broken=1,
    again="rebalsim run a/deploy.yaml --variant eager --seed 1",
)
OPEN = Checked(
    "lag_peak <= 10",
    "cooperative",
    Outcome.INCONCLUSIVE,
    file="a/deploy.yaml",
    line=21,
    metric="lag_peak",
    op="<=",
    observed=5,
    limit=10,
    said="5",
    open_pauses=2,
    seed=1,
)
WARNED = Checked(
    "duplicates <= 1",
    "cooperative",
    Outcome.FAIL,
    "warn",
    "a/deploy.yaml",
    22,
    3,
    "duplicates",
    "<=",
    3,
    1,
    "3",
    headroom=-2.0,
    seed=1,
)
FACT = Checked(
    "at 41s: orders-3 owned by c2",
    "eager",
    Outcome.FAIL,
    file="a/deploy.yaml",
    line=24,
    column=5,
    observed=0,
    said="at 41.0 s c1 owned it",
    seed=1,
)
STORY = StoryChecked(
    "a/deploy.yaml", "Rolling deploy", (KEPT, BROKEN, OPEN, WARNED, FACT), runs=2, seconds=0.5
)
WRONG = StoryChecked(
    "b.yaml",
    problems=(Problem("b.yaml", 3, 5, "'2' has no unit — write 2s", "  at: 2"),),
    has_budgets=True,
)
BUG = StoryChecked("c.yaml", bug="eager, seed 7: KeyError: 1")
ALL = CheckReport((STORY, WRONG, BUG), "0.1.0")


def hostile() -> CheckReport:
    """Every name that a file can bring is hostile text."""
    one = Checked(
        HOSTILE,
        HOSTILE,
        Outcome.FAIL,
        file=HOSTILE,
        line=1,
        column=1,
        metric="rebalances",
        op="<=",
        observed=2,
        limit=1,
        said=HOSTILE,
        because=HOSTILE,
        hint=HOSTILE,
        again=HOSTILE,
    )
    story = StoryChecked(
        HOSTILE,
        HOSTILE,
        (one,),
        (Problem(HOSTILE, 1, 1, HOSTILE, HOSTILE),),
        HOSTILE,
        notes=(HOSTILE,),
    )
    change = Change(HOSTILE, HOSTILE, "rebalances", 1, 2, "regressed", 1.0)
    return CheckReport(
        (story,),
        "0",
        Comparison(HOSTILE, (change,), {(HOSTILE, HOSTILE): HOSTILE}, 0.0, (HOSTILE,), HOSTILE),
        (Flip(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE, Outcome.PASS, Outcome.FAIL, 1),),
        (HOSTILE,),
        (HOSTILE,),
        problems=(HOSTILE,),
    )


# -------------------------------------------------------------------------------------------- JUnit


def read_back(report: CheckReport, tmp_path: Path) -> JUnitXml:
    path = tmp_path / "junit.xml"
    path.write_text(to_junit.render(report), encoding="utf-8")
    return JUnitXml.fromfile(str(path))


def test_junit_has_a_case_a_budget_and_reads_back(tmp_path: Path) -> None:
    xml = read_back(ALL, tmp_path)
    suites = [suite for suite in xml if isinstance(suite, TestSuite)]
    assert [(s.name, s.tests, s.failures, s.errors) for s in suites] == [
        ("a/deploy.yaml", 5, 2, 1),
        ("b.yaml", 1, 0, 1),
        ("c.yaml", 1, 0, 1),
    ]
    assert (xml.tests, xml.failures, xml.errors) == (7, 2, 3)
    cases = {case.name: case for suite in suites for case in suite}
    kept, broken, undecided = (
        cases["eager: longest_pause <= 40s"],
        cases["eager: rebalances == 0"],
        cases["cooperative: lag_peak <= 10"],
    )
    assert kept.is_passed and kept.classname == "a.deploy"
    assert (
        kept.child(Properties) is not None
        and {p.name: p.value for p in kept.child(Properties)}["observed"] == "35.0 s"
    )
    (failure,) = broken.result
    assert (
        isinstance(failure, Failure)
        and failure.message == "rebalances == 0: 9"
        and failure.type == "broken"
    )
    assert (
        "stood still for 22.1 s" in failure.text
        and "at a/deploy.yaml:20" in failure.text
        and "again: rebalsim run" in failure.text
    )
    assert [type(r) for r in undecided.result] == [Error] and undecided.result[
        0
    ].type == "undecided"
    assert (
        cases["cooperative: duplicates <= 1"].is_passed
        and "warning: duplicates <= 1: 3" in cases["cooperative: duplicates <= 1"].system_out
    )
    assert cases["eager: at 41s: orders-3 owned by c2"].result[0].message == "at 41.0 s c1 owned it"


def test_junit_points_at_the_budgets_line() -> None:
    found = {
        case.get("name"): (case.get("file"), case.get("line"))
        for case in ET.fromstring(to_junit.render(ALL)).iter("testcase")
    }
    assert found["eager: rebalances == 0"] == ("a/deploy.yaml", "20") and found["scenario"] in (
        ("b.yaml", "3"),
        ("c.yaml", None),
    )


def test_junit_of_hostile_names_is_xml_and_reads_back(tmp_path: Path) -> None:
    xml = read_back(hostile(), tmp_path)
    assert xml.failures == 1 and xml.errors == 2
    assert "\x1b" not in to_junit.render(hostile()) and "\u202e" not in to_junit.render(hostile())


def test_the_counts_are_those_of_the_cases() -> None:
    root = ET.fromstring(to_junit.render(ALL))
    for suite in root:
        assert int(suite.get("tests", "0")) == len(list(suite.iter("testcase")))
        assert int(suite.get("failures", "0")) == len(list(suite.iter("failure"))) and int(
            suite.get("errors", "0")
        ) == len(list(suite.iter("error")))


# ------------------------------------------------------------------------------------------- GitHub


def commands(report: CheckReport) -> list[tuple[str, dict[str, str], str]]:
    """Read as GitHub's runner reads them: level, properties, message, all unescaped."""
    found = []
    for line in to_github.render(report).splitlines():
        match = re.fullmatch(r"::(error|warning)(?: ([^:]*))?::(.*)", line)
        assert match is not None, line
        properties = dict(p.split("=", 1) for p in (match[2] or "").split(",") if p)
        found.append(
            (
                match[1],
                {k: _unescaped(v, ":,") for k, v in properties.items()},
                _unescaped(match[3], ""),
            )
        )
    return found


def _unescaped(text: str, more: str) -> str:
    for c in f"{more}\r\n":
        text = text.replace(f"%{ord(c):02X}", c)
    return text.replace("%25", "%")


def test_github_is_told_of_each_broken_budget_on_its_line() -> None:
    found = commands(ALL)
    level, properties, message = next(f for f in found if f[1].get("line") == "20")
    assert level == "error" and properties == {
        "file": "a/deploy.yaml",
        "line": "20",
        "col": "3",
        "title": "eager: rebalances == 0 is broken",
    }
    assert message == (
        "9. orders-1 stood still for 22.1 s when c1 left: 20.0 s, 50 % of it unseen. Lengthen "
        "session.timeout.ms. "
        "Again: rebalsim run a/deploy.yaml --variant eager --seed 1"
    )
    assert [(f[0], f[1].get("line")) for f in found] == [
        ("error", "20"),
        ("error", "21"),
        ("error", "24"),
        ("error", "3"),
        ("error", None),
        ("warning", "22"),
    ]
    assert not any("longest_pause" in f[2] for f in found)


def test_github_is_told_nothing_where_all_is_well() -> None:
    assert to_github.render(CheckReport((StoryChecked("a.yaml", checked=(KEPT,)),))) == ""


def test_githubs_escapes_are_as_its_toolkit_writes_them() -> None:
    assert (
        to_github.command("error", "50 %: a, b\r\nc", file="a:b,c%.yaml", line=3)
        == "::error file=a%3Ab%2Cc%25.yaml,line=3::50 %25: a, b\\x0d%0Ac"
    )


def test_no_hostile_name_ends_or_begins_a_command() -> None:
    found = commands(hostile())  # every line is one command, and all of it
    assert len(found) >= 4 and all("\x1b" not in f[2] for f in found)


@pytest.mark.parametrize(
    ("broken", "lines", "last"),
    [
        (10, 10, "rebalances"),
        (11, 10, "and 2 more of rebalsim's errors"),
        (300, 10, "and 291 more"),
    ],
)
def test_github_shows_ten_so_the_tenth_says_how_many_more(
    broken: int, lines: int, last: str
) -> None:
    found = commands(
        CheckReport((StoryChecked("a.yaml", checked=(BROKEN,) * broken + (WARNED,) * 12),))
    )
    errors = [f for f in found if f[0] == "error"]
    assert len(errors) == lines and (
        last in errors[-1][2] or last in errors[-1][1].get("title", "")
    )
    assert len([f for f in found if f[0] == "warning"]) == 10


def test_the_log_of_a_step_holds_no_line_that_is_a_command() -> None:
    text = no_orders("  ::error::x\n::stop-commands::y\nfine :: here\n a ##[error]b\n")
    assert text == "  : :error::x\n: :stop-commands::y\nfine :: here\n a # #[error]b\n"
    shown = no_orders(
        check_to_terminal.render(CheckReport((StoryChecked("::error::owned", "::error::owned"),)))
    )
    assert not any(line.lstrip().startswith("::") for line in shown.splitlines())


# ------------------------------------------------------------------------------------------- GitLab


def test_gitlab_has_an_issue_for_each_that_is_not_kept() -> None:
    issues = json.loads(to_gitlab.render(ALL))
    assert [
        (i["check_name"], i["severity"], i["location"]["path"], i["location"]["lines"]["begin"])
        for i in issues
    ] == [
        ("rebalsim/budget-broken", "major", "a/deploy.yaml", 20),
        ("rebalsim/budget-undecided", "minor", "a/deploy.yaml", 21),
        ("rebalsim/budget-broken", "info", "a/deploy.yaml", 22),
        ("rebalsim/budget-broken", "major", "a/deploy.yaml", 24),
        ("rebalsim/invalid-scenario", "critical", "b.yaml", 3),
        ("rebalsim/bug", "blocker", "c.yaml", 1),
    ]
    assert all(
        set(i) == {"description", "check_name", "fingerprint", "severity", "location"}
        for i in issues
    )


def test_gitlabs_fingerprints_differ_and_stay_when_figures_change() -> None:
    twice = CheckReport((StoryChecked("a.yaml", checked=(BROKEN, BROKEN, WARNED)),))
    prints = [i["fingerprint"] for i in json.loads(to_gitlab.render(twice))]
    assert len(set(prints)) == 3 and prints == [
        i["fingerprint"] for i in json.loads(to_gitlab.render(twice))
    ]
    other = CheckReport(
        (
            StoryChecked(
                "a.yaml", checked=(Checked(**{**_fields(BROKEN), "said": "10", "because": "else"}),)
            ),
        )
    )
    assert json.loads(to_gitlab.render(other))[0]["fingerprint"] == prints[0]
    assert (
        json.loads(to_gitlab.render(CheckReport((StoryChecked("a.yaml", checked=(KEPT,)),)))) == []
    )


def _fields(checked: Checked) -> dict[str, object]:
    return {name: getattr(checked, name) for name in Checked.__dataclass_fields__}


# ------------------------------------------------------------------- Markdown, JSON, page, terminal


def test_markdown_has_the_table_first_and_only_what_fits() -> None:
    text = check_to_markdown.render(ALL)
    assert (
        text.splitlines()[0] == "### rebalsim contradicts itself"
        and "| ❌ | a/deploy.yaml:20 | eager | `rebalances == 0` | 9 |" in text
    )
    many = CheckReport(
        tuple(StoryChecked(f"{i}.yaml", checked=(KEPT,) * 9 + (BROKEN,)) for i in range(900))
    )
    small = check_to_markdown.render(many, 100_000)
    assert (
        len(small.encode()) <= 100_000
        and "longest_pause" not in small
        and small.endswith("the whole is in the job's log.\n")
    )
    assert "longest_pause" in check_to_markdown.render(many)


def test_json_is_plain_and_ok_means_ok() -> None:
    document = json.loads(check_to_json.render(ALL))
    assert (document["ok"], document["ending"], document["schema_version"]) == (False, "bug", 1)
    assert document["stories"][0]["budgets"][0] == {
        "name": "longest_pause <= 40s",
        "variant": "eager",
        "outcome": "pass",
        "level": "error",
        "line": 19,
        "column": 3,
        "metric": "longest_pause",
        "op": "<=",
        "unit": "us",
        "observed": 35_000_000,
        "limit": 40_000_000,
        "headroom": 0.125,
        "said": "35.0 s",
        "because": "",
        "hint": "",
        "open_pauses": 0,
        "is_unsettled": False,
        "runs": 1,
        "broken": 0,
        "spread": "",
        "seed": 1,
        "again": "rebalsim run a/deploy.yaml",
    }
    assert (
        json.loads(check_to_json.render(CheckReport((StoryChecked("a.yaml", checked=(KEPT,)),))))[
            "ok"
        ]
        is True
    )
    from_nought = CheckReport(
        (),
        comparison=Comparison(
            "b.json", (Change("a", "v", "rebalances", 0, 3, "regressed", float("inf")),)
        ),
    )
    assert json.loads(check_to_json.render(from_nought))["baseline"]["changes"][0]["share"] is None


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs), (
            tag,
            attrs,
        )


def test_the_page_stands_alone_and_hostile_names_are_text() -> None:
    page = check_to_html.render(hostile())
    reader = _Tags()
    reader.feed(page)
    assert "script" not in reader.tags and "img" not in reader.tags and "default-src 'none'" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page and "\u202e" not in page
    assert len(check_to_html.render(ALL)) < 100_000


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_terminals_text_is_plain_ascii_where_asked(width: int) -> None:
    text = check_to_terminal.render(hostile(), View(width=width, is_ascii=True))
    assert text.isascii() and "\x1b" not in text
    assert "\x1b[" in check_to_terminal.render(ALL, View(width=width, is_coloured=True))


def test_one_reason_for_two_budgets_is_told_once() -> None:
    text = check_to_terminal.render(
        CheckReport(
            (
                StoryChecked(
                    "a.yaml",
                    checked=(BROKEN, Checked(**{**_fields(BROKEN), "name": "x", "line": 30})),
                ),
            )
        )
    )  # type: ignore[arg-type]
    assert text.count("stood still for 22.1 s") == 1 and "For the same reason as line 20." in text


def test_amounts_that_would_read_alike_are_told_in_full() -> None:
    from rebalsim.reports.verdict_told import say_amount

    assert (
        say_amount("longest_pause", 3_014_000, 3_010_000) == "3.014 s"
        and say_amount("longest_pause", 3_014_000, 9_000_000) == "3.01 s"
    )
    assert say_amount("rebalances", 3, 3) == "3"
