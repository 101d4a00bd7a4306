"""The states of a classic group, each with the states it may be entered from."""

from __future__ import annotations

from enum import Enum

from rebalsim.domain.errors import BugError
from rebalsim.domain.kafka_states import KafkaGroupState


class ClassicState(Enum):
    """Kafka's ClassicGroupState; the value is the name Kafka prints."""

    EMPTY = KafkaGroupState.EMPTY
    PREPARING_REBALANCE = KafkaGroupState.PREPARING_REBALANCE
    COMPLETING_REBALANCE = KafkaGroupState.COMPLETING_REBALANCE
    STABLE = KafkaGroupState.STABLE
    DEAD = KafkaGroupState.DEAD

    predecessors: tuple[ClassicState, ...]

    def entered_from(self, before: ClassicState) -> ClassicState:
        """This state, if the step is legal."""
        if before not in self.predecessors:
            legal = ", ".join(state.value for state in self.predecessors)
            raise BugError(
                f"A group in state {before.value} cannot become {self.value}; that state follows "
                f"{legal} only"
            )
        return self


ClassicState.EMPTY.predecessors = (ClassicState.PREPARING_REBALANCE,)
ClassicState.PREPARING_REBALANCE.predecessors = (
    ClassicState.STABLE,
    ClassicState.COMPLETING_REBALANCE,
    ClassicState.EMPTY,
)
ClassicState.COMPLETING_REBALANCE.predecessors = (ClassicState.PREPARING_REBALANCE,)
ClassicState.STABLE.predecessors = (ClassicState.COMPLETING_REBALANCE,)
ClassicState.DEAD.predecessors = tuple(ClassicState)
