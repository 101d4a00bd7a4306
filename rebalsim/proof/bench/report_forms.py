"""How long a report takes to be written, in each of its forms, for a story of some size."""

from __future__ import annotations

import importlib
from functools import partial

from rebalsim.one_run import run_once
from rebalsim.proof.bench.figure import Figure
from rebalsim.proof.bench.simulation import timed
from rebalsim.reports.report import Report, VariantReport
from rebalsim.scenario.load import load_scenario

FORMS = (
    "to_terminal",
    "to_json",
    "to_markdown",
    "to_csv",
    "to_html",
    "to_perfetto",
    "to_openmetrics",
)


def measure(quick: bool = False) -> list[Figure]:
    """Analysis and every form, of one consumer more on 100 partitions."""
    story = load_scenario("scale-out" if quick else "scale-out-100")
    found = []

    def fresh() -> Report:
        variants = [
            VariantReport(name, run_once(story.scenario(name)).analysis, story.heading(name))
            for name in story.variants
        ]
        return Report(story.title, tuple(variants), version="bench")

    for form in FORMS:
        module = importlib.import_module(f"rebalsim.reports.{form}")
        report = fresh()
        work = partial(module.render, report)
        took, again = timed(work, 1), timed(work, 3)
        name = (
            f"{form.removeprefix('to_')}: both variants of "
            f"{story.title[0].lower()}{story.title[1:]}"
        )
        found.append(
            Figure(name, took * 1e3, "ms", note=f"{again * 1e3:.0f} ms once it is explained")
        )
    return found
