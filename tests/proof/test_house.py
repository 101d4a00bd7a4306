"""The source in figures: what is counted, and what counts as a cycle."""

from __future__ import annotations

import ast
import json

import pytest

from rebalsim.cli.main import code_of
from rebalsim.proof.house import cycles_within_rooms


def cycles(**modules: str) -> list[list[str]]:
    return cycles_within_rooms(
        {f"rebalsim.analysis.{name}": ast.parse(text) for name, text in modules.items()}
    )


def test_two_files_of_a_room_that_import_each_other_are_a_cycle() -> None:
    assert cycles(
        a="from rebalsim.analysis.b import x",
        b="if TYPE_CHECKING:\n    from rebalsim.analysis import a",
        c="from rebalsim.analysis.a import x",
    ) == [["rebalsim.analysis.a", "rebalsim.analysis.b"]]


def test_a_chain_is_no_cycle() -> None:
    assert cycles(a="from rebalsim.analysis.b import x", b="import rebalsim.analysis.c", c="") == []


@pytest.mark.slow
def test_the_house_is_told_with_all_its_rooms(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("ruff")
    assert code_of(["dev", "house", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {"simulation", "scenario", "analysis"} <= {room["name"] for room in told["rooms"]}
    assert told["function_p90"] >= told["function_quartiles"][2]


def test_what_moved_under_dev_still_answers_to_its_old_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert code_of(["seeds", "--show"]) == 0 and capsys.readouterr().out.startswith("title: ")
    assert code_of(["--help"]) == 0 and "bench" not in capsys.readouterr().out
