"""The states of a classic group: which step is legal, for every pair."""

from __future__ import annotations

from itertools import product

import pytest

from rebalsim.domain.errors import BugError
from rebalsim.protocol.states import ClassicState

# §1.2: Empty→Preparing; Stable→Preparing; Completing→Preparing; Preparing→Completing;
# Preparing→Empty; Completing→Stable; anything→Dead
LEGAL = {
    ("Empty", "PreparingRebalance"),
    ("Stable", "PreparingRebalance"),
    ("CompletingRebalance", "PreparingRebalance"),
    ("PreparingRebalance", "CompletingRebalance"),
    ("PreparingRebalance", "Empty"),
    ("CompletingRebalance", "Stable"),
    *((state.value, "Dead") for state in ClassicState),
}


@pytest.mark.parametrize(
    ("before", "after"), list(product(ClassicState, ClassicState)), ids=lambda state: state.value
)
def test_a_step_between_states_is_legal_or_a_bug(before, after):
    if (before.value, after.value) in LEGAL:
        assert after.entered_from(before) is after
    else:
        with pytest.raises(BugError, match=f"{before.value} cannot become {after.value}"):
            after.entered_from(before)
