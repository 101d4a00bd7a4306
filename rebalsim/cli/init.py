"""`rebalsim init NAME`: a commented scenario to start from, or a plan with its scenario."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click

from rebalsim.cli import exits
from rebalsim.cli.files import write_new
from rebalsim.cli.options import ScenarioPath
from rebalsim.domain.errors import InputError

HEADER = "# yaml-language-server: $schema=rebalsim.schema.json\n"


@click.command("init", epilog="Example: rebalsim init our-deploy --from rolling-bounce")
@click.argument("name")
@click.option(
    "--from",
    "story",
    type=ScenarioPath(),
    metavar="STORY",
    help="Begin with this: a stock story's or plan's name, or a scenario's file.",
)
@click.option(
    "--schema",
    "with_schema",
    is_flag=True,
    help="Write rebalsim.schema.json beside it, so that your editor completes keys.",
)
def command(name: str, story: str | None, with_schema: bool) -> int:
    """Write a commented scenario to NAME.yaml.

    Without --from it is a rolling deploy of twelve pods with a bad handler, and says in comments
    what else can be said. Nothing is ever overwritten.
    """
    from rebalsim.scenario.load import starter

    if not Path(name).name or name.endswith(("/", "\\")):
        raise InputError(f"'{name}' names no file — write a name such as our-deploy")
    path = Path(name if name.endswith((".yaml", ".yml")) else f"{name}.yaml")
    schema = path.parent / "rebalsim.schema.json"
    from rebalsim.spark.plans import stock_plans

    if story in (plans := stock_plans()):
        _write_plan(path, plans[str(story)])
        return exits.WITHIN
    text = _text_of(story) if story else starter().replace("NAME.yaml", path.name)
    write_new(path, _headed(text))
    click.echo(str(path))
    if with_schema and not schema.exists():
        from rebalsim.scenario.schema import scenario_schema

        write_new(schema, json.dumps(scenario_schema(), indent=2, ensure_ascii=False) + "\n")
        click.echo(str(schema))
    elif not schema.exists():
        click.echo(
            f"Your editor completes keys once `rebalsim schema > {schema}` has been run.", err=True
        )
    click.echo(f"Next: rebalsim lint {path}", err=True)
    return exits.WITHIN


def _text_of(story: str) -> str:
    """The story's own text, if it is one that can be begun with."""
    from rebalsim.outside.rule import taken_from
    from rebalsim.scenario.document import MAX_BYTES
    from rebalsim.scenario.load import read_bytes

    name, raw = read_bytes(story)
    if len(raw) > MAX_BYTES:
        raise InputError(
            f"{name}: has more than the {MAX_BYTES:,} bytes that a scenario may have — is it one?"
        )
    with taken_from(name, "write it as UTF-8"):
        text = raw.decode("utf-8")
    from rebalsim.check.find import kind_of

    if not kind_of(raw):
        raise InputError(
            f"{name}: is no scenario, so nothing can be begun from it — `rebalsim import {name}` "
            "reads manifests, client settings and a group's live state; `rebalsim init NAME` "
            "alone writes a scenario to change"
        )
    return text


def _write_plan(path: Path, plan: Path) -> None:
    """The plan, and beside it the scenario that it varies, where that is one of its own and no
    stock story.
    """
    text = plan.read_text(encoding="utf-8")
    named = re.search(r"^scenario: (base/\S+\.yaml)$", text, re.MULTILINE)
    if named:
        own = path.with_name(f"{path.stem}-scenario.yaml")
        write_new(own, _headed((plan.parent / named[1]).read_text(encoding="utf-8")))
        text = text.replace(named[1], own.name)
    write_new(path, text)
    click.echo(str(path))
    if named:
        click.echo(str(own))
    click.echo(f"Next: rebalsim sweep {path} --dry-run", err=True)


def _headed(text: str) -> str:
    return HEADER + re.sub(r"\A# yaml-language-server:.*\n", "", text)
