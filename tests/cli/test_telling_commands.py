"""report, compare, describe, trace and explain of a file: what they take, what they write, and
what they say when something is wrong.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from rebalsim.cli import exits
from rebalsim.cli.main import code_of
from rebalsim.cli.report_options import instant
from rebalsim.domain.errors import InputError
from rebalsim.reports.result_schema import result_schema

STORIES = Path(__file__).parent.parent / "golden" / "reports"
EAGER, COOPERATIVE = (
    str(STORIES / "troubles" / f"{name}.trace.jsonl") for name in ("eager", "cooperative")
)

Said = pytest.CaptureFixture[str]


def out(capsys: Said, *args: str, code: int = exits.WITHIN) -> str:
    found = code_of(list(args))
    captured = capsys.readouterr()
    assert found == code, captured.err
    assert "Traceback" not in captured.err
    return captured.out if code == exits.WITHIN else captured.err


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "CI"):
        monkeypatch.delenv(name, raising=False)


# ------------------------------------------------------------------------------------------- report


def test_a_trace_is_told_without_simulating(capsys: Said) -> None:
    text = out(capsys, "report", EAGER)
    assert "c2's handler got stuck (hang-2)" in " ".join(text.split()) and "20.1 s" in text
    assert max(len(line) for line in text.split("\n") if not line.startswith("Again: ")) <= 80


def test_a_scenario_is_played_first(capsys: Said) -> None:
    text = out(capsys, "report", "scale-out")
    assert "eager (range)" in text and "cooperative (cooperative-sticky)" in text
    assert (
        "cooperative"
        not in out(capsys, "report", "scale-out", "--variant", "eager").split("What stood")[0]
    )


def test_width_ascii_and_colour(capsys: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    assert max(map(len, out(capsys, "report", EAGER, "--width", "120").split("\n"))) > 100
    assert out(capsys, "report", EAGER, "--ascii").isascii()
    assert "\x1b[" not in out(capsys, "report", EAGER)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in out(capsys, "report", EAGER)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in out(capsys, "report", EAGER)
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, out(capsys, "report", EAGER).split("\n"))) > 150


def test_forms_on_stdout(capsys: Said) -> None:
    jsonschema.validate(json.loads(out(capsys, "report", EAGER, "--json")), result_schema())
    assert out(capsys, "report", EAGER, "--markdown").startswith("## ")
    assert (
        next(csv.DictReader(io.StringIO(out(capsys, "report", EAGER, "--csv"))))["variant"]
        == "eager"
    )


def test_forms_in_files(capsys: Said, tmp_path: Path) -> None:
    page, perfetto, metrics, trace = (
        tmp_path / name for name in ("a.html", "a.json", "a.prom", "a.jsonl")
    )
    out(
        capsys,
        "report",
        EAGER,
        "--html",
        str(page),
        "--perfetto",
        str(perfetto),
        "--openmetrics",
        str(metrics),
        "--trace",
        str(trace),
    )
    assert (
        page.read_text().startswith("<!doctype html>")
        and json.loads(perfetto.read_text())["traceEvents"]
    )
    assert (
        metrics.read_text().endswith("# EOF\n") and trace.read_bytes() == Path(EAGER).read_bytes()
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.html", "a.json", "a.jsonl", "a.prom"]


def test_traces_of_several_variants_get_a_file_each(capsys: Said, tmp_path: Path) -> None:
    out(capsys, "report", "scale-out", "--trace", str(tmp_path / "t.jsonl"))
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "t.cooperative.1.jsonl",
        "t.eager.1.jsonl",
    ]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("report", "nowhere.jsonl"), "There is no file and no stock story"),
        (("report", EAGER, "--json", "--csv"), "both go to stdout"),
        (
            ("report", EAGER, "--variant", "cooperative"),
            "holds the variant 'eager' and not 'cooperative'",
        ),
        (
            ("report", EAGER, "--partition", "order-3"),
            "There is no partition 'order-3' — did you mean 'orders-3'?",
        ),
        (("report", EAGER, "--member", "c9"), "There is no member 'c9'"),
        (("report", EAGER, "--from", "10m"), "is after the end: the observation stops at 3:00"),
        (("report", EAGER, "--from", "2m", "--to", "1m"), "--from is not before --to"),
        (("report", EAGER, "--from", "41"), "41 has no unit — write 41s or 41ms"),
        (("report", EAGER, "--html", "/nowhere/at/all.html"), "cannot be written"),
        (("trace", "scale-out"), "say which with --variant"),
        (("trace", EAGER, "--set", "seed=2"), "--set and --seed are for scenarios"),
        (("describe", EAGER, "--at", "1h"), "--at is after the end"),
        (("describe", EAGER, "--members", "--state"), "choose one"),
        (("describe", EAGER, "--group", "nobody"), "There is no group 'nobody'"),
        (
            ("explain", EAGER, "--partition", "orders-99", "--at", "1s"),
            "There is no partition 'orders-99'",
        ),
        (("explain", EAGER, "--at", "1h"), "--at is after the end"),
        (("compare", EAGER, "nowhere.jsonl"), "There is no file and no stock story"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(
    capsys: Said, args: tuple[str, ...], said: str
) -> None:
    assert said in out(capsys, *args, code=exits.INVALID)


def test_broken_files_are_named(capsys: Said, tmp_path: Path) -> None:
    cut = tmp_path / "cut.jsonl"
    cut.write_bytes(Path(EAGER).read_bytes()[:-200])
    assert "cut.jsonl" in out(capsys, "report", str(cut), code=exits.INVALID)
    other = tmp_path / "other.json"
    other.write_text('{"a": 1}\n')
    assert "neither a trace" in out(capsys, "report", str(other), code=exits.INVALID)
    result = tmp_path / "result.json"
    result.write_text(out(capsys, "report", EAGER, "--json"))
    assert "keep the trace with --trace FILE" in out(
        capsys, "describe", str(result), code=exits.INVALID
    )
    assert "a result without its events" in out(
        capsys, "report", str(result), "--trace", str(tmp_path / "t"), code=exits.INVALID
    )
    result.write_text(result.read_text()[:5000])
    assert "was the file cut" in out(capsys, "report", str(result), code=exits.INVALID)
    empty = tmp_path / "logs"
    empty.mkdir()
    assert "is an empty folder" in out(capsys, "report", str(empty), code=exits.INVALID)
    nothing = tmp_path / "nothing.jsonl"
    nothing.write_text("")
    out(capsys, "report", str(nothing), code=exits.INVALID)


@pytest.mark.parametrize(
    "args",
    [
        ("report",),
        ("report", "--markdown"),
        ("report", "--csv"),
        ("report", "--json"),
        ("trace", "--json"),
        ("trace",),
        ("explain",),
        ("describe", "--members"),
    ],
)
def test_a_stdout_that_takes_ascii_only_gets_ascii(args: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "rebalsim", args[0], EAGER, *args[1:]]
    done = subprocess.run(
        command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}, timeout=60
    )
    assert done.returncode == exits.WITHIN, done.stderr.decode()
    assert done.stdout.isascii() and done.stdout
    if "--json" in args:
        assert all(
            json.loads(line)
            for line in ([done.stdout] if args[0] == "report" else done.stdout.splitlines())
        )


# ------------------------------------------------------------------------------------------ compare


def test_compare_two_traces(capsys: Said) -> None:
    text = out(capsys, "compare", EAGER, COOPERATIVE)
    assert "From eager to cooperative" in text and "By phase" in text and "By partition" in text
    document = json.loads(out(capsys, "compare", EAGER, COOPERATIVE, "--json"))
    jsonschema.validate(document, result_schema())
    assert [v["name"] for v in document["variants"]] == ["eager", "cooperative"]
    for partition in document["differences"][0]["partitions"]:
        assert sum(phase["by_us"] for phase in partition["phases"]) == partition["by_us"]


def test_compare_a_scenario_against_itself_finds_nothing(capsys: Said) -> None:
    document = json.loads(out(capsys, "compare", "scale-out", "scale-out", "--json"))
    assert [(d["before"], d["after"]) for d in document["differences"]] == [
        ("A eager", "B eager"),
        ("A cooperative", "B cooperative"),
    ]
    assert all(not d["partitions"] for d in document["differences"])


SAMPLED = ("scale-out", "--replay", "consumer")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "form"),
    [
        (("explain", *SAMPLED), ()),
        *(
            (words, form)
            for words in (
                ("run", "--advise", "off", *SAMPLED),
                ("report", "{story}"),
                ("compare", "scale-out", *SAMPLED),
            )
            for form in ((), ("--markdown",), ("--json",))
        ),
    ],
)
def test_beside_one_run_of_the_consumer_protocol_stands_what_more_seeds_come_to(
    capsys: Said,
    tmp_path: Path,
    words: tuple[str, ...],
    form: tuple[str, ...],
) -> None:
    story = tmp_path / "story.yaml"
    story.write_text(
        "topics: {orders: 4}\ngroup: {members: 2}\nscript: [{at: 30s, scale: 3}]\nreplay: "
        "[consumer]\nhorizon: 1m\n",
        encoding="utf-8",
    )
    told = " ".join(
        out(capsys, *(word.format(story=story) for word in words), *form)
        .replace("&#8722;", "-")
        .split()
    )
    assert "Over 20 seeds" in told and "by chance (member ids, races of 100" in told
    if form == ("--json",):
        spread = json.loads(told)["variants"][0]["spread"]
        assert spread["longest_pause"]["runs"] == 20
    elif words[0] != "explain":
        assert re.search(r"\(p95 [\d.]+ m?s, max", told) and "highest value over 20 seeds" in told


def test_the_classic_protocol_is_told_without_a_spread(capsys: Said) -> None:
    assert "seeds" not in out(
        capsys,
        "compare",
        "scale-out",
        "scale-out",
        "--set",
        "group.config.heartbeat.interval.ms=1s",
    )


def test_compare_a_trace_against_a_scenario(capsys: Said, tmp_path: Path) -> None:
    out(capsys, "report", "scale-out", "--variant", "eager", "--trace", str(tmp_path / "old.jsonl"))
    text = out(
        capsys,
        "compare",
        str(tmp_path / "old.jsonl"),
        "scale-out",
        "--set",
        "group.config.heartbeat.interval.ms=1s",
    )
    assert (
        "From old to scale-out eager" in text
        and "--set group.config.heartbeat.interval.ms=1s" in text
    )


def test_compare_a_kept_result_against_what_is_now(capsys: Said, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text(out(capsys, "report", "scale-out", "--json"))
    document = json.loads(
        out(capsys, "compare", str(tmp_path / "kept.json"), "scale-out", "--json")
    )
    assert [(d["before"], d["after"]) for d in document["differences"]] == [
        ("kept eager", "scale-out eager"),
        ("kept cooperative", "scale-out cooperative"),
    ]
    assert all(not d["partitions"] for d in document["differences"])


def test_compare_tells_what_of_the_stories_differs(capsys: Said, tmp_path: Path) -> None:
    story = """\
topics: {orders: {partitions: 4, rate: 40/s}}
group: {members: 2, handler: 1ms, config: {session.timeout.ms: 45s}}
script: [{at: 30s, scale: {to: 3}}]
horizon: 90s
replay: [eager, cooperative]
"""
    changed = story.replace("handler: 1ms", "handler: 2ms").replace("45s", "20s")
    for name, text in (("a", story), ("b", changed)):
        (tmp_path / f"{name}.yaml").write_text(text, "utf-8")
    text = out(capsys, "compare", str(tmp_path / "a.yaml"), str(tmp_path / "b.yaml"))
    told = " ".join(text.split())
    assert "Settings that changed: session.timeout.ms 45s → 20s (" in told and "b.yaml:2)." in told
    assert "Of the story changed: handler." in told
    assert "a eager and b eager: n/a. This variant is eager on purpose." in told


def test_compare_writes_a_page(capsys: Said, tmp_path: Path) -> None:
    page = tmp_path / "c.html"
    out(capsys, "compare", EAGER, COOPERATIVE, "--html", str(page), "--markdown")
    assert "From eager to cooperative" in page.read_text()


# ------------------------------------------------------------------------- trace, describe, explain


def test_the_exchange_is_filtered(capsys: Said) -> None:
    text = out(
        capsys,
        "trace",
        EAGER,
        "--event",
        "Callback*",
        "--member",
        "c1",
        "--from",
        "30s",
        "--to",
        "1m20s",
    )
    lines = text.strip().split("\n")
    assert lines and all("c1" in line and "Callback" in line for line in lines)
    numbered = out(capsys, "trace", EAGER, "--event-number", "3", "--event-number", "5")
    assert [line.split()[0] for line in numbered.strip().split("\n")] == ["3", "5"]
    told = [
        json.loads(line)
        for line in out(capsys, "trace", EAGER, "--records", "--json").strip().split("\n")
    ]
    assert len(told) == len(Path(EAGER).read_text().strip().split("\n")) - 1 and set(told[0]) == {
        "number",
        "at_us",
        "who",
        "name",
        "text",
    }
    assert "No event passes" in out(capsys, "trace", EAGER, "--event", "Nothing")
    concerned = [
        json.loads(line)["text"]
        for line in out(capsys, "trace", EAGER, "--partition", "orders-3", "--json")
        .strip()
        .split("\n")
    ]
    assert len(concerned) > 10 and all("orders-" in text for text in concerned)


@pytest.mark.parametrize("command", ["report", "explain", "trace", "describe"])
def test_an_empty_name_is_no_folder(command: str, capsys: Said) -> None:
    assert code_of([command, ""]) == 2
    assert "empty" in capsys.readouterr().err


def test_a_negative_moment_is_advised_on_once(capsys: Said) -> None:
    assert code_of(["describe", EAGER, "--at", "-1s"]) == 2
    assert capsys.readouterr().err.count(" — ") == 1


def test_a_group_that_rebalances_tells_no_assignor(capsys: Said) -> None:
    row = out(capsys, "describe", EAGER, "--at", "40s", "--state").strip().split("\n")[-1]
    assert "PreparingRebalance" in row and "range" not in row


def test_describe_shows_kafkas_columns(capsys: Said) -> None:
    table, _, note = out(capsys, "describe", EAGER, "--at", "35s").strip().partition("\n\n")
    assert (
        note.startswith("Note: CURRENT-OFFSET is what had been committed")
        and "(5.00 s here)" in note
    )
    rows = [line.split() for line in table.split("\n")]
    assert rows[0] == [
        "GROUP",
        "TOPIC",
        "PARTITION",
        "CURRENT-OFFSET",
        "LOG-END-OFFSET",
        "LAG",
        "CONSUMER-ID",
        "HOST",
        "CLIENT-ID",
    ]
    assert [r[2] for r in rows[1:]] == [str(n) for n in range(6)]
    assert all(int(r[4]) - int(r[3]) == int(r[5]) for r in rows[1:])
    assert [r[8] for r in rows[1:]] == [
        "c0",
        "c0",
        "c1",
        "c1",
        "c2",
        "c2",
    ]  # c1 is dead, and nobody knows
    assert min(int(r[5]) for r in rows[3:5]) > max(int(r[5]) for r in (*rows[1:3], *rows[5:]))
    members = out(capsys, "describe", EAGER, "--at", "1m20s", "--members", "--verbose")
    assert "CURRENT-ASSIGNMENT" in members and re.search(r"orders:\d(,\d)*", members)
    assert "Stable" in out(capsys, "describe", EAGER, "--at", "20s", "--state")
    moving = out(capsys, "describe", EAGER, "--at", "40s", "--members")
    assert moving.startswith("Warning: Consumer group 'group' is rebalancing.") and not re.search(
        r" [1-9]\d*$", moving, re.M
    )


def test_explain_walks_the_chain(capsys: Said) -> None:
    text = out(capsys, "explain", EAGER, "--partition", "orders-2", "--at", "35s")
    assert "after c1 crashed (crash-1)" in text and "#" in text
    instants = [
        instant(m)
        for m in re.findall(r"^ +(\d+:\d\d\.\d{3}|\d+\.\d{3} s)  ", text, re.M)
        if ":" in m
    ]
    assert instants == sorted(instants)
    order = [
        text.index(f"{phase}: ")
        for phase in ("detection", "notice", "barrier", "assignment", "fetch")
        if f"{phase}: " in text
    ]
    assert order == sorted(order) and len(order) >= 4
    assert (
        "What it hangs on: Only the session's end tells of a dead member: "
        "session.timeout.ms (10.0 s here)" in " ".join(text.split())
    )


def test_explain_says_when_nothing_stood_still(capsys: Said) -> None:
    text = " ".join(out(capsys, "explain", EAGER, "--partition", "orders-0", "--at", "25s").split())
    assert (
        "orders-0 did not stand still: it was consumed by c0" in text and "After that, from" in text
    )


def test_explain_without_a_partition_takes_the_longest(capsys: Said) -> None:
    assert "stood still for 20.1 s" in out(capsys, "explain", EAGER)
    both = out(capsys, "explain", "scale-out", "--width", "100")
    assert "eager (range):" in both and "cooperative (cooperative-sticky):" in both


@pytest.mark.parametrize(
    ("text", "us"),
    [
        ("41s", 41_000_000),
        ("1m30s", 90_000_000),
        ("1:30", 90_000_000),
        ("1:30.250", 90_250_000),
        ("1:00:00", 3_600_000_000),
    ],
)
def test_moments(text: str, us: int) -> None:
    assert instant(text) == us


@pytest.mark.parametrize("text", ["", "soon", "1:2:3:4", "-5s", "1:", "::"])
def test_what_is_no_moment(text: str) -> None:
    with pytest.raises(InputError):
        instant(text)


def test_the_schema_of_results_is_printed(capsys: Said) -> None:
    assert json.loads(out(capsys, "schema", "--result")) == result_schema()


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "scale-out", "--advise", "off"],
        ["lint", "topic-growth", "--advise", "off"],
        ["--help"],
    ],
)
def test_lc_all_c_prints_ascii_whatever_python_makes_of_it(arguments: list[str]) -> None:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "LC_", "LANG"))}

    def told(**more: str) -> bytes:
        done = subprocess.run(
            [sys.executable, "-m", "rebalsim", *arguments],
            capture_output=True,
            env={**kept, **more},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    assert told(LC_ALL="C").isascii()
    if arguments[0] == "run":
        assert not told(LC_ALL="C", PYTHONUTF8="1").isascii()
