"""How a budget came out: its signs, its words and its colours, in every form of output."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.verdict import Outcome


@dataclass(frozen=True, slots=True)
class OutcomeCard:
    """What stands for an outcome."""

    sign: str  # in a terminal
    style: str  # rich's
    emoji: str  # in Markdown
    css: str  # a page's class
    word: str


OUTCOMES = {
    Outcome.PASS: OutcomeCard("✓", "green", "✅", "good", "kept"),
    Outcome.FAIL: OutcomeCard("✗", "bold red", "❌", "bad", "broken"),
    Outcome.INCONCLUSIVE: OutcomeCard("?", "yellow", "❔", "warn", "undecided"),
}
EMOJIS = {outcome: card.emoji for outcome, card in OUTCOMES.items()}
STYLED_SIGNS = {outcome: (card.sign, card.style) for outcome, card in OUTCOMES.items()}
# a page's class, and what stands there
SIGNS_OF_PAGES = {
    outcome: (card.css, f"{card.sign} {card.word}") for outcome, card in OUTCOMES.items()
}
