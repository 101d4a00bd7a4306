"""Opens whatever a command is pointed at, a scenario, a trace, a recording, or a folder of client
logs, as variants to report on.

Shared by run, report, compare, explain, trace and describe, so that all of them take the same
things.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rebalsim import __version__
from rebalsim.analysis import analyse
from rebalsim.domain.errors import InputError
from rebalsim.reports.report import Report, Spread, VariantReport
from rebalsim.trace.trace import Trace

if TYPE_CHECKING:
    from rebalsim.analysis.analysis import Analysis
    from rebalsim.analysis.over_seeds import OverSeeds
    from rebalsim.domain.scenario import Scenario

SCENARIO, TRACE, RECORDING, LOGS, RESULT = "scenario", "trace", "recording", "logs", "result"
_YAML = (".yaml", ".yml")


def kind_of(name: str) -> str:
    """What a name means: a folder is logs, JSON tells by its first line, all else is a scenario
    (a file or a stock story).
    """
    if not name:
        raise InputError(
            "FILE is empty, and names nothing — give a file, a folder of logs, or a stock story"
        )
    path = Path(name)
    try:
        if path.is_dir():
            return LOGS
        if name == "-" or path.suffix in _YAML or not (path.is_file() or path.is_fifo()):
            return SCENARIO
    except (OSError, ValueError):
        return SCENARIO
    if path.suffix in (".log", ".txt") or path.name.endswith(".log.gz"):
        return LOGS
    from rebalsim.outside.files import pieces_of
    from rebalsim.trace.jsonl import is_trace_line

    head = next(pieces_of(path), b"").decode("utf-8", "replace").lstrip()
    first = head.partition("\n")[0]
    if is_trace_line(first):
        return TRACE
    if not first.startswith("{"):
        return SCENARIO
    if '"schema_version"' in head[:200]:
        return RESULT
    if '"events"' in first or '"steps"' in first:
        return RECORDING
    raise InputError(
        f"{path}: is JSON, and neither a trace (`rebalsim run --trace FILE` writes one) nor a "
        "recording of consumers"
    )


def read_trace_from(name: str) -> Trace:
    """The one trace in a trace file, a recording, or logs."""
    from rebalsim.outside.rule import strange

    strange(name)
    kind, path = kind_of(name), Path(name)
    if kind == TRACE:
        from rebalsim.trace.jsonl import read_trace

        return read_trace(path)
    if kind == RECORDING:
        from rebalsim.trace.recording import read_recording

        return read_recording(path)
    if kind == RESULT:
        raise InputError(
            f"{path}: is a result of --json: it tells what a trace means, not the trace — keep "
            "the trace with --trace FILE and give that"
        )
    from rebalsim.worlds.logs.sources import sources_in
    from rebalsim.worlds.logs.to_trace import read_logs

    trace = read_logs(sources_in([str(path)]))
    trace.header.title = trace.header.title or path.name
    return trace


def open_variants(
    name: str,
    variant: str | None = None,
    overrides: Iterable[str] = (),
    seed: int | None = None,
    allow_code: bool = False,
    needs_events: bool = False,
    has_spread: bool = False,
    wire: bool = False,
) -> list[VariantReport]:
    """Everything in it: each variant of a scenario played once, or the one trace. A result of
    --json has no events left to show.

    `has_spread`: where one run is a sample, more seeds are played and their spread is told beside
    it. `wire`: traces hold every request and answer too.
    """
    kind = kind_of(name)
    if kind == SCENARIO:
        return _played(name, variant, overrides, seed, allow_code, has_spread, wire)
    if wire:
        raise InputError(
            f"{name}: has happened already: --wire is for scenarios — what was written of the "
            "wire is shown without it"
        )
    if list(overrides) or seed is not None:
        raise InputError(f"{name}: has happened already: --set and --seed are for scenarios")
    if kind == RESULT and not needs_events:
        return _kept(name, variant)
    trace = read_trace_from(name)
    found = VariantReport(
        trace.header.variant or _stem(name), analyse(trace), trace.header.heading, name
    )
    if variant is not None and variant != found.name:
        raise InputError(f"{name}: holds the variant '{found.name}' and not '{variant}'")
    return [found]


def _played(
    name: str,
    variant: str | None,
    overrides: Iterable[str],
    seed: int | None,
    allow_code: bool,
    has_spread: bool,
    wire: bool,
) -> list[VariantReport]:
    from rebalsim.cli.options import load_story
    from rebalsim.one_run import run_once

    story = load_story(name, overrides, allow_code, seed)
    found = []
    scenarios = {
        each: story.scenario(each) for each in (story.variants if variant is None else (variant,))
    }
    for each, scenario in scenarios.items():
        analysis = run_once(scenario, wire=wire).analysis
        spread, notes = (
            sampled(scenario, analysis.trace, beside=scenarios.values()) if has_spread else ({}, ())
        )
        found.append(
            VariantReport(each, analysis, scenario.heading, name, spread, (*scenario.notes, *notes))
        )
    return found


def sampled(
    scenario: Scenario,
    trace: Trace,
    over: OverSeeds | None = None,
    beside: Iterable[Scenario] = (),
    each: Callable[[int, Analysis], None] = lambda seed, analysis: None,
) -> tuple[dict[str, Spread], tuple[str, ...]]:
    """Beside one run: the spread over seeds (`over`, else of more seeds where one run is a sample),
    and what surprises in it or is chance, in sentences.

    `beside`: what it is held against. Next to a sample's spread, one run of a script whose phase is
    a matter of chance would be unlike it. `each` is shown every run that is played for it.
    """
    from rebalsim.one_run import SPREAD_SEEDS, is_sampled, spread
    from rebalsim.reports.chance_told import (
        said_of_chance,
        said_of_leader,
        said_of_phase,
        said_of_start,
    )
    from rebalsim.reports.surprises_told import tell_surprises

    notes = [*tell_surprises(trace), said_of_phase(scenario, trace.header.seed or 0)]
    if over is None and (
        is_sampled(scenario) or (scenario.shift_within_us and any(map(is_sampled, beside)))
    ):
        over = spread(scenario, each=each)
        if len(over.seeds) < SPREAD_SEEDS:
            notes.append(
                f"Of a story with so many members {len(over.seeds)} seeds are played and not "
                f"{SPREAD_SEEDS}: each takes long. --runs N plays more."
            )
    if over is not None:
        notes += [said_of_chance(over, scenario), said_of_start(over)]
    else:
        notes.append(said_of_leader(scenario, trace))
    return spread_of(over) if over is not None else {}, tuple(filter(None, notes))


def spread_of(over: OverSeeds) -> dict[str, Spread]:
    """Each headline metric over the seeds."""
    spread = {}
    for metric in over.values:
        known = over.known(metric)
        if known:
            median, p95 = over.at(metric, 50), over.at(metric, 95)
            assert median is not None and p95 is not None
            spread[metric] = Spread(known[0], median, p95, known[-1], len(over.seeds), len(known))
    return spread


def _kept(name: str, variant: str | None) -> list[VariantReport]:
    """The variants that a result of --json tells of."""
    from rebalsim.outside.documents import parse_json
    from rebalsim.outside.rule import strange
    from rebalsim.reports.from_json import report_from
    from rebalsim.trace.gzipped import text_of

    strange(name)
    found = list(report_from(parse_json(text_of(Path(name)), name), name).variants)
    named = [v for v in found if variant is None or v.name == variant]
    if not named:
        raise InputError(f"{name}: holds {', '.join(v.name for v in found)} and not '{variant}'")
    return named


def only_variant(found: Sequence[VariantReport], name: str) -> VariantReport:
    """The one variant that a command asks about; with several, --variant must say which."""
    if len(found) == 1:
        return found[0]
    names = ", ".join(v.name for v in found)
    raise InputError(
        f"{name}: is played in {len(found)} variants ({names}) — say which with --variant"
    )


def report_on(name: str, found: Sequence[VariantReport], command: str) -> Report:
    """The report of one source: its title and facts from the scenario or the trace's header."""
    header = found[0].analysis.header
    kafka = ", ".join(
        dict.fromkeys(v.analysis.header.kafka for v in found if v.analysis.header.kafka)
    )
    report = Report(
        header.title or _stem(name),
        tuple(found),
        file=name,
        digest=header.digest,
        kafka=kafka,
        seed=header.seed,
        version=__version__,
        command=command,
    )
    if kind_of(name) != SCENARIO:
        return report
    from rebalsim.scenario.load import read_bytes

    shown, raw = ("standard input", b"") if name == "-" else read_bytes(name)
    return replace(report, file=shown, scenario=raw.decode("utf-8", "replace"))


def _stem(name: str) -> str:
    path = Path(name)
    return path.name.split(".")[0] or path.name or name
