"""What conversations with either coordinator share: a file of them held against ours, a line
each, and the first difference of each told.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError
from rebalsim.trace.gzipped import lines_of
from rebalsim.verify.finding import Finding, of_cases
from rebalsim.verify.same_lines import Line

LONGEST = 600


def verify_lines(
    path: Path,
    kind: str,
    coordinator: str,
    differences: int,
    parse: Callable[[str, str], Line],
    compare: Callable[[Line, str], Line | None],
) -> Finding:
    """Every conversation of the file: `parse` reads a line, `compare` finds the first place
    where our coordinator says something else.
    """
    cases = 0
    different: list[Line] = []
    for number, text in enumerate(lines_of(path), 1):
        if not text.strip():
            continue
        place = f"{path}:{number}"
        conversation = parse(text, place)
        cases += 1
        found = compare(conversation, place)
        if found is not None:
            different.append({"line": number, "seed": conversation.get("seed"), **found})
    if not cases:
        raise InputError(f"{path}: holds no conversation — give a file with one JSON object a line")
    details = [line for found in different[: max(differences, 0)] for line in _tell(found)]
    if len(different) > differences >= 0:
        details.append(
            f"… and {len(different) - differences} more conversations that differ (--differences "
            "N shows more)"
        )
    return of_cases(
        str(path), kind, cases, different, details, f"conversations with a {coordinator} identical"
    )


def summarise_lines(findings: Sequence[Finding], coordinator: str) -> list[str]:
    """One line over all files of this kind."""
    cases = sum(f.document["cases"] for f in findings)
    identical = sum(f.document["identical"] for f in findings)
    return [f"{coordinator}, {len(findings)} files: {identical} of {cases} conversations identical"]


def _tell(found: Line) -> list[str]:
    lines = [
        f"line {found['line']} (seed {found['seed']}), step {found['step']} at {found['t']} "
        f"ms{_what_differs(found)}"
    ]
    for who in ("request", "kafka", "rebalsim"):
        said = found[who]
        if said is not None or who != "request":
            lines.append(f"  {who + ':':10}{_short(said)}")
    return lines


def _what_differs(found: Line) -> str:
    """The keys of two answers to one request."""
    kafka, rebalsim = found["kafka"], found["rebalsim"]
    if (
        not isinstance(kafka, dict)
        or not isinstance(rebalsim, dict)
        or kafka.get("reply") != rebalsim.get("reply")
    ):
        return ""
    keys = [
        key for key in dict.fromkeys([*kafka, *rebalsim]) if kafka.get(key) != rebalsim.get(key)
    ]
    return f": {', '.join(keys)}" if keys else ""


def _short(said: Any) -> str:
    if said is None:
        return "nothing more"
    text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"
