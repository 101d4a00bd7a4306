"""What every kind of verification ends in: a figure, the first differences, and whether all is
identical.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalsim.domain.errors import InputError


@dataclass(slots=True)
class Finding:
    """One file held against rebalsim."""

    file: str
    kind: str
    ok: bool  # identical throughout (vectors, conversations); replayed (traces)
    summary: str  # one line for people
    details: list[str] = field(default_factory=list)  # readable differences, first ones first
    document: dict[str, Any] = field(default_factory=dict)  # what --json prints
    data: Any = None  # for the judge's own summary over many files


def of_replay(
    path: Path, kind: str, line: str, details: list[str], figures: dict[str, Any], data: Any
) -> Finding:
    """Of a recording that was replayed: how alike it is, in a line and in figures."""
    document = {"file": str(path), "kind": kind, **figures}
    return Finding(str(path), kind, True, f"{path}: {line}", details, document, data)


class Cases:
    """The answers of a file, held against ours one by one; of so many that differ all is told."""

    def __init__(self, most_told: int) -> None:
        self.most_told = max(most_told, 0)
        self.count = 0
        self.different: list[dict[str, Any]] = []
        self.details: list[str] = []

    def differs(self, what: dict[str, Any], told: list[str]) -> None:
        self.different.append(what)
        if len(self.different) <= self.most_told:
            self.details += told

    def finding(self, path: Path, kind: str, whats: str) -> Finding:
        """`whats` are identical: `steps identical to Kafka's`."""
        if not self.count:
            what, _, whose = whats.partition(" identical to ")
            raise InputError(
                f"{path}: holds no {what} of an assignor — give a file of {whose} answers"
            )
        if more := len(self.different) - self.most_told:
            self.details += [f"… and {more} more"] if more > 0 else []
        return of_cases(str(path), kind, self.count, self.different, self.details, whats)


def of_cases(
    file: str,
    kind: str,
    cases: int,
    different: Sequence[dict[str, Any]],
    details: list[str],
    whats: str,
) -> Finding:
    """Of a file with so many cases, those that differ by themselves; `whats` of it are identical:
    `steps identical to Kafka's`.
    """
    identical = cases - len(different)
    document = {
        "file": file,
        "kind": kind,
        "cases": cases,
        "identical": identical,
        "different": different,
    }
    summary = f"{file}: {identical} of {cases} {whats}"
    return Finding(file, kind, not different, summary, details, document)


@contextmanager
def asked_of(whose: str, place: str) -> Iterator[None]:
    """InputError where what is recorded at this place cannot be a question to these assignors."""
    try:
        yield
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        RecursionError,
    ) as e:
        why = f"({type(e).__name__}: {e})"
        raise InputError(f"{place} is not one that {whose} were asked {why}") from None


def over_files(findings: Sequence[Finding], kind: str, what: str, whose: str) -> list[str]:
    """One line over all the files: `assignors: 9 of 9 steps in 2 files identical to Kafka's`."""
    cases = sum(finding.document["cases"] for finding in findings)
    identical = sum(finding.document["identical"] for finding in findings)
    return [f"{kind}: {identical} of {cases} {what} in {len(findings)} files identical to {whose}"]
