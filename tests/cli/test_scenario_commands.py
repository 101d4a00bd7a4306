"""lint, show, init, schema and completion at the door: what goes where, and with which exit
code.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rebalsim.cli.main import COMMANDS, code_of

GOOD = "topics: {orders: 4}\ngroup: {members: 3}\n"
BAD = "topics: {orders: 4}\ngroup: {membrs: 3}\nhorizon: 1:30\n"
HURTS = (
    "topics: {orders: 4}\ngroup: {members: 3, config: {session.timeout.ms: 6s, "
    "heartbeat.interval.ms: 5s}}\n"
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, text in (("good", GOOD), ("bad", BAD), ("hurts", HURTS)):
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def test_lint_tells_every_mistake_on_stdout_and_counts_them_on_stderr(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["lint", "bad.yaml"]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "bad.yaml:2:9: 'membrs' is not a key of the group — did you mean 'members'?",
        "     2 | group: {membrs: 3}",
        "       |         ^^^^^^",
        "bad.yaml:3:10: 1:30 is a number in base 60 for some readers of YAML (1:30 is 90) — "
        'write 1m30s, or "1:30" for text',
        "     3 | horizon: 1:30",
        "       |          ^^^^",
    ]
    assert err == "1 file: 2 errors.\n"


def test_lint_has_nothing_to_say_of_a_good_file(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["lint", "good.yaml", "--strict"]) == 0
    out, err = capsys.readouterr()
    assert (out, err) == ("", "1 file: nothing to say.\n")


def test_warnings_are_no_failure_unless_they_are_asked_to_be(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["lint", "hurts.yaml"]) == 0
    assert (
        "hurts.yaml:2:" in (told := capsys.readouterr().out)
        and "[session-under-three-heartbeats]" in told
    )
    assert code_of(["lint", "--strict", "hurts.yaml"]) == 1
    assert code_of(["lint", "--strict", "hurts.yaml", "bad.yaml", "good.yaml"]) == 2


def test_lint_takes_plans_too(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "plan.yaml").write_text(
        "scenario: good.yaml\naxes: {members: {set: group.members, values: [1, 2]}}\n",
        encoding="utf-8",
    )
    code = code_of(["lint", "plan.yaml"])
    out, _ = capsys.readouterr()
    assert code in (0, 2) and "`rebalsim sweep` plays it" not in out
    (here / "plan.yaml").write_text("scenario: nowhere.yaml\naxes: {}\n", encoding="utf-8")
    assert code_of(["lint", "plan.yaml"]) == 2
    assert "plan.yaml:1:" in capsys.readouterr().out


def test_lint_as_json_is_one_document(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["lint", "--json", "bad.yaml", "hurts.yaml", "nowhere.yaml"]) == 2
    files = json.loads(capsys.readouterr().out)["files"]
    assert [(f["file"], f["ok"]) for f in files] == [
        ("bad.yaml", False),
        ("hurts.yaml", True),
        ("nowhere.yaml", False),
    ]
    assert files[0]["problems"][0] == {
        "line": 2,
        "column": 9,
        "level": "error",
        "rule": "",
        "source": "group: {membrs: 3}",
        "message": "'membrs' is not a key of the group — did you mean 'members'?",
    }
    assert files[1]["problems"][0]["level"] == "warning" and files[1]["problems"][0]["rule"]


def test_a_name_that_is_no_file_and_no_story_gets_the_nearest(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["show", "scale-ou"]) == 2
    assert (
        "There is no file and no stock story 'scale-ou' — did you mean 'scale-out'?"
        in capsys.readouterr().err
    )


@pytest.mark.parametrize("name", [".", "a" * 5000, "nul\0l"])
def test_what_cannot_be_a_file_is_no_crash(here: Path, name: str) -> None:
    assert code_of(["show", name]) == 2
    assert code_of(["lint", name]) == 2


def test_a_stock_story_is_found_by_name_from_anywhere(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["show", "scale-out"]) == 0
    assert "scale to 3: c2 joins" in capsys.readouterr().out


def test_a_file_of_ones_own_goes_before_a_stock_story_of_the_same_name(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "scale-out").write_text("title: mine\n" + GOOD, encoding="utf-8")
    assert code_of(["show", "scale-out"]) == 0
    assert capsys.readouterr().out.startswith("mine\n")


def test_a_scenario_can_come_from_standard_input(here: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "rebalsim", "lint", "-"], input=BAD, capture_output=True, text=True
    )
    assert run.returncode == 2 and run.stdout.startswith("standard input:2:9: 'membrs'")


# --------------------------------------------------------------------------------------------- show


def test_show_fits_80_columns_and_tells_every_value_and_where_it_comes_from(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["show", "rolling-bounce", "--set", "group.config.max.poll.records=7"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    told = {
        line.split()[0]: " ".join(line.split()[1:])
        for line in lines
        if line.startswith("  ") and len(line.split()) > 1
    }
    assert told["heartbeat.interval.ms"] == "3s Java 4.3"
    assert told["max.poll.records"].startswith("7 --set")
    assert told["group.min.session.timeout.ms"] == "6s Kafka 4.3"
    assert "In cooperative (cooperative-sticky):" in lines
    assert any("group.instance.id" in line and "{name}" in line for line in lines)
    assert lines.index("Script") < lines.index("Topics") < lines.index("Cluster")


def test_show_tells_one_variant_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["show", "good.yaml", "--variant", "cooperative"]) == 0
    out = capsys.readouterr().out
    assert (
        "Shown: cooperative (cooperative-sticky)" in out
        and "In eager" not in out
        and "variant cooperative" in out
    )
    assert code_of(["show", "good.yaml", "--variant", "coperative"]) == 2
    assert "did you mean 'cooperative'?" in capsys.readouterr().err


def test_show_of_every_stock_story_and_good_file_says_where_each_line_of_a_table_comes_from(
    capsys: pytest.CaptureFixture[str],
) -> None:
    root = Path(__file__).parents[2]
    for path in [
        *sorted((root / "scenarios").glob("*.yaml")),
        *sorted((root / "tests/scenario/files").glob("*.good.yaml")),
    ]:
        assert code_of(["show", str(path)]) == 0, path
        out = capsys.readouterr().out
        assert max(map(len, out.splitlines())) <= 80, path
        assert "object at 0x" not in out and "Draw(" not in out and "None" not in out, path


def test_show_as_json_holds_the_resolved_variants(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["show", "good.yaml", "--json", "--seed", "9"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [v["variant"] for v in document["variants"]] == ["eager", "cooperative"]
    assert (
        document["variants"][0]["seed"] == 9
        and document["variants"][0]["topics"][0]["partitions"] == 4
    )


# ------------------------------------------------------------------------------------- init, schema


@pytest.mark.slow
def test_init_writes_a_scenario_that_lints_and_never_overwrites(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["init", "ours"]) == 0
    assert capsys.readouterr().out == "ours.yaml\n"
    written = (here / "ours.yaml").read_text(encoding="utf-8")
    assert (
        written.startswith("# yaml-language-server: $schema=rebalsim.schema.json\n")
        and "rebalsim lint ours.yaml" in written
    )
    assert code_of(["lint", "ours.yaml", "--advise", "off"]) == 0
    capsys.readouterr()
    assert code_of(["init", "ours.yaml"]) == 2
    assert "exists, and nothing is overwritten" in capsys.readouterr().err
    assert (here / "ours.yaml").read_text(encoding="utf-8") == written


def test_init_from_a_story_keeps_its_comments_and_one_header(here: Path) -> None:
    assert code_of(["init", "ours", "--from", "rolling-bounce", "--schema"]) == 0
    text = (here / "ours.yaml").read_text(encoding="utf-8")
    assert (
        text.count("yaml-language-server") == 1
        and "# from SIGTERM until the consumer is closed" in text
    )
    assert (
        json.loads((here / "rebalsim.schema.json").read_text(encoding="utf-8"))["title"]
        == "rebalsim scenario"
    )


def test_init_from_a_stock_plan_writes_its_scenario_beside_it(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from rebalsim.spark.plans import load_plan, stock_plans

    assert code_of(["init", "ours", "--from", "planner"]) == 0
    told = capsys.readouterr()
    assert (
        told.out.split() == ["ours.yaml", "ours-scenario.yaml"]
        and "Next: rebalsim sweep ours.yaml --dry-run" in told.err
    )
    assert (here / "ours-scenario.yaml").read_text("utf-8").count("yaml-language-server") == 1
    ours, stock = load_plan(here / "ours.yaml"), load_plan("planner")
    assert (
        ours.axes == stock.axes
        and ours.bases[0].text.split("\n", 1)[1] == stock.bases[0].text.split("\n", 1)[1]
    )
    assert code_of(["init", "ours", "--from", "planner"]) == 2
    for name in stock_plans():
        assert code_of(["init", f"from-{name}", "--from", name]) == 0
        assert load_plan(here / f"from-{name}.yaml").points == load_plan(name).points


def test_init_where_nothing_can_be_written_is_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert code_of(["init", "no/such/folder/x"]) == 2
    assert "cannot be written" in capsys.readouterr().err
    for name in ("", ".", "here/"):
        assert code_of(["init", name]) == 2
        assert "names no file" in capsys.readouterr().err
    assert not list(here.glob(".yaml"))


def test_every_action_that_the_starter_mentions_is_real(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The commented examples must work when somebody takes the comment sign away."""
    assert code_of(["init", "ours"]) == 0
    text = (here / "ours.yaml").read_text(encoding="utf-8")
    for example in [line for line in text.splitlines() if line.strip().startswith("# - {")]:
        one = text.replace(example, example.replace("# - {", "- {", 1).split("   #")[0])
        (here / "one.yaml").write_text(one, encoding="utf-8")
        assert code_of(["lint", "one.yaml", "--advise", "off"]) == 0, example
        capsys.readouterr()
    for example in [
        line
        for line in text.splitlines()
        if line.strip().startswith(("# group.instance.id", "# commit"))
    ]:
        (here / "one.yaml").write_text(
            text.replace(example, example.replace("# ", "", 1)), encoding="utf-8"
        )
        assert code_of(["lint", "one.yaml", "--advise", "off"]) == 0, example


def test_the_schema_is_printed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema["$defs"]["config"]["properties"]["session.timeout.ms"]["default"] == "45s"
    assert (
        "Kafka's own key"
        in schema["$defs"]["config"]["properties"]["session.timeout.ms"]["description"]
    )


# --------------------------------------------------------------------------------------- completion


def completions(words: str, number: int) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-c", "from rebalsim.cli.main import run; run()"],
        capture_output=True,
        text=True,
        env={
            "_REBALSIM_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(number),
            "PATH": "/usr/bin:/bin",
        },
    )
    return [line.split(",", 1)[1] for line in run.stdout.splitlines()]


def test_completion_knows_commands_stories_and_settings() -> None:
    assert "show" in completions("rebalsim s", 1)
    assert "scale-out" in completions("rebalsim show sc", 2)
    assert "group.config.session.timeout.ms=" in completions(
        "rebalsim show x --set group.config.se", 4
    )
    assert completions("rebalsim show x --variant coop", 4) == ["cooperative"]
    assert completions("rebalsim show rolling-bounce --variant st", 4) == ["static"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_is_taught_by_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert code_of(["completion", shell]) == 0
    assert "_REBALSIM_COMPLETE" in capsys.readouterr().out


def test_the_commands_of_this_room_are_in_the_table() -> None:
    listed = {name: heading for heading, commands in COMMANDS.items() for name in commands}
    assert {listed[n] for n in ("init", "show", "lint", "schema")} == {"Write"} and {
        listed[n] for n in ("dev", "completion")
    } == {"Project"}
