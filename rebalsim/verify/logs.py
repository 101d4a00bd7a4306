"""`verify SET…`: what is read out of recorded logs, held against what truly happened."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rebalsim.verify.finding import Finding
from rebalsim.verify.logs_ground_truth import read_truth
from rebalsim.verify.logs_judge import ERRORS, KEYS, Tally, judge
from rebalsim.worlds.logs.observation import observe
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.to_json import document_of


def verify(path: Path, differences: int = 3) -> Finding:
    """One set of logs with its truth."""
    truth = read_truth(path)
    tally = judge(truth, document_of(observe(sources_in([str(path)]))))
    told = "  ".join(f"{k} {tally.right[k]}/{tally.judged[k]}" for k in KEYS if tally.judged[k])
    details = tally.wrong[: max(0, differences)]
    return Finding(str(path), "logs", True, f"{path.name}: {told}", details, data=tally)


def total(findings: Sequence[Finding]) -> dict[str, Any]:
    """The shares right over all sets, each weighing the same; errors pooled."""
    tallies: list[Tally] = [f.data for f in findings]
    found: dict[str, Any] = {"sets": len(tallies)}
    for key in KEYS:
        shares = [share for t in tallies if (share := t.share(key)) is not None]
        if shares:
            found[key] = round(sum(shares) / len(shares), 1)
    for key in ERRORS:
        errors = sorted(e for t in tallies for e in t.errors.get(key, ()))
        if errors:
            places = [min(len(errors) - 1, int(len(errors) * share)) for share in (0.5, 0.95)]
            found[f"{key} error, ms, median and p95"] = [errors[place] for place in places]
    return found


def summarise(findings: Sequence[Finding]) -> list[str]:
    """The shares over all sets, a line each."""
    found = total(findings)
    lines = [f"{found.pop('sets')} sets of logs, each weighing the same:"]
    for key, value in found.items():
        if isinstance(value, list):
            lines.append(
                f"  {key.partition(',')[0]}: {value[0]} ms in the "
                f"middle, {value[1]} ms at the 95th percentile"
            )
        else:
            lines.append(f"  {key}: {value} % right")
    return lines
