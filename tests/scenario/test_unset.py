"""null takes back what a layer below has written: a variant can be the story without a setting."""

from __future__ import annotations

import jsonschema
import pytest
import yaml
from stories import consumers, messages, played, told

from rebalsim.domain.instants import SECOND
from rebalsim.scenario.schema import scenario_schema

STATIC = """
topics: {orders: 4}
group:
  members: 3
  group.instance.id: "{name}"
  config: {session.timeout.ms: 30s}
  state: {per_partition: 1GiB, restore: 50MB/s}
replay:
  static: {why: as it is}
  dynamic: {group.instance.id: null}
  under-config: {config: {group.instance.id: null, session.timeout.ms: null}}
  stateless: {state: null}
  half: {state: {flush: 10MB/s, restore: null}}
"""


def test_a_variant_without_the_instance_id_has_dynamic_members() -> None:
    ids = {
        variant: consumers(played(STATIC, variant))["c1"].config.group_instance_id
        for variant in ("static", "dynamic", "under-config")
    }
    assert ids == {"static": "c1", "dynamic": None, "under-config": None}


def test_what_is_taken_back_has_its_default_again_and_the_rest_stays() -> None:
    def session(variant: str) -> int:
        return consumers(played(STATIC, variant))["c0"].config.session_timeout_us

    assert session("under-config") == 45 * SECOND
    assert session("dynamic") == 30 * SECOND
    assert consumers(played(STATIC, "stateless"))["c0"].state.bytes_per_partition == 0


def test_single_keys_of_a_block_are_taken_back_too() -> None:
    story = STATIC.replace("{flush: 10MB/s, restore: null}", "{per_partition: null}")
    state = consumers(played(story, "half"))["c0"].state
    assert state.bytes_per_partition == 0 and state.restore_bytes_per_second > 0


def test_one_member_and_a_deploy_can_take_back_what_the_group_has() -> None:
    text = """
        topics: {orders: 4}
        group:
          members: 3
          group.instance.id: "{name}"
          overrides: {c0: {group.instance.id: null}}
        script: [{at: 1m, deploy: {members: c1, config: {group.instance.id: null}}}]
        replay: [as-written]
        """
    scenario = played(text)
    assert [c.config.group_instance_id for c in consumers(scenario).values()] == [None, "c1", "c2"]


def test_a_stock_variant_without_one_of_its_settings() -> None:
    text = (
        "topics: {o: 4}\ngroup: {members: 2}\n"
        "replay: {mine: {based_on: static-production, config: {group.instance.id: null}}}\n"
    )
    config = consumers(played(text, "mine"))["c0"].config
    assert config.group_instance_id is None and config.session_timeout_us == 60 * SECOND


def test_what_a_set_option_wrote_or_took_back_stays() -> None:
    text = "topics: {o: 4}\ngroup: {members: 2}\nreplay: [static-production]\n"
    for path in ("group.config.group.instance.id", "group.group.instance.id"):
        taken = played(text, "", [f"{path}=null"])
        assert consumers(taken)["c0"].config.group_instance_id is None
    again = STATIC.replace("{flush: 10MB/s, restore: null}", "{flush: 10MB/s}")
    written = played(again, "dynamic", ['group.group.instance.id="{name}"'])
    assert consumers(written)["c0"].config.group_instance_id == "c0"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("config: {auto.offset.reset: null}", "null does not fit here — write earliest"),
        ("members: null", "null does not fit here"),
        ("config: {session.timeout.ms: }", "nothing does not fit here"),
    ],
)
def test_null_is_refused_where_it_would_be_a_guess(text: str, why: str) -> None:
    group = text if text.startswith("members") else f"members: 2, {text}"
    assert why.lower() in messages(f"topics: {{o: 4}}\ngroup: {{{group}}}\n").lower()


def test_beside_config_and_within_it_is_one_too_many() -> None:
    text = "topics: {o: 4}\ngroup: {members: 2, group.instance.id: null, config: {group.instance.id: a-{n}}}\n"
    assert "keep one of the two" in messages(text.replace("a-{n}", '"a-{n}"'))


def test_the_schema_for_editors_knows_it() -> None:
    jsonschema.validate(yaml.safe_load(STATIC), scenario_schema())


def test_other_numbers_of_the_same_story_differ_only_by_what_was_taken_back() -> None:
    story = told(STATIC).check()
    static, dynamic = (story.scenario(v).groups[0].consumers[0] for v in ("static", "dynamic"))
    assert static.config.session_timeout_us == dynamic.config.session_timeout_us
    assert static.state == dynamic.state and static != dynamic
