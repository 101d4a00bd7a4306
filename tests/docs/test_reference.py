"""docs/reference.md is what the code says of itself."""

from __future__ import annotations

import pytest
from pages import ROOT

from rebalsim.cli.dev.reference import reference

PAGE = ROOT / "docs" / "reference.md"


def test_the_reference_is_that_of_the_code(request: pytest.FixtureRequest) -> None:
    told = reference()
    if request.config.getoption("--update-golden"):
        PAGE.write_text(told, encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == told, (
        "pytest tests/docs --update-golden writes docs/reference.md anew"
    )


def test_it_names_every_command_and_every_exit_code() -> None:
    told = reference()
    for word in ("`rebalsim run`", "`rebalsim check`", "| 70 |", "`longest_pause`", "**barrier**"):
        assert word in told
