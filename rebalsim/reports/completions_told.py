"""A card for each way in which a round may be completed: its words. One table."""

from __future__ import annotations

from rebalsim.domain.completion import Completion

_WORDS = {
    Completion.UNTOLD: "",
    Completion.ALL_JOINED: "everybody had joined",
    Completion.TIMER: "the rebalance timeout",
    Completion.REMOVAL: "a member's removal",
    Completion.INITIAL_DELAY: "the initial delay",
    Completion.EMPTY: "nobody was left",
    Completion.COMPUTED: "no barrier: computed",
}


def tell_completion(how: Completion) -> str:
    """`everybody had joined`; a code of somebody else's as it stands."""
    return _WORDS.get(how, how)
