"""`rebalsim import`: files in, a scenario out that can be played."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rebalsim.cli.import_files import command
from rebalsim.scenario.load import load_scenario

MANIFEST = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: orders
  annotations: {rebalsim.io/longest-pause: "<= 30s"}
spec:
  replicas: 4
  template:
    spec:
      terminationGracePeriodSeconds: 45
      containers:
      - name: app
        image: shop/orders:1
        readinessProbe: {httpGet: {path: /}, initialDelaySeconds: 20}
        env:
        - {name: SPRING_KAFKA_CONSUMER_GROUP_ID, value: orders-group}
        - {name: SPRING_KAFKA_CONSUMER_MAX_POLL_RECORDS, value: "100"}
        - {name: ORDERS_TOPIC, value: orders}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "deploy.yaml"
    path.write_text(MANIFEST, encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_manifest_becomes_a_scenario_that_loads_and_says_every_source(
    manifest: Path, tmp_path: Path
) -> None:
    out = tmp_path / "ours.yaml"
    result = CliRunner().invoke(command, [str(manifest), "--out", str(out)], standalone_mode=False)
    assert result.return_value == 0, result.output
    story = load_scenario(out)
    assert story.scenario().groups[0].consumers[0].config.max_poll_records == 100
    text = out.read_text(encoding="utf-8")
    assert "deploy.yaml:8" in text and "# ASK: how many partitions" in text
    assert 'longest_pause: "<= 30s"' in text
    assert "surge: 1, max_unavailable: 1" in text


def test_nothing_is_ever_overwritten(manifest: Path, tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [str(manifest), "--out", str(manifest)])
    assert result.exit_code == 1 and manifest.read_text(encoding="utf-8") == MANIFEST


def test_json_is_printed_also_where_nothing_consumes(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("kind: Namespace\napiVersion: v1\n", encoding="utf-8")
    result = CliRunner().invoke(command, [str(tmp_path), "--json"], standalone_mode=False)
    assert result.return_value == 2 and json.loads(result.stdout)["consumers"] == []


@pytest.mark.slow
def test_explain_tells_what_was_understood_and_what_would_hurt(manifest: Path) -> None:
    result = CliRunner().invoke(command, [str(manifest), "--explain"], standalone_mode=False)
    assert "Deployment/orders" in result.stdout and "Asked" in result.stdout
    assert "max.poll.records" in result.stdout


def test_a_link_out_of_the_given_folder_is_not_followed(manifest: Path, tmp_path: Path) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    (folder / "link.yaml").symlink_to(manifest)
    result = CliRunner().invoke(command, [str(folder), "--json"], standalone_mode=False)
    assert result.return_value == 2 and json.loads(result.stdout)["files"] == []


@pytest.mark.slow
def test_a_pipe_is_read_and_a_missing_file_is_an_error(manifest: Path) -> None:
    result = CliRunner().invoke(command, ["-"], input=MANIFEST, standalone_mode=False)
    assert result.return_value == 0 and "orders-group" in result.stdout
    missing = CliRunner().invoke(command, ["nowhere.yaml"])
    assert missing.exception is not None and "cannot be read" in str(missing.exception)
