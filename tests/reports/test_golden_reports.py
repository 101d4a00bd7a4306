"""Every form of a report against its golden file, all from the same frozen traces."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from told import story

from rebalsim.analysis import analyse
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports import (
    describe,
    event_table,
    pause_explained,
    to_csv,
    to_json,
    to_markdown,
    to_openmetrics,
    to_perfetto,
    to_terminal,
)
from rebalsim.reports.page_data import data_of
from rebalsim.reports.view import View
from rebalsim.trace.jsonl import read_trace

Golden = Callable[[str, str], None]
FILES = Path(__file__).parents[1] / "golden"


@pytest.mark.parametrize("name", ["scale-out", "troubles"])
def test_terminal_and_markdown(name: str, golden: Golden) -> None:
    report = story(name)
    golden(f"reports/{name}/terminal.txt", to_terminal.render(report, View(width=80)))
    golden(
        f"reports/{name}/terminal-wide-ascii.txt",
        to_terminal.render(report, View(width=160, is_ascii=True)),
    )
    golden(f"reports/{name}/report.md", to_markdown.render(report, View()))


def test_forms_for_tools(golden: Golden) -> None:
    report = story("scale-out")
    golden("reports/scale-out/report.json", to_json.render(report))
    golden("reports/scale-out/pauses.csv", to_csv.render(report))
    golden("reports/scale-out/perfetto.json", to_perfetto.render(report))
    golden("reports/scale-out/openmetrics.txt", to_openmetrics.render(report))
    golden("reports/scale-out/page-data.json", json.dumps(data_of(report), indent=1) + "\n")


def test_chain_exchange_and_kafkas_columns(golden: Golden) -> None:
    eager = story("troubles").variants[0].analysis
    longest = max(eager.pauses, key=lambda p: p.length_us)
    golden("reports/troubles/explain.txt", pause_explained.render(eager, longest, View()))
    golden(
        "reports/troubles/exchange.txt",
        event_table.render(eager.trace, View(width=110, from_us=29_000_000, until_us=45_000_000)),
    )
    at = 35_000_000
    tables = [
        describe.render(eager, at, form, verbose)
        for form in ("offsets", "members", "state")
        for verbose in (False, True)
    ]
    golden("reports/troubles/describe.txt", "\n".join(tables))


def test_phases_add_up_in_every_golden_file() -> None:
    """To the microsecond, and one after the other."""
    checked = 0
    for path in sorted(FILES.rglob("*.trace.jsonl")):
        for pause in analyse(read_trace(path)).pauses:
            assert [pause.started_us, *(p.ended_us for p in pause.phases)] == [
                *(p.started_us for p in pause.phases),
                pause.ended_us,
            ]
            checked += 1
    for path in sorted(FILES.rglob("report.json")):
        for variant in json.loads(path.read_text("utf-8"))["variants"]:
            for pause in variant["pauses"]:
                assert (
                    sum(phase["length_us"] for phase in pause["phases"])
                    == pause["length_us"]
                    == pause["ended_us"] - pause["started_us"]
                )
                checked += 1
    for path in sorted(FILES.rglob("pauses.csv")):
        head, *rows = (line.split(",") for line in path.read_text("utf-8").splitlines())
        of_phases = [head.index(f"{kind.value.replace('-', '_')}_us") for kind in PhaseKind]
        for row in rows:
            assert sum(int(row[i]) for i in of_phases) == int(row[head.index("length_us")])
            checked += 1
    for path in sorted(FILES.rglob("page-data.json")):
        for variant in json.loads(path.read_text("utf-8"))["variants"]:
            assert all(sum(pause[4:]) > 0 for pause in variant["pauses"])
            checked += len(variant["pauses"])
    assert checked > 50
