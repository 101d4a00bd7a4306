"""The JSON Schema of a scenario file, made from the language's table: editors then know every key,
its meaning and its default.

What a schema cannot see stays the loader's: duplicate keys, spellings that YAML readers disagree
about, and whatever hangs on two fields.
"""

from __future__ import annotations

from dataclasses import fields as fields_of
from typing import Any

from rebalsim.domain.client import BrokerConfig, ClientConfig
from rebalsim.domain.connect import Connector, WorkerConfig
from rebalsim.domain.consumer import AssignorCost, Handler, Listener, State
from rebalsim.domain.pods import Life
from rebalsim.domain.scenario import Cluster, Scenario, Topic
from rebalsim.scenario.cluster_language import CLUSTER
from rebalsim.scenario.config_language import BROKER_CONFIG, CONFIG
from rebalsim.scenario.connect_language import WORKER_CONFIG
from rebalsim.scenario.kinds import Schema, Section
from rebalsim.scenario.language import SCENARIO
from rebalsim.scenario.member_language import CONNECTOR
from rebalsim.scenario.process_language import ASSIGNOR_COST, HANDLER, LIFE, LISTENER, STATE
from rebalsim.scenario.topic_language import TOPIC_BLOCK

SHAPES: tuple[tuple[Section, Any], ...] = (
    (CONFIG, ClientConfig),
    (BROKER_CONFIG, BrokerConfig),
    (CLUSTER, Cluster),
    (TOPIC_BLOCK, Topic),
    (HANDLER, Handler),
    (LISTENER, Listener),
    (STATE, State),
    (LIFE, Life),
    (ASSIGNOR_COST, AssignorCost),
    (CONNECTOR, Connector),
    (WORKER_CONFIG, WorkerConfig),
    (SCENARIO, Scenario),
)


def scenario_schema() -> Schema:
    """The whole file's schema (draft 2020-12)."""
    defs: dict[str, Schema] = {}
    SCENARIO.schema(defs)
    for section, cls in SHAPES:
        _fill_defaults(defs[section.name], section, cls)
    root = defs.pop(SCENARIO.name)
    root["properties"]["group"] = {
        "allOf": [root["properties"]["group"]],
        "description": SCENARIO.fields["group"].doc,
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "rebalsim scenario",
        **root,
        "anyOf": [
            {"required": ["topics", "group"]},
            {"required": ["topics", "groups"]},
            {"required": ["connect"]},
        ],
        "not": {"required": ["group", "groups"]},
        "$defs": dict(sorted(defs.items())),
    }


def _fill_defaults(schema: Schema, section: Section, cls: Any) -> None:
    """Defaults are the domain's; they stand in the schema as a file would write them."""
    block = schema if "properties" in schema else schema["anyOf"][0]
    defaults = {f.name: f.default for f in fields_of(cls)}
    for name, field in section.fields.items():
        value = defaults.get(field.target)
        if (
            not field.target
            or field.default
            or isinstance(value, (str, bool, int, float, tuple)) is False
        ):
            continue
        if isinstance(value, bool) or (
            isinstance(value, int) and field.kind.say(value) == str(value)
        ):
            block["properties"][name]["default"] = value
        elif isinstance(value, tuple) and all(isinstance(v, str) for v in value) and value:
            block["properties"][name]["default"] = list(value)
        elif value not in ("", ()) and not (value == 0 and "/s" in field.kind.says):
            block["properties"][name]["default"] = field.kind.say(value)
