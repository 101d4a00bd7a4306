"""The JSON Schema of what --json prints (`rebalsim schema --result`). Strict: a key that is not
here is not printed, and all are always there.
"""

from __future__ import annotations

from typing import Any

from rebalsim.analysis.values import PauseKind
from rebalsim.domain.alarm import AlarmKind
from rebalsim.domain.holding_end import HoldingEnd
from rebalsim.domain.mark_kind import MarkKind
from rebalsim.domain.metrics import METRICS
from rebalsim.domain.phase import PhaseKind
from rebalsim.reports.to_json import SCHEMA_VERSION

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}
NUMBER: Schema = {"type": "number"}
MAYBE_NUMBER: Schema = {"type": ["number", "null"]}
US: Schema = {"type": "integer", "description": "µs since the start of the run, or a length in µs"}
MAYBE_US: Schema = {
    "type": ["integer", "null"],
    "description": "µs; null where the trace does not tell",
}
MAYBE_INT: Schema = {"type": ["integer", "null"]}
EVIDENCE: Schema = {"type": "array", "items": COUNT, "description": "numbers of trace events"}
TEXTS: Schema = {"type": "array", "items": TEXT}


def _object(about: str, **keys: Schema) -> Schema:
    return {
        "type": "object",
        "description": about,
        "properties": keys,
        "required": list(keys),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


MEASURED = _object(
    "A value in its unit; null: the trace cannot tell.", value=MAYBE_NUMBER, unit=TEXT
)
SPREAD = _object(
    "Over several seeds, by nearest rank.",
    least=MAYBE_NUMBER,
    median=MAYBE_NUMBER,
    p95=MAYBE_NUMBER,
    most=MAYBE_NUMBER,
    runs=COUNT,
    known=COUNT,
)
PHASE = _object(
    "A part of a pause; the phases of a pause are consecutive and add up to it exactly.",
    kind={"enum": [kind.value for kind in PhaseKind]},
    started_us=US,
    ended_us=US,
    length_us=US,
    consumer=TEXT,
    doing=TEXT,
    since_us=MAYBE_US,
    until_us=MAYBE_US,
    timer=TEXT,
    trigger=TEXT,
    heard_us=MAYBE_US,
    left_us=MAYBE_US,
    evidence=EVIDENCE,
)
PAUSE = _object(
    "A partition stood still in [started_us, ended_us); an open one had not ended when the "
    "observation did.",
    partition=TEXT,
    group=TEXT,
    started_us=US,
    ended_us=US,
    length_us=US,
    is_open=FLAG,
    kind={"enum": [kind.value for kind in PauseKind]},
    why=TEXT,
    owner_before=TEXT,
    owner_after=TEXT,
    cause=_object(
        "What set it off.",
        kind=TEXT,
        consumer=TEXT,
        action=TEXT,
        disturbance=MAYBE_INT,
        evidence=EVIDENCE,
    ),
    phases={"type": "array", "items": _ref("phase"), "minItems": 1},
)
PARTITION = _object(
    "A partition and who held it.",
    partition=TEXT,
    group=TEXT,
    paused_us=US,
    pauses=COUNT,
    owners=_list(
        _object(
            "A holding.",
            consumer=TEXT,
            started_us=US,
            ended_us=US,
            generation=MAYBE_INT,
            how={"enum": [how.value for how in HoldingEnd]},
        )
    ),
)
REBALANCE = _object(
    "A round that the coordinator completed (consumer protocol: a changed target).",
    group=TEXT,
    generation=MAYBE_INT,
    trigger=TEXT,
    trigger_consumer=TEXT,
    reason=TEXT,
    prepared_us=MAYBE_US,
    barrier_us=MAYBE_US,
    stable_us=MAYBE_US,
    settled_us=MAYBE_US,
    felt_us=MAYBE_US,
    completed_by=TEXT,
    last=TEXT,
    kicked=TEXTS,
    members=MAYBE_INT,
    leader=TEXT,
    assignor=TEXT,
    moved=MAYBE_INT,
    least=MAYBE_INT,
    is_cooperative=FLAG,
    is_formation=FLAG,
    latency_us=_map(US),
    disturbance=MAYBE_INT,
    evidence=EVIDENCE,
)
DISTURBANCE = _object(
    "From a trigger to a stable group.",
    group=TEXT,
    started_us=US,
    ended_us=US,
    is_open=FLAG,
    trigger=TEXT,
    consumer=TEXT,
    action=TEXT,
    rebalances=_list(COUNT),
    moved=MAYBE_INT,
    least=MAYBE_INT,
    evidence=EVIDENCE,
)
MEMBER = _object(
    "What one consumer lived through.",
    consumer=TEXT,
    group=TEXT,
    instance_id={"type": ["string", "null"]},
    lives=COUNT,
    generations=COUNT,
    rebalances=COUNT,
    failed_rebalances=COUNT,
    assigned=COUNT,
    revoked=COUNT,
    lost=COUNT,
    poll_expired=COUNT,
    removed=TEXTS,
    fenced=COUNT,
    held_most=COUNT,
    held_last=COUNT,
    partition_seconds=NUMBER,
    paused_us=US,
    spans=_list(_object("A piece of its life.", what=TEXT, started_us=US, ended_us=US)),
)
VARIANT = _object(
    "One run, or one file of a comparison.",
    name=TEXT,
    heading=TEXT,
    file=TEXT,
    source={"enum": ["simulated", "recorded", "logs"]},
    kafka=TEXT,
    seed=MAYBE_INT,
    horizon_us=US,
    events=COUNT,
    metrics={
        "type": "object",
        "properties": dict.fromkeys(METRICS, _ref("measured")),
        "required": list(METRICS),
        "additionalProperties": False,
    },
    spread={
        "type": "object",
        "properties": dict.fromkeys(METRICS, _ref("spread")),
        "additionalProperties": False,
    },
    pauses=_list(_ref("pause")),
    partitions=_list(_ref("partition")),
    rebalances=_list(_ref("rebalance")),
    disturbances=_list(_ref("disturbance")),
    first_settlings=_list(_ref("disturbance")),
    group_states=_list(
        _object(
            "A group's state.",
            group=TEXT,
            state=TEXT,
            started_us=US,
            ended_us=US,
            generation=MAYBE_INT,
        )
    ),
    state_shares=_map(_map(NUMBER)),
    members=_list(_ref("member")),
    client_metrics=_map(_map(_ref("measured"))),
    lag=_list(
        _object(
            "Records that had arrived and were not handled; straight lines between the corners "
            "[µs, records].",
            partition=TEXT,
            group=TEXT,
            peak=NUMBER,
            peak_us=US,
            caught_up_us=MAYBE_US,
            corners=_list({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}),
        )
    ),
    redeliveries=_list(
        _object(
            "An owner began below (delivered twice) or above (skipped) what had been handled.",
            partition=TEXT,
            group=TEXT,
            at_us=US,
            consumer=TEXT,
            records=COUNT,
            is_skip=FLAG,
            how=TEXT,
            disturbance=MAYBE_INT,
            event=MAYBE_INT,
        )
    ),
    remedies=_list(
        {
            "type": "object",
            "description": "A change that was played before it is told: the same story and seeds "
            "with it alone. Figures are those in the middle of the seeds, in the metrics' base "
            "units, as `run --variant VARIANT --set … --runs SEEDS` gives them.",
            "properties": {
                "variant": TEXT,
                "patch": _map(TEXT),
                "script": TEXT,
                "before": _map(NUMBER),
                "after": _map(NUMBER),
                "seeds": COUNT,
                "price": TEXT,
            },
            "required": ["variant", "patch", "before", "after", "seeds"],
            "additionalProperties": False,
        }
    ),
    answers=_list(
        _object(
            "One of the four questions.",
            question=TEXT,
            is_yes={"type": ["boolean", "null"]},
            consumers=TEXTS,
            figures=_map(MAYBE_NUMBER),
            evidence=EVIDENCE,
        )
    ),
    marks=_list(
        _object(
            "Something worth a mark.",
            at_us=US,
            kind={"enum": [kind.value for kind in MarkKind]},
            text=TEXT,
            action=TEXT,
            deed=TEXT,
            targets=TEXTS,
            group=TEXT,
            event=MAYBE_INT,
        )
    ),
    alarms=_list(
        _object(
            "What figures hide: who died (of an error, or killed and not back), a group that was "
            "not stable in the end, partitions that a stable one has "
            "given to nobody, such as had no leader, and who was killed when its grace was over.",
            kind={"enum": [kind.value for kind in AlarmKind]},
            group=TEXT,
            at_us=US,
            consumers=TEXTS,
            why=TEXT,
            others=TEXTS,
            back_us=MAYBE_US,
            times=COUNT,
            figures=_map(NUMBER),
            evidence=EVIDENCE,
            partitions=TEXTS,
            because=TEXT,
            text=TEXT,
        )
    ),
    violations=_list(
        _object("A broken invariant.", rule=TEXT, at_us=US, text=TEXT, evidence=EVIDENCE)
    ),
    notes=TEXTS,
)


PHASE_CHANGE = _object(
    "Time in a phase, before and after.",
    kind=PHASE["properties"]["kind"],
    before_us=US,
    after_us=US,
    by_us=US,
)
DIFFERENCE = _object(
    "What changed from one to another (compare).",
    before=TEXT,
    after=TEXT,
    metrics=_list(
        _object(
            "A metric; verdict: better, worse, same, or empty.",
            metric=TEXT,
            unit=TEXT,
            before=MAYBE_NUMBER,
            after=MAYBE_NUMBER,
            verdict={"enum": ["better", "worse", "same", ""]},
        )
    ),
    phases=_list(PHASE_CHANGE),
    partitions=_list(
        _object(
            "A partition that changed.",
            partition=TEXT,
            group=TEXT,
            before_us=US,
            after_us=US,
            by_us=US,
            phases=_list(PHASE_CHANGE),
            is_new=FLAG,
            is_gone=FLAG,
        )
    ),
    unchanged=COUNT,
)


DEFINITIONS: Schema = {
    "variant": VARIANT,
    "pause": PAUSE,
    "phase": PHASE,
    "partition": PARTITION,
    "rebalance": REBALANCE,
    "disturbance": DISTURBANCE,
    "member": MEMBER,
    "measured": MEASURED,
    "spread": SPREAD,
}


def result_schema() -> Schema:
    """The whole schema."""
    document = _object(
        "What `rebalsim run --json`, `report --json` and `compare --json` print.",
        schema_version={"const": SCHEMA_VERSION},
        rebalsim=TEXT,
        title=TEXT,
        description=TEXT,
        file=TEXT,
        digest=TEXT,
        kafka=TEXT,
        seed=MAYBE_INT,
        command=TEXT,
        horizon_us=US,
        is_comparison=FLAG,
        variants=_list(_ref("variant")),
        comparison=_list(
            _object(
                "A metric over all variants; `best`: the places of the better ones, if any are.",
                metric={"enum": list(METRICS)},
                values=_list(MAYBE_NUMBER),
                unit=TEXT,
                best=_list(COUNT),
            )
        ),
        answer=TEXTS,
        trade=TEXT,
        differences=_list(DIFFERENCE),
        budgets=_list(
            _object(
                "A judged budget or expectation.",
                text=TEXT,
                variant=TEXT,
                outcome={"enum": ["pass", "fail", "inconclusive"]},
                observed=TEXT,
                limit=TEXT,
                because=TEXT,
                level={"enum": ["error", "warn"]},
                file=TEXT,
                line=MAYBE_INT,
            )
        ),
        notes=TEXTS,
    )
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A result of rebalsim",
        **document,
        "$defs": DEFINITIONS,
    }
