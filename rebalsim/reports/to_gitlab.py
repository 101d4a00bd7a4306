"""A check as GitLab's code quality report: an issue on the line of each budget that is not kept,
under a fingerprint that stays the same.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from rebalsim.domain.budget import Level
from rebalsim.domain.verdict import Outcome
from rebalsim.reports.baseline_told import tell_regression
from rebalsim.reports.check_report import Checked, CheckReport
from rebalsim.reports.names import safe
from rebalsim.reports.verdict_told import say_against


def render(report: CheckReport) -> str:
    """The document: a list, empty where all is well."""
    issues: list[dict[str, Any]] = []
    for story in report.stories:
        issues += [
            _issue(
                "invalid-scenario",
                p.message,
                p.file,
                p.line,
                "minor" if p.is_warning else "critical",
            )
            for p in story.problems
        ]
        if story.bug:
            issues.append(
                _issue("bug", f"rebalsim contradicts itself: {story.bug}", story.file, 1, "blocker")
            )
        issues += [_budget(c) for c in story.checked if c.outcome is not Outcome.PASS]
    if report.comparison is not None:
        for change in filter(report.comparison.is_too_much, report.comparison.changes):
            said = tell_regression(change, report.comparison)
            line = report.comparison.line_of(change)
            issue = _issue("regression", said, change.file, line, "major")
            issue["fingerprint"] = _print(change.file, change.variant, change.metric, "regression")
            issues.append(issue)
    return json.dumps(_apart(issues), ensure_ascii=False, indent=1) + "\n"


def _budget(c: Checked) -> dict[str, Any]:
    state = "undecided" if c.outcome is Outcome.INCONCLUSIVE else "broken"
    severity = (
        "info"
        if c.level == Level.WARN
        else "minor"
        if c.outcome is Outcome.INCONCLUSIVE
        else "major"
    )
    said = f"{c.variant}: {c.name} is {state}: {say_against(c)}. {c.because}".strip()
    issue = _issue(f"budget-{state}", said, c.file, c.line, severity)
    # figures change with every setting, what is broken does not
    issue["fingerprint"] = _print(c.file, c.variant, c.name, state)
    return issue


def _issue(name: str, said: str, file: str, line: int, severity: str) -> dict[str, Any]:
    return {
        "description": safe(said),
        "check_name": f"rebalsim/{name}",
        "fingerprint": _print(file, name, said),
        "severity": severity,
        "location": {
            "path": safe(file.replace("\\", "/").removeprefix("./")),
            "lines": {"begin": max(line, 1)},
        },
    }


def _print(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _apart(issues: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """GitLab drops issues with a fingerprint that it has seen: equal ones are numbered."""
    seen: dict[str, int] = {}
    for issue in issues:
        name = issue["fingerprint"]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            issue["fingerprint"] = _print(name, str(seen[name]))
    return issues
