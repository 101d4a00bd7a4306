"""The rounds of a recording, one by one, from what was on the wire: given what the workers claimed
and the leader's clock, does Connect's leader answer what ours would?

A replay must also predict when each round happens, and heartbeats of a busy machine drift; here
nothing is left to chance, so every answer must be the same and remaining delays but for the
moments between a leader's clock and its log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from rebalsim.assignors.connect.memory import NOTHING_REMEMBERED, Memory
from rebalsim.assignors.connect.round import Answer, WorkerClaim
from rebalsim.assignors.connect.work import Work, task_named
from rebalsim.connect.config_state import UNREAD, ConfigState, applied
from rebalsim.connect.leading import Leader, answer_of
from rebalsim.domain.kafka_api import KafkaApi
from rebalsim.verify.connect_replay import ConnectDrive

Life = tuple[str, int]  # a worker and which of its processes


@dataclass(slots=True)
class Round:
    """One generation, as far as the wire shows it."""

    generation: int
    claims: dict[Life, Mapping[str, Any]] = field(default_factory=dict)  # what each JoinGroup said
    ids: dict[Life, str] = field(default_factory=dict)
    synced_ms: dict[Life, float] = field(default_factory=dict)  # SyncGroup went out
    answers: dict[Life, Mapping[str, Any]] = field(default_factory=dict)
    protocol: str = ""
    leader: str = ""


@dataclass(frozen=True, slots=True)
class RoundsJudged:
    """How many rounds there were, and which of them came out otherwise."""

    rounds: int
    different: tuple[int, ...]  # generations
    delay_errors: tuple[float, ...]  # of delays that were left, ms


def judge_rounds(document: Mapping[str, Any], drive: ConnectDrive) -> RoundsJudged:
    """Every round whose answer reached somebody, in order."""
    brains = _Brains(drive)
    judged, different, errors = 0, [], []
    for found in _rounds(document):
        answer = brains.answer(found)
        if answer is None:
            continue
        judged += 1
        if any(_ours(answer, found.ids[who]) != _theirs(got) for who, got in found.answers.items()):
            different.append(found.generation)
        for got in found.answers.values():
            if got.get("delay") or answer.delay_ms:
                errors.append(abs(answer.delay_ms - got.get("delay", 0)))
        brains.completed(found)
    return RoundsJudged(judged, tuple(different), tuple(errors))


# ---------------------------------------------------------------------------------------- the wire


def _rounds(document: Mapping[str, Any]) -> Iterator[Round]:
    """Generations in order, the workers' only: a sink's tasks have groups of their own."""
    rounds: dict[int, Round] = {}
    said: dict[Life, Mapping[str, Any]] = {}
    syncing: dict[Life, int] = {}
    for e in document["events"]:
        if "task" in e or "worker" not in e or "life" not in e:
            continue
        who, what = (e["worker"], e["life"]), (e["ev"], e.get("api"))
        if what == ("sent", KafkaApi.JOIN):
            said[who] = e
        elif e["ev"] == "joined":
            found = rounds.setdefault(e["generation"], Round(e["generation"]))
            found.claims[who], found.ids[who] = said[who], e["id"]
            found.protocol = e["protocol"]
        elif what == ("sent", KafkaApi.SYNC) and e["generation"] in rounds:
            syncing[who] = e["generation"]
            rounds[e["generation"]].synced_ms[who] = e["t"]
        elif what == ("got", KafkaApi.SYNC) and not e["error"] and who in syncing:
            found = rounds[syncing.pop(who)]
            found.answers[who], found.leader = e, e["leader"]
    for generation in sorted(rounds):
        yield rounds[generation]


def _work(names: list[str], connectors: set[str]) -> Work:
    """Connectors and tasks from one list, in its order."""
    return Work(
        tuple(n for n in names if n in connectors),
        tuple(task_named(n) for n in names if n not in connectors),
    )


def _theirs(got: Mapping[str, Any]) -> tuple[int, set[str], set[str]]:
    return got["assignment_error"], set(got["work"]), set(got.get("revoked", ()))


def _ours(answer: Answer, member_id: str) -> tuple[int, set[str], set[str]]:
    share = answer.shares[member_id]
    return (
        int(answer.is_config_mismatch),
        set(share.given.names()),
        set(share.revoked.names()),
    )


# ------------------------------------------------------------------------------------- the leaders


class _Brains:
    """What each worker's process remembers of the rounds that it led."""

    def __init__(self, drive: ConnectDrive) -> None:
        self.drive = drive
        self.delay_ms = {
            who: spec.worker.scheduled_rebalance_max_delay_us // 1000
            for who, spec in drive.specs.items()
            if spec.worker is not None
        }
        self.memories: dict[Life, Memory] = {}
        self.last_completed: dict[Life, int] = {}
        self.entered: dict[str, None] = {}  # member ids in the order in which they came
        self.states: list[ConfigState] = [UNREAD]
        for _, record in drive.records:
            self.states.append(applied(self.states[-1], record))
        self.connectors = {name for state in self.states for name in state.connectors}

    def answer(self, found: Round) -> Answer | None:
        """What the round's leader says; None where nobody got an answer, or it is not known who
        led.
        """
        self.entered.update(dict.fromkeys(found.ids[who] for who in found.claims))
        leader = next((who for who, known in found.ids.items() if known == found.leader), None)
        if leader is None or leader not in found.synced_ms:
            return None
        now = found.synced_ms[leader]
        taken = self._state(found.claims[leader]["offset"])
        fresh = self._read_by(leader, now, taken)
        order = list(self.entered)
        claims = sorted(
            (self._claim(found, who) for who in found.claims),
            key=lambda claim: order.index(claim.worker_id),
        )
        answer, self.memories[leader] = answer_of(
            Leader(
                taken,
                fresh,
                found.generation,
                self.last_completed.get(leader, -1),
                int(now),
                self.delay_ms[leader],
            ),
            found.protocol,
            claims,
            self.memories.get(leader, NOTHING_REMEMBERED),
        )
        return answer

    def completed(self, found: Round) -> None:
        self.last_completed.update(dict.fromkeys(found.answers, found.generation))

    def _claim(self, found: Round, who: Life) -> WorkerClaim:
        said = found.claims[who]
        work = _work(said.get("claims") or [], self.connectors)
        return WorkerClaim(found.ids[who], said["offset"], work)

    def _state(self, offset: int) -> ConfigState:
        """The config up to this offset."""
        return [state for state in self.states if state.offset <= offset][-1]

    def _read_by(self, who: Life, now_ms: float, taken: ConfigState) -> ConfigState:
        """The config up to the record that this process had read by then."""
        read = [
            reading.count
            for reading in self.drive.readings
            if (reading.worker, reading.life) == who and reading.at_us <= now_ms * 1000
        ]
        state = self.states[max(read, default=0)]
        return state if state.offset > taken.offset else taken
