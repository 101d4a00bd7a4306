"""`rebalsim migrate --to streams`: there is no live road, and it says so."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from rebalsim.cli.migrate import command
from rebalsim.domain.errors import InputError

ROOT = Path(__file__).parents[2]


def migrate(name: str, target: str) -> tuple[str, BaseException | None]:
    path = str(ROOT / "scenarios" / f"{name}.yaml")
    done = CliRunner().invoke(command, [path, "--to", target])
    return done.output, done.exception


def test_the_road_leads_through_an_empty_group() -> None:
    said, _ = migrate("streams-scale-out-stateless", "streams")
    assert "There is no live road" in said and "session has run out (45.0 s)" in said
    assert "streams.num.standby.replicas" in said
    rows = {line.split()[0]: line.split()[1:] for line in said.splitlines() if "longest" in line}
    assert rows["longest_pause"][0] != rows["longest_pause"][2]


def test_only_streams_applications_take_it() -> None:
    _, error = migrate("scale-out", "streams")
    assert isinstance(error, InputError) and "no group is a Kafka Streams" in str(error)
    _, error = migrate("streams-scale-out", "consumer")
    assert isinstance(error, InputError) and "--to streams" in str(error)
