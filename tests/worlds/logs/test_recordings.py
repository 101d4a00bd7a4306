"""Whole logs of real consumers and brokers, against what the recordings say; and broken ones."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest
from reading_logs import REALITY, source

from rebalsim.analysis import analyse
from rebalsim.domain.errors import InputError
from rebalsim.trace import events as ev
from rebalsim.trace.gzipped import text_of
from rebalsim.trace.recording import read_recording
from rebalsim.trace.trace import Trace
from rebalsim.worlds.logs.sources import sources_in
from rebalsim.worlds.logs.to_trace import read_logs

WITH_LOGS = sorted(p.name for p in (REALITY / "logs").iterdir() if p.is_dir())


def logs_of(name: str) -> list[Path]:
    return [*sorted((REALITY / "logs" / name).iterdir()), REALITY / "logs" / "broker.log.gz"]


def trace_of(files: list[Path], group: str = "") -> Trace:
    return read_logs(sources_in([str(f) for f in files]), group)


def group_of(name: str) -> str:
    recorded = read_recording(REALITY / "traces" / f"{name}.json.gz")
    return next(iter(c.group for c in recorded.header.consumers.values()))


def callbacks(trace: Trace) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
    for e in trace.events:
        if type(e) is ev.CallbackBegan and e.partitions:
            names = tuple(sorted(str(p).rpartition(".")[2] for p in e.partitions))
            found.setdefault(e.consumer, []).append((e.callback, names))
    return found


@pytest.mark.parametrize("name", WITH_LOGS)
@pytest.mark.parametrize("has_broker", [True, False])
def test_logs_tell_the_same_callbacks_as_the_recording(name: str, has_broker: bool) -> None:
    recorded = read_recording(REALITY / "traces" / f"{name}.json.gz")
    alone = trace_of(logs_of(name)[:-1])
    group = next(iter(c.group for c in alone.header.consumers.values()))
    told = trace_of(logs_of(name), group) if has_broker else alone
    assert {c.partition(".")[0]: v for c, v in callbacks(told).items()} == callbacks(recorded)
    analysis = analyse(told)
    assert analysis.violations == []
    for pause in analysis.pauses:
        assert sum(p.length_us for p in pause.phases) == pause.length_us
    expected = [r.generation for r in analyse(recorded).rebalances]
    if has_broker:
        assert [r.generation for r in analysis.rebalances][: len(expected)] == expected


def test_one_group_of_many() -> None:
    files = [*logs_of("scale-out-coop")[:-1], *logs_of("crash-sticky")[:-1]]
    groups = {c.group for c in trace_of(files).header.consumers.values()}
    assert len(groups) == 2
    one = min(groups)
    assert {c.group for c in trace_of(files, one).header.consumers.values()} == {one}
    with pytest.raises(InputError, match="no line is of it"):
        trace_of(files, "elsewhere")


def test_nothing_of_kafkas_is_said_so() -> None:
    with pytest.raises(InputError, match=r"app\.log: no line is a Kafka consumer's"):
        read_logs([source("app.log", ["2025-01-01 00:00:00,000 INFO hello", ""])])


@pytest.mark.parametrize("seed", range(40))
def test_hostile_logs_do_not_crash(seed: int) -> None:
    stream = random.Random(seed)
    name = WITH_LOGS[seed % len(WITH_LOGS)]
    lines = [line for path in logs_of(name) for line in text_of(path).splitlines()]
    for _ in range(60):
        place = stream.randrange(len(lines))
        line = lines[place]
        cut = stream.randrange(len(line) + 1)
        lines[place] = stream.choice(
            (
                line[:cut],
                line[cut:],
                line[:cut] + "\x00\u2028" + line[cut:],
                line.replace("generationId=", "generationId=-"),
                line * 3,
                line.replace("2026", "9999"),
                line.replace("t-", "t-99999999"),
                "[Consumer clientId=" * 50,
                "\t" * 1_000,
                '{"log":' * 30 + line,
                line.replace(", ", "]"),
            )
        )
    if seed % 2:
        stream.shuffle(lines)
    told = read_logs([source("a.log", lines[::2]), source("b.log", lines[1::2])])
    assert [e.at_us for e in told.events] == sorted(e.at_us for e in told.events)
    for pause in analyse(told).pauses:
        assert sum(p.length_us for p in pause.phases) == pause.length_us


@pytest.mark.slow
def test_a_line_of_a_megabyte_takes_no_time() -> None:
    prefix = "2025-11-18 15:40:07,559 [main] INFO o.a.k.X - [Consumer clientId=c0, groupId=g] "
    lines = [prefix + "(Re-)joining group"]
    for text in (
        "Member " + "a " * 40_000,
        "Revoke previously assigned partitions " + "a-" * 45_000,
        "Group coordinator " + "is " * 30_000,
        "Attempt to heartbeat with " + "failed due to " * 6_000,
    ):
        lines += [prefix + text, prefix + text * 20]
        lines.append("[2025-11-18 15:40:07,559] INFO [GroupCoordinator 1]: " + text)
    began = time.process_time()
    assert read_logs([source("a.log", lines)]).events
    assert time.process_time() - began < 20, "a pattern walks such a line again and again"
