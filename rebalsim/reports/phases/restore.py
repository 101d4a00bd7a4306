"""The new owner runs its callback and restores its state."""

from __future__ import annotations

from rebalsim.analysis.values import Facts
from rebalsim.domain.doing import Doing
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.doings_told import of_the_kept
from rebalsim.reports.phases.card import Look, PhaseCard
from rebalsim.reports.settings_behind import Asked

FROM = {  # where a store's restoration began
    Doing.FROM_SCRATCH: "its store from nothing",
    Doing.FROM_CHECKPOINT: "its store from a checkpoint",
    Doing.FROM_STANDBY: "what its standby lacked",
    Doing.IN_VAIN: "its store in vain: the task was taken away before it was done",
}

FROM_OF_SEVERAL = {
    Doing.FROM_SCRATCH: "their stores from nothing",
    Doing.FROM_CHECKPOINT: "their stores from checkpoints",
    Doing.FROM_STANDBY: "what their standbys lacked",
    Doing.IN_VAIN: "their stores in vain: the tasks were taken away before that was done",
}


def tell(f: Facts, who: str) -> str:
    if f.doing is Doing.UNCOMMITTED:
        return "until the transaction that its dead owner had left open was aborted"
    if f.doing in FROM:
        return f"while {who} restored {FROM[f.doing]}"
    return f"while {who} prepared it (callback, state)"


def tell_of_several(f: Facts) -> str:
    if f.doing is Doing.UNCOMMITTED:
        return "until the transactions that their dead owner had left open were aborted"
    if f.doing in FROM_OF_SEVERAL:
        return f"while their owners restored {FROM_OF_SEVERAL[f.doing]}"
    return "while their owners prepared them (callback, state)"


def hint(asked: Asked) -> str:
    if (kept := of_the_kept(asked)) is not None:
        return kept
    if asked.doing is Doing.UNCOMMITTED:
        return (
            "The brokers look every 10 s, and abort it once transaction.timeout.ms is over (10 s "
            "unless it is set)."
        )
    return (
        "Standbys, an assignor that keeps owners, or static members whose state survives "
        "a restart spare the restore."
    )


CARD = PhaseCard(
    PhaseKind.RESTORE,
    Look("R", "░", "bright_magenta", "#ee5b80", "#db669c"),
    title="the new owner prepares: callback and state",
    what="onPartitionsAssigned runs; state is restored before the first record is handled.",
    why="Minutes where state is large. It runs in the poll thread: longer than "
    "max.poll.interval.ms, and the member is expelled in the "
    "middle of it.",
    shows="CallbackBegan and CallbackEnded with assigned; StoreRestored where it is restored in "
    "the background.",
    change="Standbys (state: standby), assignors that keep owners, static members whose state "
    "survives a restart (state: survives: restart); restore outside of the "
    "callback with the partition paused (state: where: background).",
    tell=tell,
    hint=hint,
    of_next_owners=tell_of_several,
)
