"""`--wire`: every heartbeat and commit of a run, by the millisecond."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

from click.testing import CliRunner, Result

from rebalsim.cli.main import door
from rebalsim.trace.events import RequestSent, ResponseReceived
from rebalsim.trace.jsonl import read_trace

STUCK = """
topics: {orders: {partitions: 2, rate: 10/s}}
group: {members: 2, handler: 1ms}
script: [{at: 30s, hang: {members: c0, for: 35s}}]
replay: [eager, cooperative]
horizon: 90s
"""


def ask(*args: str) -> Result:
    return CliRunner().invoke(door, list(args), standalone_mode=False)


def story(tmp_path: Path) -> str:
    path = tmp_path / "stuck.yaml"
    path.write_text(STUCK, encoding="utf-8")
    return str(path)


def test_a_hang_is_told_with_every_beat(tmp_path: Path) -> None:
    said = ask(
        "trace", story(tmp_path), "--variant", "eager", "--wire", "--event", "Heartbeat",
        "--member", "c0", "--from", "30s", "--to", "65s", "--json",
    )  # fmt: skip
    told = [json.loads(line) for line in said.output.splitlines()]
    sent = [row["at_us"] for row in told if "sent" in row["text"]]
    assert 11 <= len(sent) <= 12  # 35 s of 3 s and the lateness of each
    apart = [later - earlier for earlier, later in pairwise(sent)]
    assert all(3_000_000 <= gap <= 3_105_000 for gap in apart)


def test_without_it_no_beat_is_told(tmp_path: Path) -> None:
    said = ask("trace", story(tmp_path), "--variant", "eager", "--event", "Heartbeat")
    assert said.output == "No event passes these filters.\n"


def test_run_prints_the_report_as_ever_and_then_the_wire_of_each_variant(tmp_path: Path) -> None:
    path = story(tmp_path)
    plain = ask("run", "--advise", "off", path, "--member", "c0", "--from", "30s").stdout
    wired = ask("run", "--advise", "off", path, "--member", "c0", "--from", "30s", "--wire").stdout
    assert wired.startswith(plain)
    for heading in ("On the wire: eager\n", "On the wire: cooperative\n"):
        assert "OffsetCommit" in wired.split(heading)[1].split("On the wire")[0]


def test_a_trace_of_the_wire_pairs_requests_and_answers(tmp_path: Path) -> None:
    path, out = story(tmp_path), tmp_path / "t.jsonl"
    ask("run", "--advise", "off", path, "--variant", "eager", "--wire", "--trace", str(out))
    events = read_trace(out).events
    sent = {e.number for e in events if isinstance(e, RequestSent)}
    answered = [e.number for e in events if isinstance(e, ResponseReceived)]
    assert len(answered) == len(set(answered)) and set(answered) <= sent
    assert len(sent) - len(answered) <= 4  # under way when the story ends
    assert {e.api for e in events if isinstance(e, RequestSent)} >= {"Heartbeat", "OffsetCommit"}
    assert "On the wire" not in ask("report", str(out)).output


def test_forms_without_events_and_what_has_happened_already_say_so(tmp_path: Path) -> None:
    path, out = story(tmp_path), tmp_path / "t.jsonl"
    wrong = ask("run", "--advise", "off", path, "--wire", "--json")
    assert wrong.exception is not None and "--trace FILE" in str(wrong.exception)
    ask("run", "--advise", "off", path, "--variant", "eager", "--trace", str(out))
    late = ask("trace", str(out), "--wire")
    assert late.exception is not None and "has happened already" in str(late.exception)
