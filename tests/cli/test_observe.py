"""`rebalsim observe`, as its users meet it."""

from __future__ import annotations

import gzip
import json
import os
import threading
from pathlib import Path

import pytest

from rebalsim.cli.main import code_of

LOGS = Path(__file__).parents[1] / "reality" / "logs" / "scale-out-coop"


def said(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> str:
    assert code_of(["observe", *args]) == code
    out = capsys.readouterr()
    return out.out + out.err


def test_a_folder_tells_rebalances_and_what_stood_still(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = said(capsys, str(LOGS))
    assert "generation 1: c" in text
    assert "What stood still, by cause" in text
    assert "partition-seconds" in text
    assert "No coordinator's log is at hand" in text


def test_json_has_groups_and_clocks(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(said(capsys, str(LOGS), "--json"))
    (group,) = document["groups"].values()
    assert {"rebalances", "callbacks", "pauses"} <= set(group)
    assert all(c["kind"] in ("assigned", "revoked", "lost") for c in group["callbacks"])


def test_a_page_a_trace_and_a_table_come_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    page, trace = tmp_path / "night.html", tmp_path / "night.jsonl"
    said(capsys, str(LOGS), "--html", str(page), "--trace", str(trace))
    assert "<html" in page.read_text(encoding="utf-8")
    assert code_of(["describe", str(trace), "--at", "20s"]) == 0
    assert "still stands still" not in said(capsys, str(LOGS), "--pauses")


def test_anonymised_has_no_name_of_before(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, str(LOGS), "--anonymise") + said(capsys, str(LOGS), "--anonymise", "--json")
    assert "scale-out" not in text
    assert "c0" not in text
    assert '"topic-1-0"' in text


def test_anonymised_pages_and_traces_have_no_name_either(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = gzip.decompress((LOGS / "c0.1.log.gz").read_bytes())
    log, page, trace = tmp_path / "orders-host.log", tmp_path / "p", tmp_path / "t"
    log.write_bytes(text.replace(b"c0", b"member-of-orders"))
    files = "--html", str(page), "--trace", str(trace)
    shown = said(capsys, str(log), "--anonymise", "--pauses", *files)
    for told in (shown, page.read_text(encoding="utf-8"), trace.read_text(encoding="utf-8")):
        assert "scale-out" not in told
        assert "orders" not in told


def test_followed_logs_are_anonymised_too(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from rebalsim.cli.observe_follow import follow_logs
    from rebalsim.worlds.logs.anonymise import Names

    (tmp_path / "c0.log").write_bytes(gzip.decompress((LOGS / "c0.1.log.gz").read_bytes()))
    follow_logs((str(tmp_path),), "", names=Names(), most=2)
    told = capsys.readouterr().out
    assert "group-1" in told
    assert "scale-out" not in told
    assert "c0" not in told


@pytest.mark.parametrize(
    ("mode", "vain"),
    [("--follow", "--pauses"), ("--follow", "--json"), ("--spark", "--anonymise")],
)
def test_what_a_mode_would_pass_over_is_refused(
    capsys: pytest.CaptureFixture[str], mode: str, vain: str
) -> None:
    assert f"{mode} does not go with {vain}." in said(capsys, str(LOGS), mode, vain, code=2)


def test_what_to_log_names_loggers_and_levels(capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "--what-to-log")
    assert "org.apache.kafka.coordinator.group" in text
    assert "debug=cgrp" in text


def test_what_is_no_log_is_said_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "photo.log").write_bytes(bytes(range(256)) * 20)
    whole = gzip.compress(b"2026-01-01 00:00:00,000 INFO hello\n" * 500)
    (tmp_path / "cut.log.gz").write_bytes(whole[: len(whole) // 2])
    text = said(capsys, str(tmp_path), code=2)
    assert "photo.log: is binary" in text
    assert "cut.log.gz: is cut" in text
    assert "there is no such file" in said(capsys, str(tmp_path / "nowhere"), code=2)


def test_where_no_file_can_be_read_at_all_that_is_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    photo, cut, good = (tmp_path / name for name in ("photo.log", "cut.log.gz", "good.log"))
    photo.write_bytes(bytes(range(256)) * 20)
    cut.write_bytes(gzip.compress(b"2026-01-01 00:00:00,000 INFO hello\n")[:15])
    text = said(capsys, str(photo), str(cut), code=2)
    assert "photo.log: is binary and no log" in text
    assert "cut.log.gz: is cut" in text and "nothing of it could be read" in text
    assert "give logs as text, plain or in gzip or zstd" in text
    good.write_text("2026-01-01 00:00:00,000 INFO hello\n")
    assert "photo.log: is binary and no log; left out" in said(
        capsys, str(photo), str(good), code=2
    )


def test_hostile_text_reaches_no_terminal(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    log = tmp_path / "evil.log"
    log.write_text(
        "2026-01-01 00:00:00,000 INFO [Consumer clientId=\x1b[31mc, groupId=<script>] "
        "(Re-)joining group\n"
        "2026-01-01 00:00:01,000 INFO [Consumer clientId=\x1b[31mc, groupId=<script>] Adding newly "
        "assigned partitions: [t-0]\n"
    )
    page = tmp_path / "p.html"
    assert "\x1b" not in said(capsys, str(log), "--html", str(page))
    assert "<script>]" not in page.read_text(encoding="utf-8")


def test_follow_tells_each_rebalance_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from rebalsim.cli.observe_follow import follow_logs

    text = gzip.decompress((LOGS / "c0.1.log.gz").read_bytes())
    (tmp_path / "c0.log").write_bytes(text)
    follow_logs((str(tmp_path),), "", most=3)
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert len(lines) == len(set(lines))


def test_standard_input_is_told_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first rebalance is told while the pipe is still open, and once."""
    from rebalsim.cli import observe_follow

    told: list[str] = []
    has_told = threading.Event()

    def hear(line: str) -> None:
        told.append(line)
        has_told.set()

    monkeypatch.setattr(observe_follow, "EVERY_S", 0.05)
    monkeypatch.setattr(observe_follow.click, "echo", hear)
    text = gzip.decompress((LOGS / "c0.1.log.gz").read_bytes())
    read_end, write_end = os.pipe()
    early: list[str] = []

    def write() -> None:
        with os.fdopen(write_end, "wb") as pipe:
            pipe.write(text)
            pipe.flush()
            has_told.wait(20)
            early.extend(told)

    writer = threading.Thread(target=write)
    writer.start()
    with os.fdopen(read_end, "rb") as pipe:
        assert observe_follow.follow_input(pipe, "") == 0
    writer.join()
    assert "generation 1" in early[0]
    assert len(told) == len(set(told))


def test_files_and_standard_input_are_not_followed_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "--follow takes files and folders, or - alone." in said(
        capsys, "-", str(LOGS), "--follow", code=2
    )
