"""JSON against its schema, Perfetto against the format's rules, OpenMetrics through Prometheus'
own parser, CSV and Markdown read back.
"""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import jsonschema
import pytest
from builders import trace
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from told import HOSTILE, bounced, hostile, one, story

from rebalsim.domain.errors import InputError
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.verdict import Outcome
from rebalsim.reports import (
    to_csv,
    to_html,
    to_json,
    to_markdown,
    to_openmetrics,
    to_perfetto,
    to_terminal,
)
from rebalsim.reports.from_json import report_from
from rebalsim.reports.report import BudgetResult, Report
from rebalsim.reports.result_schema import result_schema
from rebalsim.reports.view import View

REPORTS = {
    "scale-out": lambda: story("scale-out"),
    "troubles": lambda: story("troubles"),
    "hostile": hostile,
    "open": lambda: one(trace("c0+p0@0 c0!@40", until=60)),
    "empty": lambda: one(trace("", until=1)),
    "bounced": lambda: one(bounced(30, 5, 4)),
    "unknown rates": lambda: one(trace("c0+p0@0 c0-p0@5 c1+p0@9", rate=None)),
}
VALID = jsonschema.Draft202012Validator(result_schema())
every_report = pytest.mark.parametrize("name", REPORTS)


# --------------------------------------------------------------------------------------------- JSON


@every_report
def test_json_is_as_its_schema_says(name: str) -> None:
    VALID.validate(json.loads(to_json.render(REPORTS[name]())))


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(result_schema())


def test_a_comparison_is_as_the_schema_says() -> None:
    made = story("troubles")
    budgets = (
        BudgetResult(
            "longest_pause <= 1s",
            "eager",
            Outcome.FAIL,
            "3 s",
            "1 s",
            "because",
            "error",
            "f.yaml",
            3,
        ),
    )
    document = json.loads(
        to_json.render(Report("t", made.variants, pairs=((0, 1),), budgets=budgets))
    )
    VALID.validate(document)
    assert document["differences"][0]["before"] == "eager" and document["budgets"][0]["line"] == 3


def test_the_schema_is_strict() -> None:
    document = to_json.document_of(story("scale-out"))
    for change in ({"extra": 1}, {"schema_version": 2}, {"variants": 3}):
        with pytest.raises(jsonschema.ValidationError):
            VALID.validate({**document, **change})
    del document["variants"][0]["pauses"][0]["phases"]
    with pytest.raises(jsonschema.ValidationError):
        VALID.validate(document)


@every_report
def test_json_says_what_the_analysis_says(name: str) -> None:
    report = REPORTS[name]()
    for told, variant in zip(json.loads(to_json.render(report))["variants"], report.variants):
        assert [(p["partition"], p["started_us"], p["length_us"]) for p in told["pauses"]] == [
            (str(p.partition), p.started_us, p.length_us) for p in variant.analysis.pauses
        ]
        for pause in told["pauses"]:
            ends = [pause["started_us"]]
            for phase in pause["phases"]:
                assert (
                    phase["started_us"] == ends[-1]
                    and phase["length_us"] == phase["ended_us"] - phase["started_us"]
                )
                ends.append(phase["ended_us"])
            assert (
                ends[-1] == pause["ended_us"]
                and sum(p["length_us"] for p in pause["phases"]) == pause["length_us"]
            )
        assert list(told["metrics"]) == list(METRICS)
        for metric, measured in told["metrics"].items():
            assert measured["value"] == variant.analysis.measure(metric)


def test_the_order_of_keys_and_the_bytes_are_stable() -> None:
    assert to_json.render(story("troubles")) == to_json.render(story("troubles"))


# ----------------------------------------------------------------------------------------- Perfetto


@every_report
def test_perfetto_keeps_the_formats_rules(name: str) -> None:
    document = json.loads(to_perfetto.render(REPORTS[name]()))
    assert document["displayTimeUnit"] == "ms"
    slices: dict[tuple[int, int], list[dict[str, Any]]] = {}
    threads, processes = {}, {}
    for e in document["traceEvents"]:
        assert e["ph"] in "MXiCsf" and isinstance(e["name"], str) and e["name"]
        assert isinstance(e["pid"], int) and isinstance(e["tid"], int)
        if e["ph"] == "M":
            if e["name"] == "thread_name":
                threads[e["pid"], e["tid"]] = e["args"]["name"]
            elif e["name"] == "process_name":
                processes[e["pid"]] = e["args"]["name"]
            continue
        assert isinstance(e["ts"], int) and e["ts"] >= 0
        assert e["pid"] in processes
        if e["ph"] == "X":
            assert isinstance(e["dur"], int) and e["dur"] >= 0
            assert (e["pid"], e["tid"]) in threads
            slices.setdefault((e["pid"], e["tid"]), []).append(e)
        elif e["ph"] == "i":
            assert e["s"] in "gpt"
        elif e["ph"] == "C":
            assert all(isinstance(v, int | float) for v in e["args"].values())
    for found in slices.values():  # on one track slices follow each other or nest, and never cross
        for one_slice, other in (
            (a, b) for i, a in enumerate(found) for b in found[i + 1 : i + 30]
        ):
            a, b, c, d = (
                one_slice["ts"],
                one_slice["ts"] + one_slice["dur"],
                other["ts"],
                other["ts"] + other["dur"],
            )
            assert b <= c or d <= a or (a <= c and d <= b) or (c <= a and b <= d), (
                one_slice,
                other,
            )


def test_flows_lead_from_a_join_to_its_sync() -> None:
    document = json.loads(to_perfetto.render(story("troubles")))
    events = document["traceEvents"]
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys() and len(starts) >= 10
    for number, end in ends.items():

        def at(e: dict[str, Any]) -> list[str]:
            return [
                x["name"]
                for x in events
                if x["ph"] == "X"
                and (x["pid"], x["tid"]) == (e["pid"], e["tid"])
                and x["ts"] <= e["ts"] <= x["ts"] + x["dur"]
            ]

        assert end["bp"] == "e" and "SyncGroup" in at(end) and "JoinGroup" in at(starts[number])


def test_perfetto_shows_every_pause_and_phase() -> None:
    report = story("troubles")
    events = json.loads(to_perfetto.render(report))["traceEvents"]
    assert sum(e.get("cat") == "pause" for e in events) == sum(
        len(v.analysis.pauses) for v in report.variants
    )
    assert sum(e.get("cat") == "phase" for e in events) == sum(
        len(p.phases) for v in report.variants for p in v.analysis.pauses
    )


# -------------------------------------------------------------------------------------- OpenMetrics


@every_report
def test_openmetrics_is_read_by_prometheus(name: str) -> None:
    report = REPORTS[name]()
    text = to_openmetrics.render(report)
    assert text.endswith("# EOF\n")
    families = {f.name: f for f in text_string_to_metric_families(text)}
    for variant in report.variants:
        longest = variant.analysis.measure("longest_pause")
        samples = (
            list(families["rebalsim_longest_pause_seconds"].samples) if longest is not None else []
        )
        assert longest is None or any(abs(s.value - longest / 1e6) < 1e-9 for s in samples)


def test_kafkas_client_metrics_go_by_the_names_of_the_jmx_exporter_in_kafkas_units() -> None:
    report = story("scale-out")
    families = {f.name: f for f in text_string_to_metric_families(to_openmetrics.render(report))}
    callback = report.variants[0].analysis.client_metrics["c0"]["time-between-poll-max"]
    family = families["kafka_consumer_consumer_metrics_time_between_poll_max"]
    found = [
        s.value
        for s in family.samples
        if s.labels["client_id"] == "c0" and s.labels["variant"] == "eager"
    ]
    assert callback is not None and found == [pytest.approx(callback / 1_000)]
    total = families["kafka_consumer_consumer_coordinator_metrics_rebalance"]
    assert total.type == "counter" and {s.name for s in total.samples} == {
        "kafka_consumer_consumer_coordinator_metrics_rebalance_total"
    }


def test_pauses_are_counted_in_buckets() -> None:
    families = {
        f.name: f for f in text_string_to_metric_families(to_openmetrics.render(story("troubles")))
    }
    histogram = families["rebalsim_pause_seconds"]
    assert histogram.type == "histogram"
    count = sum(s.value for s in histogram.samples if s.name.endswith("_count"))
    assert count == sum(len(v.analysis.pauses) for v in story("troubles").variants)


def test_hostile_labels_come_back_as_shown() -> None:
    families = {f.name: f for f in text_string_to_metric_families(to_openmetrics.render(hostile()))}
    label = families["rebalsim_longest_pause_seconds"].samples[0].labels["story"]
    assert "\n" not in label and "\x1b" not in label and "<script>" in label and '"' in label


# --------------------------------------------------------------------------------- CSV and Markdown


@every_report
def test_csv_is_read_back(name: str) -> None:
    report = REPORTS[name]()
    rows = list(csv.DictReader(io.StringIO(to_csv.render(report))))
    pauses = [p for v in report.variants for p in v.analysis.pauses]
    assert [int(r["length_us"]) for r in rows] == [p.length_us for p in pauses]
    phases = [
        c
        for c in to_csv.COLUMNS
        if c.endswith("_us") and c not in ("started_us", "ended_us", "length_us")
    ]
    assert all(sum(int(r[c]) for c in phases) == int(r["length_us"]) for r in rows)


def test_no_cell_is_a_formula() -> None:
    rows = list(csv.reader(io.StringIO(to_csv.render(hostile()))))
    assert len(rows) == 3
    for cell in (cell for row in rows for cell in row):
        assert (
            not cell.startswith(("=", "+", "-", "@", "\t", "\r"))
            and "\n" not in cell
            and "\x1b" not in cell
        )


def test_markdown_of_hostile_names_is_harmless() -> None:
    text = to_markdown.render(hostile())
    outside = re.sub(
        r"(`+)(?:.|\n)*?\1", "", text.replace("\\`", "")
    )  # what is in code is shown as it is
    assert "<script" not in outside and "\x1b" not in text and "\u202e" not in text
    assert not re.search(r"(?<!\\)\[x(?<!\\)\]\(", outside) and "@all" not in outside


def test_the_verdict_comes_first() -> None:
    made = story("scale-out")
    kept = BudgetResult("rebalances <= 2", "eager", Outcome.PASS, "1")
    broken = BudgetResult("longest_pause <= 1s", "cooperative", Outcome.FAIL, "3.01 s", line=4)
    told = to_markdown.render(Report("t", made.variants, budgets=(kept, broken))).split("\n")
    assert (
        told[2] == "- Take eager: no budget is broken; cooperative breaks longest\\_pause &lt;= 1s."
    )
    assert "❌ **1 of 2 budgets broken**" in told[3:8]
    kept_alone = to_markdown.render(Report("t", made.variants, budgets=(kept,))).split("\n")
    assert kept_alone[2].startswith("- Take eager: ")
    assert kept_alone[2].endswith(" No budget is broken.")
    assert "✅ **all 1 budgets kept**" in kept_alone
    assert to_markdown.render(made).split("\n")[2].startswith("- Take eager: longest pause ")


def test_a_pipe_in_a_budget_stays_in_its_cell() -> None:
    text = to_markdown.render(
        Report("t", story("scale-out").variants, budgets=(BudgetResult("a | b", "", Outcome.PASS),))
    )
    row = next(line for line in text.split("\n") if "a \\|" in line)
    assert row.count("|") - row.count("\\|") == 5


def test_hostile_is_hostile() -> None:
    assert (
        "<script>" in HOSTILE
        and "\x1b" in HOSTILE
        and "\u202e" in HOSTILE
        and "\n" in HOSTILE
        and HOSTILE.startswith("=")
    )


# ------------------------------------------------------------------------------- a result read back


@every_report
def test_a_result_read_back_tells_the_same(name: str) -> None:
    first = to_json.document_of(REPORTS[name]())
    again = to_json.document_of(report_from(json.loads(json.dumps(first)), "kept.json"))
    for document in (first, again):
        del document["file"]
        for variant in document["variants"]:
            del variant["events"], variant["file"]
    assert again == {**first, "notes": []}


def test_a_result_read_back_looks_the_same() -> None:
    report = story("troubles")
    kept = report_from(to_json.document_of(report), "kept.json")
    assert to_terminal.picture_of(kept, View()) == to_terminal.picture_of(report, View())
    assert "</html>" in to_html.render(kept)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema_version": 99}, "schema version 99"),
        ({"variants": [{}]}, "is not a result"),
        ({"variants": 3}, "is not a result"),
        ({"variants": [None]}, "is not a result"),
    ],
)
def test_what_is_no_result_is_refused(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        report_from({**to_json.document_of(story("scale-out")), **change}, "kept.json")
