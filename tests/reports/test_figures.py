"""Two values of a metric beside each other."""

from __future__ import annotations

import pytest

from rebalsim.reports.figures import say_change


@pytest.mark.parametrize(
    ("name", "before", "after", "said"),
    [
        ("rebalancing_share", 0.0016, 0.0024, "0.16 % → 0.24 %"),
        ("rebalancing_share", 0.002, 0.004, "0.2 % → 0.4 %"),
        ("rebalancing_share", 0.002, 0.002, "0.2 % as before"),
        ("rebalances_per_hour", 0.02, 0.04, "0.02 → 0.04"),
        ("longest_pause", 45_000_000.0, 45_000_400.0, "45.0000 s → 45.0004 s"),
        ("lag_peak", 0.2, 0.4, "0.2 → 0.4"),
        ("longest_pause", None, 4_000_000.0, "- → 4.00 s"),
    ],
)
def test_what_differs_is_said_so_that_it_shows(
    name: str, before: float | None, after: float, said: str
) -> None:
    assert say_change(name, before, after) == said
