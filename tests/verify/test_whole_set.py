"""Twelve scripts recorded one after the other on a quiet machine, after the rules were written, and
none of them left out.

Handlers of 3 to 10 ms a record, Kafka's own timeouts, manual commits, costly callbacks, a kill,
a freeze and a hang. Nothing was tuned to them, and nothing was chosen for them: what the replays
agree with here is what may be expected of a recording that nobody has seen.
"""

from __future__ import annotations

import pytest

from rebalsim.verify.judge import total
from tests.verify.recordings import judged, names_in

NAMES = names_in("whole-set")


@pytest.mark.parametrize("name", NAMES)
def test_generations_and_callbacks_are_those_recorded(name: str) -> None:
    result = judged("whole-set", name)
    assert result.generations[0] == result.generations[1]
    assert result.differing == []


def test_the_figures_of_all_of_them() -> None:
    figures = total(judged("whole-set", name) for name in NAMES)
    assert figures["recordings"] == 12 and figures["pauses"] >= 110 and figures["events"] >= 45
    assert figures["callback_ms"][0] <= 15 and figures["callback_ms"][1] <= 50
    assert figures["pauses_percent"] >= 97 and figures["events_percent"] >= 96
    assert figures["pause_error_ms"][0] <= 30
