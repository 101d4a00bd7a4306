"""Files that are broken, huge, cyclic, binary, or that hold secrets: one sentence, and nothing
copied.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading import deployment, files, read

from rebalsim.worlds.explained import nothing_consumes
from rebalsim.worlds.to_json import to_json
from rebalsim.worlds.to_scenario import can_be_played, playable, to_scenario
from rebalsim.worlds.understand import understand

SCENARIOS = Path(__file__).parents[2] / "scenarios"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\0\1\2", "binary"),
        ("a: &a [*a]\nkind: x\n", "contains itself"),
        ("a: [1, 2\nb: 3\n", "cannot be read"),
        ("[" * 3000, "cannot be read"),
        # composing these ended the process, as libyaml's composer recurses in C
        ("[" * 100_000, "nested too deeply"),
        ("- " * 30_000 + "a", "nested too deeply"),
        ("? " * 30_000 + "a", "nested too deeply"),
        (
            "a: &a [x,x,x,x,x,x,x,x,x]\n"
            + "".join(
                f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n"
                for n in range(9)
            ),
            "unfolds",
        ),
        ("a = 1\n" + "a {\n" * 300, "blocks inside each other"),
        ("", "Nothing"),
        ("hello world", "Nothing"),
    ],
)
def test_what_cannot_be_read_ends_in_one_sentence(text: str, says: str) -> None:
    said = nothing_consumes(understand([("x.yaml", text)]))
    assert says in said and "\n" not in said


@pytest.mark.parametrize("path", sorted(SCENARIOS.rglob("*.yaml")), ids=lambda path: path.stem)
def test_a_scenario_was_taken_for_a_clients_settings(path: Path) -> None:
    """Their `config:` holds a client's settings, and a preview of the folder played a client that
    nobody deploys.
    """
    made = understand([(path.name, path.read_text("utf-8"))])
    assert not made.consumers and "of rebalsim's" in nothing_consumes(made)


def test_a_credential_is_nowhere_in_what_is_printed() -> None:
    sources = files(
        d_yaml=deployment(env="- {name: DB_PASSWORD, value: hunter22}")
        + "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData: {k: s3cr3t-value}\n",
        c_properties='group.id=g\nsasl.jaas.config=x required password="pa55word";\n'
        "bootstrap.servers=kafka://user:geheim99@host:9092\n",
    )
    made = understand(sources)
    printed = to_json(made, sources) + to_scenario(made)
    for secret in ("hunter22", "s3cr3t-value", "pa55word"):
        assert secret not in printed
    assert "geheim99" not in to_json(made, sources)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_cut_or_swap_of_a_file_ends_in_anything_but_an_answer(data: st.DataObject) -> None:
    whole = deployment(
        pod="terminationGracePeriodSeconds: 60",
        spec="replicas: 3\nstrategy: {rollingUpdate: {maxSurge: 50%}}",
        env="- {name: KAFKA_TOPIC, value: '${T:-orders}'}",
    )
    lines = whole.split("\n")
    cut = data.draw(st.integers(0, len(lines)))
    line = data.draw(st.integers(0, len(lines) - 1))
    lines[line] = data.draw(st.text(max_size=30))
    made = read(x_yaml="\n".join(lines[:cut] if data.draw(st.booleans()) else lines))
    if can_be_played(made):
        assert playable(to_scenario(made)).startswith("# Written by rebalsim import")
    else:
        assert nothing_consumes(made)


def test_a_credential_that_is_also_a_brokers_name_hides_no_brokers() -> None:
    sources = files(
        c_env="KAFKA_GROUP_ID=g\nKAFKA_BOOTSTRAP_SERVERS=kafka1:9092\nKAFKA_SASL_PASSWORD=kafka1\n"
    )
    printed = to_json(understand(sources), sources)
    assert '"kafka1:9092"' in printed and "sasl.password" not in printed.lower()


@pytest.mark.parametrize(
    "text",
    [
        "\n" * 50_000 + "group.id=g\n",
        "a" + " " * 50_000 + "= b\n",
        "x {\n a = " + " " * 50_000 + "b\n}\n",
    ],
    ids=["blank lines", "blanks before a sign", "blanks after one"],
)
def test_no_run_of_blanks_takes_the_square_of_its_length(text: str) -> None:
    """20,000 blank lines took twelve seconds of looking for the form of a file."""
    began = time.process_time()
    understand([("a.conf", text)])
    assert time.process_time() - began < 2
