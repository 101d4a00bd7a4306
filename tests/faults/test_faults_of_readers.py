"""Inputs that hurt: each was found, each is a test named by it. All of them are read in one process
that may take 700 MB, and each must end with 2 (or 0 to 3) and a sentence, within two seconds of the
processor's time.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rebalsim.cli.main import code_of
from rebalsim.outside import pipes
from rebalsim.proof.readers import READERS, Reading

ROOT = Path(__file__).parents[2]
MOST_S, MOST_MB = 2.0, 700
STORY = """\
topics: {orders: {partitions: 3, rate: 100/s}}
group: {members: 2, config: {partition.assignment.strategy: range}}
script: [{at: 20s, crash: c1}]
replay: [as-written]
horizon: 90s
budgets: {longest_pause: "<= 60s"}
"""
RUNNER = """
import contextlib, io, json, resource, sys, time
from rebalsim.cli.main import code_of
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    code_of(["lint", "good.yaml"]); code_of(["run", "good.yaml"]); code_of(["verify", "good.yaml"])
most = int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for name, words in json.load(open("asked.json")).items():
    out, err = io.StringIO(), io.StringIO()
    print(json.dumps([name, -1, 0, "it never came back"]), flush=True)
    began = time.process_time()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = code_of(words)
    said = err.getvalue()[:2000]
    print(json.dumps([name, code, time.process_time() - began, said]), flush=True)
"""
Make = Callable[[Path], None]


def text(content: str | bytes) -> Make:
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return lambda path: path.write_bytes(raw) and None


def story(**changed: str) -> Make:
    """The good one with other parts, as their whole lines."""
    lines = dict(line.partition(": ")[::2] for line in STORY.splitlines())
    return text("".join(f"{k}: {v}\n" for k, v in {**lines, **changed}.items()))


def topics(*each: str) -> str:
    return "{" + ", ".join(f"t{n}: {one}" for n, one in enumerate(each)) + "}"


def made_trace(path: Path, change: Callable[[list[dict[str, Any]]], None]) -> None:
    lines = [json.loads(x) for x in (path.parent / "good.jsonl").read_text("utf-8").splitlines()]
    change(lines)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def event(lines: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    return next(line for line in lines if line.get("event") == kind)


def trace(change: Callable[[list[dict[str, Any]]], None]) -> Make:
    return lambda path: made_trace(path, change)


def result(change: Callable[[dict[str, Any]], None]) -> Make:
    def make(path: Path) -> None:
        document = json.loads((path.parent / "good.json").read_text("utf-8"))
        change(document)
        path.write_text(json.dumps(document), "utf-8")

    return make


def set_to(*keys: Any, value: Any) -> Callable[[Any], None]:
    def change(document: Any) -> None:
        for key in keys[:-1]:
            document = document[key]
        document[keys[-1]] = value

    return change


FIRST = ("variants", 0)
A_LOG = (
    "[2026-03-01 10:00:00,000] INFO [Consumer clientId=c0, groupId=g] Adding newly assigned "
    "partitions: orders-{} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
)
VARIANTS = (
    "[" + ", ".join(f"{{v{n}: {{config: {{session.timeout.ms: 1{n}s}}}}}}" for n in range(30)) + "]"
)

# what it was → (file, how it is made, the command; FILE stands for it)
FAULTS: dict[str, tuple[str, Make, tuple[str, ...]]] = {
    "a_pattern_of_forty_questions_hung": (
        "s.yaml",
        story(topics="{" + "a" * 60 + ": 1}", group=f"{{members: 1, pattern: '{'a?' * 40}b'}}"),
        ("lint", "FILE"),
    ),
    "a_pattern_of_alternatives_hung": (
        "s.yaml",
        story(topics="{" + "a" * 60 + ": 1}", group=f"{{members: 1, pattern: '{'(a|a)' * 50}b'}}"),
        ("lint", "FILE"),
    ),
    "zipf_weights_were_worked_out_before_the_limit_was_looked_at": (
        "s.yaml",
        story(
            topics=topics(
                *(f"{{partitions: 200000, rate: 1/s, skew: zipf 1.{n:03d}}}" for n in range(150))
            )
        ),
        ("lint", "FILE"),
    ),
    "skew_zipf_300_overflowed": (
        "s.yaml",
        story(topics="{orders: {partitions: 9, rate: 1/s, skew: zipf 300}}"),
        ("run", "FILE"),
    ),
    "two_thousand_daily_rates_took_minutes": (
        "s.yaml",
        story(
            topics=topics(*["{partitions: 1, rate: {daily: {low: 1/s, high: 2/s}}}"] * 2_000),
            horizon="365d",
        ),
        ("lint", "FILE"),
    ),
    "hundreds_of_unknown_names_took_half_a_minute": (
        "s.yaml",
        story(
            topics=topics(*["1"] * 3_000),
            replay=VARIANTS,
            script="["
            + ", ".join(f"{{at: {n}s, delete_topic: tx{n}y}}" for n in range(1, 400))
            + "]",
        ),
        ("lint", "FILE"),
    ),
    "a_thousand_deploys_in_thirty_variants_took_minutes": (
        "s.yaml",
        story(
            group="{members: 200}",
            horizon="1d",
            replay=VARIANTS,
            script="["
            + ", ".join(
                f"{{at: {n}s, deploy: {{config: {{session.timeout.ms: {10 + n % 20}s}}}}}}"
                for n in range(1, 1_000)
            )
            + "]",
        ),
        ("lint", "FILE"),
    ),
    "a_story_of_a_million_rebalances_was_begun": (
        "s.yaml",
        story(
            random_faults="[{kind: crash, about_every: 10s, for: 1s}]",
            group="{members: 20}",
            horizon="365d",
        ),
        ("run", "FILE"),
    ),
    "a_trace_header_of_1e25_partitions_took_4_gb": (
        "t.jsonl",
        trace(set_to(0, "trace", "topics", "orders", "partitions", value=10**25)),
        ("report", "FILE"),
    ),
    "a_trace_header_of_a_billion_partitions_took_4_gb": (
        "t.jsonl",
        trace(set_to(0, "trace", "topics", "orders", "partitions", value=10**9)),
        ("report", "FILE"),
    ),
    "a_trace_with_a_horizon_of_2_to_the_63": (
        "t.jsonl",
        trace(set_to(0, "trace", "horizon_us", value=1 << 63)),
        ("report", "FILE"),
    ),
    "a_trace_with_a_partition_of_1e25": (
        "t.jsonl",
        trace(lambda x: event(x, "CallbackBegan").update(partitions=["orders-" + "9" * 25])),
        ("report", "FILE"),
    ),
    "a_trace_with_infinity": (
        "t.jsonl",
        trace(set_to(0, "trace", "consumers", "c0", "per_record_us", value=float("inf"))),
        ("report", "FILE"),
    ),
    "a_trace_with_half_a_character": (
        "t.jsonl",
        trace(set_to(0, "trace", "title", value="\ud800")),
        ("report", "FILE"),
    ),
    "a_trace_with_an_unknown_why": (
        "t.jsonl",
        trace(lambda x: event(x, "ConsumerExited").update(how="by magic")),
        ("report", "FILE"),
    ),
    "a_trace_of_brackets": ("t.jsonl", text('{"trace": ' + "[" * 100_000), ("report", "FILE")),
    "a_log_line_of_partition_1e25_took_4_gb": (
        "c.log",
        text(A_LOG.format("9" * 25)),
        ("report", "FILE"),
    ),
    "a_log_line_of_partition_999999999_took_4_gb": (
        "c.log",
        text(A_LOG.format("999999999")),
        ("report", "FILE"),
    ),
    "a_gzip_bomb_took_3_gb": (
        "b.json",
        text(gzip.compress(b'{"schema_version": 1, "x": "' + b"a" * (200 << 20), 9)),
        ("report", "FILE"),
    ),
    "a_gzip_bomb_of_logs": (
        "b.log.gz",
        text(gzip.compress(b"\0" * (200 << 20), 9)),
        ("report", "FILE"),
    ),
    "a_cut_gzip": (
        "b.json",
        text(gzip.compress(b'{"schema_version": 1}')[:-9]),
        ("report", "FILE"),
    ),
    "a_result_with_a_huge_partition": (
        "r.json",
        result(set_to(*FIRST, "partitions", 0, "partition", value="orders-999999999")),
        ("report", "FILE"),
    ),
    "a_result_with_an_unknown_why": (
        "r.json",
        result(set_to(*FIRST, "pauses", 0, "why", value="by magic")),
        ("report", "FILE"),
    ),
    "a_result_with_text_for_a_number": (
        "r.json",
        result(set_to(*FIRST, "horizon_us", value="long")),
        ("compare", "FILE", "FILE"),
    ),
    "a_result_with_nan": (
        "r.json",
        result(set_to(*FIRST, "metrics", "lag_peak", "value", value=float("nan"))),
        ("report", "FILE"),
    ),
    "a_baseline_of_a_newer_version": (
        "b.json",
        text('{"baseline": 99, "rebalsim": "9.0", "stories": {}}'),
        ("check", "good.yaml", "--baseline", "FILE"),
    ),
    "a_baseline_with_nan": (
        "b.json",
        text('{"baseline": 1, "rebalsim": "0", "stories": NaN}'),
        ("check", "good.yaml", "--baseline", "FILE"),
    ),
    "a_baseline_of_brackets": (
        "b.json",
        text("[" * 100_000),
        ("check", "good.yaml", "--baseline", "FILE"),
    ),
    "a_conversation_of_brackets": ("c.jsonl", text("[" * 100_000), ("verify", "FILE")),
    "vectors_of_2_to_the_53_partitions_hung": (
        "v.jsonl",
        text(
            '{"assignor":"range","steps":[{"generation":1,"topics":{"t":9007199254740992},"members":'
            '[{"id":"a","topics":["t"],"owned":[],"owned_generation":-1}],"assignment":{"a":[]}}]}\n'
        ),
        ("verify", "FILE"),
    ),
    "a_recording_of_half_a_million_records_a_second_hung": (
        "rec.json",
        lambda path: (
            path.write_text(
                (ROOT / "rebalsim/proof/fuzz_seeds/recording.json")
                .read_text("utf-8")
                .replace('"rate_per_partition": 2', '"rate_per_partition": 549893'),
                "utf-8",
            )
            and None
        ),
        ("verify", "FILE"),
    ),
    "a_manifest_of_a_million_entries_took_a_quarter_of_a_minute": (
        "m.yaml",
        text(b"- a\n" * 990_000),
        ("import", "FILE"),
    ),
    "a_group_that_never_keeps_up_was_played_for_minutes_to_try_a_fix": (
        "s.yaml",
        story(
            topics="{orders: {partitions: 1, rate: 20/s}}",
            group="{members: 1, handler: 100ms}",
            script="[]",
            horizon="300d",
        ),
        ("lint", "FILE", "--advise", "5000"),
    ),
    "a_setting_that_is_no_number_stopped_preview": (
        "k.yaml",
        text(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: orders}\nspec:\n"
            "  replicas: 2\n  template:\n    spec:\n      containers:\n        - name: a\n"
            "          env:\n"
            "            - {name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: orders}\n"
            "            - {name: SPRING_KAFKA_CONSUMER_PROPERTIES_SESSION_TIMEOUT_MS, value: abc}\n"
        ),
        ("preview", "FILE", "--advise", "off"),
    ),
    "init_copied_a_file_of_200_mb": (
        "big.yaml",
        text(b"# a line of no use to anybody at all\n" * 60_000),
        ("init", "fresh", "--from", "FILE"),
    ),
    "a_file_name_that_is_too_long_was_a_bug": (
        "p.yaml",
        text(f"scenario: {'x' * 5_000}\naxes: {{seed: [1]}}\n"),
        ("sweep", "FILE", "--tables"),
    ),
}
MAY_PASS = (
    "a_log_line",
    "a_pattern",
    "skew_zipf",
    "a_trace_with_an_unknown_why",
    "a_result",
    "a_setting",
    "a_group",
)


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[int, float, str]]:
    """Fault → exit code, seconds, what was said."""
    folder = tmp_path_factory.mktemp("faults")
    (folder / "good.yaml").write_text(STORY, "utf-8")
    rebalsim = [sys.executable, "-m", "rebalsim"]
    kept = subprocess.run(
        [*rebalsim, "run", "good.yaml", "--json"], cwd=folder, capture_output=True, check=True
    )
    (folder / "good.json").write_bytes(kept.stdout)
    subprocess.run(
        [*rebalsim, "run", "good.yaml", "--trace", "good.jsonl"],
        cwd=folder,
        capture_output=True,
        check=True,
    )
    asked = {}
    for number, (name, (file, make, command)) in enumerate(FAULTS.items()):
        path = folder / f"{number}-{file}"
        make(path)
        asked[name] = [path.name if word == "FILE" else word for word in command]
    (folder / "asked.json").write_text(json.dumps(asked), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", RUNNER, str(MOST_MB)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert found, done.stderr
    return {name: (code, seconds, said) for name, code, seconds, said in found}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test(fault: str, endings: dict[str, tuple[int, float, str]]) -> None:
    code, seconds, said = endings[fault]
    assert code == 2 or (fault.startswith(MAY_PASS) and 0 <= code <= 3), said
    assert "Traceback" not in said and "contradicts itself" not in said
    if fault.startswith("a_setting"):
        assert "cannot be made sense of" not in said  # the last resort, which names no line
    assert seconds < MOST_S


@pytest.mark.parametrize("command", ["report", "lint", "verify", "check", "run"])
def test_a_device_hung(command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rebalsim", command, "/dev/zero"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr


@pytest.mark.parametrize("command", ["report", "lint", "verify", "check", "run"])
def test_a_pipe_without_a_writer_hung(
    command: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(pipes, "SILENCE_S", 0.2)
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    assert code_of([command, str(path)]) == 2
    assert "gave nothing for 0.2 s" in "".join(capsys.readouterr())


@pytest.mark.parametrize("command", ["run", "check", "lint", "explain"])
def test_a_shells_substitution_was_empty_for_whoever_read_it_twice(
    command: str, tmp_path: Path
) -> None:
    (tmp_path / "s.yaml").write_text(STORY, "utf-8")
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m rebalsim {command} <(cat s.yaml)"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_mutated_inputs_of_a_reader_ended_in_a_bugs_message(name: str, tmp_path: Path) -> None:
    """26 of 400 results did, 10 of 400 conversations; `rebalsim dev fuzz` breaks as many as anybody likes."""
    reading = Reading(READERS[name], tmp_path, code_of)
    endings = [reading.judge(reading.broken(18, number), number) for number in range(60)]
    assert len(set(endings)) > 1  # some are read, some refused
