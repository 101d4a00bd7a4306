"""A check as JUnit XML: a suite a scenario, a case a budget. Broken is a failure, undecided and
unjudgeable an error, a warning passes and says so.

What was simulated stands in properties; `time` is the clock's, as every reader of such files
expects.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

from rebalsim.analysis.baseline import name_in_baseline
from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.baseline_told import tell_regression
from rebalsim.reports.check_report import Checked, CheckReport, Comparison, StoryChecked
from rebalsim.reports.names import safe
from rebalsim.reports.verdict_told import say_against, say_headroom, say_runs

_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: CheckReport) -> str:
    """The document."""
    root = ET.Element("testsuites", name="rebalsim")
    for story in report.stories:
        root.append(_suite(story, report.comparison))
    for name in ("tests", "failures", "errors"):
        root.set(name, str(sum(int(suite.get(name, "0")) for suite in root)))
    root.set("time", f"{sum(s.seconds for s in report.stories):.3f}")
    ET.indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(story: StoryChecked, comparison: Comparison | None) -> ET.Element:
    suite = ET.Element("testsuite", name=_text(story.file))
    for problem in (p for p in story.problems if not p.is_warning):
        case = _case(suite, story, "scenario", problem.line)
        _ill(
            case,
            "error",
            "invalid",
            f"{problem.file}:{problem.line}:{problem.column}: {problem.message}",
            str(problem),
        )
    if story.bug:
        _ill(
            _case(suite, story, "scenario", 0),
            "error",
            "bug",
            f"rebalsim contradicts itself: {story.bug}",
            story.bug,
        )
    for c in story.checked:
        _budget(suite, story, c, story.seconds / len(story.checked))
    if comparison is not None:
        for change in filter(comparison.is_too_much, comparison.changes):
            if change.file == name_in_baseline(story.file):
                name = f"{change.variant}: {change.metric} against {comparison.file}"
                said = tell_regression(change, comparison)
                _ill(
                    _case(suite, story, name, comparison.line_of(change)),
                    "failure",
                    "regression",
                    said,
                    said,
                )
    cases = suite.findall("testcase")
    suite.set("tests", str(len(cases)))
    suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
    suite.set("errors", str(sum(case.find("error") is not None for case in cases)))
    suite.set("skipped", "0")
    suite.set("time", f"{story.seconds:.3f}")
    return suite


def _case(
    suite: ET.Element, story: StoryChecked, name: str, line: int, file: str = ""
) -> ET.Element:
    """`file`: where it stands, if that is not the story's."""
    classname = re.sub(r"\.ya?ml$", "", story.file).replace("\\", "/").strip("./").replace("/", ".")
    case = ET.SubElement(
        suite,
        "testcase",
        classname=_text(classname or story.title),
        name=_text(name),
        file=_text(file or story.file),
    )
    if line:
        case.set("line", str(line))
    return case


def _budget(suite: ET.Element, story: StoryChecked, c: Checked, seconds: float) -> None:
    case = _case(suite, story, f"{c.variant}: {c.name}", c.line, c.file)
    case.set("time", f"{seconds:.3f}")
    found = {
        "variant": c.variant,
        "observed": c.said,
        "limit": c.limit_said,
        "headroom": say_headroom(c),
        "seed": str(c.seed),
        "level": c.level,
    }
    properties = ET.SubElement(case, "properties")
    for name, value in found.items():
        if value:
            ET.SubElement(properties, "property", name=name, value=_text(value))
    if c.outcome is Outcome.PASS:
        return
    message = f"{c.name}: {say_against(c)}" if c.metric else c.said
    body = "\n".join(
        part
        for part in (
            c.because,
            f"→ {c.hint}" if c.hint else "",
            say_runs(c),
            f"at {c.place}",
            f"again: {c.again}",
        )
        if part
    )
    if c.level == Level.WARN:
        ET.SubElement(case, "system-out").text = _text(f"warning: {message}\n{body}")
    elif c.outcome is Outcome.FAIL:
        _ill(case, "failure", "broken", message, body)
    else:
        _ill(
            case,
            "error",
            "undecided",
            f"{message}: undecided, something was still open at the horizon",
            body,
        )


def _ill(case: ET.Element, tag: str, kind: str, message: str, body: str) -> None:
    ET.SubElement(case, tag, type=kind, message=_text(message)).text = _text(body)


def _text(value: str) -> str:
    """Hostile names made harmless, line breaks kept; what XML cannot hold is left out."""
    return _ILLEGAL.sub("", "\n".join(safe(line) for line in value.split("\n")))
