"""`rebalsim preview`: two versions of the files in, what the deploy does out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from rebalsim.cli.preview import command
from rebalsim.domain.scenario import Scenario
from rebalsim.one_run import Run, run_once

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: orders
  annotations: {{{annotations}}}
spec:
  replicas: {replicas}
  strategy: {{rollingUpdate: {{maxSurge: {surge}}}}}
  template:
    spec:
      containers:
      - name: app
        image: shop/orders:{version}
        readinessProbe: {{tcpSocket: {{port: 1}}, initialDelaySeconds: 20}}
        env:
        - {{name: KAFKA_GROUP_ID, value: orders-group}}
        - {{name: KAFKA_TOPIC, value: orders}}
        - {{name: KAFKA_PARTITION_ASSIGNMENT_STRATEGY, value: "{assignor}"}}
"""
PLAIN = {
    "annotations": "",
    "replicas": 4,
    "surge": "25%",
    "version": 1,
    "assignor": "org.apache.kafka.clients.consumer.RangeAssignor",
}
COOPERATIVE = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"


def write(path: Path, **changed: object) -> str:
    path.write_text(MANIFEST.format(**{**PLAIN, **changed}), encoding="utf-8")
    return str(path)


def preview(*arguments: str) -> Result:
    return CliRunner().invoke(command, [*arguments, "--advise", "off"], standalone_mode=False)


def test_the_roll_is_played_by_its_own_rules_and_what_differs_is_told(tmp_path: Path) -> None:
    old = write(tmp_path / "old.yaml")
    new = write(tmp_path / "new.yaml", version=2, surge="100%")
    result = preview(old, new)
    assert result.return_value == 0, result.output
    assert "orders: maxSurge 25% = 1 → 100% = 4" in result.stdout
    assert "The longest pause of a partition is" in result.stdout
    assert "restart before" in result.stdout and "crash after" in result.stdout


def test_new_alone_is_a_restart_as_it_stands(tmp_path: Path) -> None:
    result = preview(write(tmp_path / "new.yaml"))
    assert result.return_value == 0 and "A restart of orders" in result.stdout
    assert "What differs" not in result.stdout


@pytest.mark.slow
def test_budgets_come_from_annotations_and_a_file_and_end_the_build(tmp_path: Path) -> None:
    new = write(tmp_path / "new.yaml", version=2, annotations='rebalsim.io/longest-pause: "<= 1ms"')
    limits = tmp_path / "limits.yaml"
    limits.write_text('budgets:\n  rebalances: "<= 100"\n', encoding="utf-8")
    junit = tmp_path / "junit.xml"
    result = preview(
        write(tmp_path / "old.yaml"), new, "--budgets", str(limits), "--junit", str(junit)
    )
    assert result.return_value == 1, result.output
    assert "✗ longest_pause <= 1ms" in result.stdout and "✓ rebalances <= 100" in result.stdout
    suite = ET.parse(junit).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    placed = {(case.get("file"), case.get("line")) for case in suite.iter("testcase")}
    assert placed == {(new, "6"), (str(limits), "2")}  # where the limits were written


def test_what_is_assumed_of_topics_is_what_is_played(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    declared = """---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: invoices}
spec: {partitions: 9}
"""
    text = MANIFEST.format(**PLAIN).replace(
        "{name: KAFKA_TOPIC, value: orders}", "{name: A, value: b}"
    )
    new.write_text(text + declared, encoding="utf-8")
    said = " ".join(preview(str(new)).stdout.split())
    assert "which topics are consumed: invoices (" in said
    assert "how many partitions each topic has: 9 (" in said


@pytest.mark.slow
def test_assignors_without_one_in_common_are_refused(tmp_path: Path) -> None:
    result = preview(
        write(tmp_path / "old.yaml"), write(tmp_path / "new.yaml", assignor=COOPERATIVE)
    )
    assert "Kafka refuses this change" in result.stdout
    assert "deploy twice, first with both" in result.stdout


@pytest.mark.slow
def test_the_headline_is_the_tables_figure_over_the_same_runs(tmp_path: Path) -> None:
    for versions in (
        [write(tmp_path / "new.yaml")],
        [write(tmp_path / "old.yaml"), write(tmp_path / "new.yaml", version=2)],
    ):
        told = json.loads(preview(*versions, "--json").stdout)
        row = {f["metric"]: f["deploy"] for f in told["figures"]}
        assert told["runs"] == 20
        assert f"is {row['longest pause']}" in told["verdict"]
        assert f"in {row['rebalances']} rebalances" in told["verdict"]
        text = preview(*versions).stdout
        shown = next(line for line in text.splitlines() if line.startswith("longest pause"))
        assert shown.split("  ")[1:] and row["longest pause"] in shown


def test_a_budget_is_judged_by_the_worst_run_and_says_so(tmp_path: Path) -> None:
    limits = tmp_path / "limits.yaml"
    limits.write_text('rebalances: "<= 1"\n', encoding="utf-8")
    result = preview(write(tmp_path / "new.yaml"), "--budgets", str(limits))
    assert result.return_value == 1
    assert "the worst of 20 runs; 20 of them break it" in " ".join(result.stdout.split())


@pytest.mark.slow
def test_what_would_keep_a_broken_budget_is_tried_and_told_with_it(tmp_path: Path) -> None:
    """Also in the build's report, whose command is one that can be run."""
    limits, junit = tmp_path / "limits.yaml", tmp_path / "j.xml"
    limits.write_text('longest-pause: "<= 1s"\n', encoding="utf-8")
    versions = [write(tmp_path / f"{n}.yaml", version=n) for n in (1, 2)]
    asked = (*versions, "--budgets", str(limits))
    told = CliRunner().invoke(command, [*asked, "--junit", str(junit)], standalone_mode=False)
    text = " ".join(told.stdout.split())
    hint = text[text.index("→ heartbeat.interval.ms 3s") :]
    assert "longest pause" in hint and "seeds of a restart with the new settings)" in hint
    failure = ET.fromstring(junit.read_text("utf-8")).find(".//failure")
    assert failure is not None and failure.text is not None
    assert "→ heartbeat.interval.ms 3s" in failure.text
    assert f"again: rebalsim preview {versions[0]} {versions[1]}" in failure.text
    assert "→" not in preview(*asked).stdout.split("Budgets")[1]


def test_a_budget_that_is_none_is_told_where_it_was_written(tmp_path: Path) -> None:
    limits = tmp_path / "limits.yaml"
    limits.write_text('rebalances: "<= 9"\nmax_pause: "<= 5s"\n', encoding="utf-8")
    result = preview(write(tmp_path / "new.yaml"), "--budgets", str(limits))
    assert str(result.exception).startswith(f"{limits}:2:1: There is no metric 'max_pause'")


def test_what_both_sides_say_alike_is_played_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rebalsim.preview import runs

    titles: list[str] = []

    def counted(scenario: Scenario, seed: int | None = None) -> Run:
        titles.append(scenario.title)
        return run_once(scenario, seed)

    monkeypatch.setattr(runs, "run_once", counted)
    versions = [write(tmp_path / f"{n}.yaml", version=n) for n in (1, 2)]
    assert preview(*versions).return_value == 0
    assert titles.count("the day") == 10  # with the crash and the restart of both sides


@pytest.mark.slow
def test_a_day_tells_its_crash_apart_from_the_restart_after_it(tmp_path: Path) -> None:
    """In the table each stands as if it were alone: the crash's runs are those of a crash alone."""
    from rebalsim.preview import preview as room
    from rebalsim.preview import runs, stories

    name = write(tmp_path / "new.yaml")
    side = room.side_of(name, [(name, Path(name).read_text(encoding="utf-8"))])
    day, crash = (
        room._played_as(what, side, room.FIGURES) for what in (stories.day, stories.crash)
    )
    over_us = 1_000_000 * stories.crash_is_over(side.plays)
    of_crash, of_restart = day.within(runs.SINCE_US, over_us), day.within(over_us)
    assert day.seeds == crash.seeds and of_crash.values == crash.values
    sums = zip(*(of.values["rebalances"] for of in (of_crash, of_restart, day)))
    assert all(one and other and one + other == both for one, other, both in sums)


@pytest.mark.slow
def test_recreate_needs_no_assignor_in_common(tmp_path: Path) -> None:
    def recreated(name: str, **changed: object) -> str:
        path = tmp_path / name
        rolled = "{rollingUpdate: {maxSurge: 25%}}"
        write(path, **changed)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(rolled, "{type: Recreate}"), encoding="utf-8")
        return str(path)

    result = preview(recreated("old.yaml"), recreated("new.yaml", assignor=COOPERATIVE))
    assert "Kafka refuses" not in result.stdout
    assert "the assignors need nothing in common" in " ".join(result.stdout.split())


BOTH = f"{COOPERATIVE},{PLAIN['assignor']}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (PLAIN["assignor"], BOTH, "the first of two deploys towards cooperative rebalancing"),
        (BOTH, COOPERATIVE, "the second of two deploys towards cooperative rebalancing"),
        (BOTH, PLAIN["assignor"], "another assignor: while both run, they use range"),
        (COOPERATIVE, BOTH, "back to eager rebalancing"),
    ],
)
def test_a_change_of_assignors_is_told_as_the_migration_it_is(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    old = write(tmp_path / "old.yaml", assignor=before)
    result = preview(old, write(tmp_path / "new.yaml", assignor=after))
    assert said in " ".join(result.stdout.split()) and "Kafka refuses" not in result.stdout


def moved(path: Path, *lines: str) -> str:
    """The plain manifest, but for the consumer protocol, and these variables beside."""
    write(path)
    kept = [n for n in path.read_text(encoding="utf-8").split("\n") if "STRATEGY" not in n]
    named = [
        f"        - {line}" for line in ("{name: KAFKA_GROUP_PROTOCOL, value: consumer}", *lines)
    ]
    path.write_text("\n".join([*kept, *named]), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_a_change_of_protocol_is_played_as_a_live_migration(tmp_path: Path) -> None:
    result = preview(write(tmp_path / "old.yaml"), moved(tmp_path / "new.yaml"))
    assert result.return_value == 0, result.exception
    said = " ".join(result.stdout.split())
    assert "a live migration to the consumer protocol (KIP-848)" in said
    back = preview(moved(tmp_path / "new.yaml"), write(tmp_path / "old.yaml"))
    assert "a live migration back to the classic protocol" in " ".join(back.stdout.split())


@pytest.mark.slow
def test_what_a_client_or_a_broker_would_not_take_is_refused(tmp_path: Path) -> None:
    new = moved(tmp_path / "new.yaml", "{name: KAFKA_SESSION_TIMEOUT_MS, value: '30000'}")
    result = preview(write(tmp_path / "old.yaml"), new)
    assert "the client does not start while session.timeout.ms" in " ".join(result.stdout.split())
    brokers = tmp_path / "kafka.yaml"
    brokers.write_text(
        "apiVersion: kafka.strimzi.io/v1beta2\nkind: Kafka\nmetadata: {name: k}\n"
        "spec: {kafka: {version: 3.9.0, replicas: 3}}\n",
        encoding="utf-8",
    )
    both = tmp_path / "both"
    both.mkdir()
    moved(both / "new.yaml")
    brokers.rename(both / "kafka.yaml")
    result = preview(write(tmp_path / "old.yaml"), str(both))
    assert "needs brokers of 4.0 or newer" in " ".join(result.stdout.split())


SCALER = """
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: orders}
spec:
  scaleTargetRef: {name: orders}
  minReplicaCount: 4
  maxReplicaCount: 12
  triggers:
  - type: kafka
    metadata: {bootstrapServers: k:9092, consumerGroup: orders-group, topic: orders, lagThreshold: "5"}
"""


@pytest.mark.slow
def test_an_autoscaler_at_an_assumed_rate_is_tried_beside_the_deploy(tmp_path: Path) -> None:
    new = tmp_path / "new.yaml"
    write(new)
    new.write_text(new.read_text(encoding="utf-8") + SCALER, encoding="utf-8")
    said = " ".join(preview(str(new)).stdout.split())
    assert "follows a rate that is only assumed" in said and "it would scale" in said


@pytest.mark.slow
def test_an_unchanged_template_restarts_nothing_and_says_so(tmp_path: Path) -> None:
    result = preview(write(tmp_path / "old.yaml"), write(tmp_path / "new.yaml", replicas=6))
    assert "so nothing restarts now" in result.stdout.replace("\n    ", " ")
    assert "orders: replicas 4 → 6" in result.stdout


@pytest.mark.slow
def test_a_comment_is_at_most_forty_lines_and_holds_no_html_of_the_files(tmp_path: Path) -> None:
    new = write(tmp_path / "new.yaml", version=2, replicas=9, surge=3)
    result = preview(write(tmp_path / "old.yaml"), new, "--markdown")
    lines = result.stdout.splitlines()
    assert len(lines) <= 40
    assert result.stdout.count("<li>") + result.stdout.count("\n- ") >= 8  # folded, not left out
    assert lines[0] == "<!-- rebalsim preview -->"
    assert any("<details>" in line for line in lines)


@pytest.mark.slow
def test_json_and_the_page_tell_the_same_verdict(tmp_path: Path) -> None:
    new, page = write(tmp_path / "new.yaml"), tmp_path / "page.html"
    result = preview(new, "--json", "--html", str(page))
    told = json.loads(result.stdout)
    assert told["verdict"] in page.read_text(encoding="utf-8").replace("\u00a0", " ")
    assert told["figures"][0]["metric"] == "longest pause"


@pytest.mark.slow
def test_the_same_files_say_the_same_again(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old.yaml"), write(tmp_path / "new.yaml", version=2)
    assert preview(old, new).stdout == preview(old, new).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deploy").mkdir()
    write(tmp_path / "deploy" / "orders.yaml")
    for name in ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"):
        monkeypatch.setenv(name, "a")
    for name in ("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "a@b")
    for arguments in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run(["git", *arguments], check=True)
    write(tmp_path / "deploy" / "orders.yaml", version=2, replicas=5)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("old", ["git:main", "git:main:deploy", "git:main:deploy/orders.yaml"])
def test_a_revision_is_read_without_being_checked_out(repository: Path, old: str) -> None:
    result = preview(old, "deploy")
    assert result.return_value == 0, result.output
    assert "orders: replicas 4 → 5" in result.stdout


def test_a_revision_that_is_not_there_says_what_to_write(repository: Path) -> None:
    result = CliRunner().invoke(command, ["git:nowhere", "deploy"], standalone_mode=False)
    assert "git knows no such revision" in str(result.exception)


def test_nothing_that_consumes_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("apiVersion: v1\nkind: Namespace\n", encoding="utf-8")
    result = CliRunner().invoke(command, [str(tmp_path / "x.yaml")], standalone_mode=False)
    assert "Nothing in these files consumes" in str(result.exception)
