"""How phases and states look: those of phases are on their cards."""

from __future__ import annotations

from dataclasses import dataclass

from rebalsim.domain.bar_piece import BarPiece
from rebalsim.domain.kafka_states import KafkaGroupState
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.phases.card import Look, cards

CONSUMING, UNOWNED, BRIEF = "=", " ", "!"


@dataclass(frozen=True, slots=True)
class PieceLook:
    """How a piece of a bar that is no pause looks: its letter among codes, how it is drawn, and
    what the legend calls it.
    """

    code: str
    sign: str
    style: str
    meaning: str


PIECES: dict[BarPiece, PieceLook] = {
    BarPiece.CONSUMING: PieceLook(CONSUMING, "━", "green", "consuming"),
    BarPiece.UNOWNED: PieceLook(UNOWNED, " ", "", "nobody has it"),
}

LOOKS: dict[PhaseKind, Look] = {kind: card.look for kind, card in cards().items()}
BY_LETTER: dict[str, PhaseKind] = {look.letter: kind for kind, look in LOOKS.items()}

# Kafka's group states: a letter and the filling of the rest of a run.
STATE_LOOKS: dict[str, tuple[str, str, str, str]] = {
    KafkaGroupState.EMPTY: ("E", " ", " ", "bright_black"),
    KafkaGroupState.PREPARING_REBALANCE: ("P", "▓", "%", "yellow"),
    KafkaGroupState.COMPLETING_REBALANCE: ("C", "▒", "*", "bright_yellow"),
    KafkaGroupState.STABLE: ("─", "─", "-", "green"),
    KafkaGroupState.ASSIGNING: ("G", "▓", "%", "yellow"),
    KafkaGroupState.RECONCILING: ("Y", "▒", "*", "bright_yellow"),
    KafkaGroupState.DEAD: ("X", " ", " ", "red"),
}
