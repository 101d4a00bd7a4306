"""Which YAML files are scenarios: by two of our top-level keys, or the editor's line; plans and
foreign files are not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rebalsim.check.find import OUR_KEYS, find_files, kind_of
from rebalsim.domain.errors import InputError
from rebalsim.scenario.language import SCENARIO

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("topics: {orders: 4}\ngroup: {members: 2}\n", "scenario"),
        ("title: x\nbudgets:\n  longest_pause: 2s\n", "scenario"),
        (
            "group: {members: 2}\nhorizon: 1m\n",
            "scenario",
        ),  # its topics are forgotten: that is for the loader to say
        ("# yaml-language-server: $schema=rebalsim.schema.json\ntopics: 3\n", "scenario"),
        ("scenario: x\naxes:\n  group.members: [1, 2]\n", "plan"),
        ("groups:\n  - name: alerts\n    rules: []\n", ""),
        ("topics:\n  - name: orders\n    partitions: 12\n", ""),
        ("script:\n  - make\nlanguage: go\n", ""),
        ("apiVersion: v1\nkind: ConfigMap\ndata:\n  topics: x\n  group: y\n", ""),
        ("services:\n  kafka:\n", ""),
        ("", ""),
        ("- topics\n- group\n", ""),
    ],
)
def test_a_file_is_known_by_its_top_level_keys(text: str, kind: str) -> None:
    assert kind_of(text.encode()) == kind


def test_the_keys_are_those_of_the_language() -> None:
    assert [key for key in OUR_KEYS if key.decode() not in SCENARIO.by_key] == []


def test_every_stock_file_is_known() -> None:
    assert [
        p.name
        for p in sorted((ROOT / "scenarios").glob("*.yaml"))
        if kind_of(p.read_bytes()) != "scenario"
    ] == []
    assert [
        p.name
        for p in sorted((ROOT / "scenarios" / "sweeps").glob("*.yaml"))
        if kind_of(p.read_bytes()) != "plan"
    ] == []


def test_folders_are_walked_in_order_without_hidden_ones_and_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "b/z.yaml",
        "b/a.yml",
        "a.yaml",
        ".git/x.yaml",
        "node_modules/y.yaml",
        "b/.hidden.yaml",
        "b/note.txt",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("topics: {}\ngroup: {}\n", encoding="utf-8")
    (tmp_path / "b" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert find_files(["."]).files == ("a.yaml", "b/a.yml", "b/z.yaml")
    assert find_files(["b", "a.yaml", "b/*.yaml"]).files == ("b/a.yml", "b/z.yaml", "a.yaml")
    assert find_files(["**/*.yaml"]).files == ("a.yaml", "b/z.yaml")


@pytest.mark.parametrize("name", ["", "\0", "x" * 5000, "[", "scale-out", "-"])
def test_strange_names_are_left_to_whoever_reads_them(name: str) -> None:
    try:
        assert find_files([name]).files == (name,)
    except InputError as e:
        assert "Traceback" not in str(e)
