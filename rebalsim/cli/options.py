"""Options that many commands share, and the scenario argument: a path, a stock story's name, or
`-`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.shell_completion import CompletionItem

from rebalsim.cli import terminal

if TYPE_CHECKING:
    from rebalsim.scenario.story import Story

    _Type = click.ParamType[str]  # generic for the type checker only: older clicks are not
else:
    _Type = click.ParamType

F = TypeVar("F", bound=Callable[..., Any])


class ScenarioPath(_Type):
    """A scenario's file, or a stock story by name; completes both."""

    name = "scenario"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from rebalsim.scenario.load import stock_stories

        named = [CompletionItem(name) for name in stock_stories() if name.startswith(incomplete)]
        return [*named, CompletionItem(incomplete, type="file")]


class SettingPath(_Type):
    """PATH=VALUE; completes the first words of a path."""

    name = "path=value"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from rebalsim.scenario.config_language import CLIENT_KEYS
        from rebalsim.scenario.language import SCENARIO
        from rebalsim.scenario.member_language import GROUP

        known = (
            [f"group.config.{f.name}=" for f in CLIENT_KEYS]
            + [f"group.{k}" for k in GROUP.fields]
            + list(SCENARIO.fields)
        )
        return [CompletionItem(k) for k in known if k.startswith(incomplete)]


class VariantName(_Type):
    """A variant's name; completes those of the scenario named before it, else the stock ones."""

    name = "variant"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from rebalsim.domain.errors import InputError
        from rebalsim.scenario.load import read_story
        from rebalsim.scenario.replay_language import STOCK_VARIANTS

        known: tuple[str, ...] = STOCK_VARIANTS
        for word in ctx.args[:1]:  # a line cut short at an option leaves its arguments here
            with contextlib.suppress(InputError):
                known = read_story(word).variants
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]


def scenario_argument(function: F) -> F:
    """One scenario: parameter `scenario`."""
    return click.argument("scenario", type=ScenarioPath())(function)


def scenarios_argument(function: F) -> F:
    """One scenario or more: parameter `scenarios`."""
    return click.argument("scenarios", nargs=-1, required=True, type=ScenarioPath())(function)


def set_option(function: F) -> F:
    """--set PATH=VALUE, repeatable, and --replay for the one that is asked for most: parameter
    `overrides`.
    """

    @wraps(function)
    def with_replay(
        *args: Any, replayed: str | None, overrides: tuple[str, ...], **options: Any
    ) -> Any:
        if replayed is not None:
            listed = replayed.strip()
            overrides = (
                *overrides,
                f"replay={listed if listed.startswith('[') else f'[{listed}]'}",
            )
        return function(*args, overrides=overrides, **options)

    made = click.option(
        "--replay",
        "replayed",
        metavar="LIST",
        help="Play these variants instead of the story's, side by side: "
        "eager,cooperative,consumer, those that it defines, or versions and "
        "clients as in 'cooperative,{kafka: \"3.9\"}'.",
    )(with_replay)
    return cast(
        F,
        click.option(
            "--set",
            "overrides",
            multiple=True,
            type=SettingPath(),
            metavar="PATH=VALUE",
            help="Override a setting, as in group.config.session.timeout.ms=10s. Repeatable.",
        )(made),
    )


def seed_option(function: F) -> F:
    """--seed N: parameter `seed`, None where the scenario decides."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**53),
        help="The seed of every random draw, instead of the scenario's.",
    )(function)


def variant_option(function: F) -> F:
    """--variant NAME: parameter `variant`, None where all are meant."""
    return click.option(
        "--variant",
        type=VariantName(),
        metavar="NAME",
        help="This variant only, such as eager or cooperative.",
    )(function)


def wire_option(function: F) -> F:
    """--wire: parameter `wire`."""
    return click.option(
        "--wire",
        is_flag=True,
        help="Tell every request and answer too: heartbeats, commits, look-ups.",
    )(function)


width_option = click.option(
    "--width",
    type=click.IntRange(terminal.NARROWEST, terminal.WIDEST),
    metavar="COLUMNS",
    help="Instead of the terminal's.",
)


def advise_option(
    default: int,
    what: str = "How many events may be played to try what could help; nothing is advised that was "
    "not tried.",
) -> Callable[[F], F]:
    """--advise EVENTS|off: parameter `advise`, the number of events that may be played to try
    remedies, 0 for off, None where nothing is said: then it is `default`.
    """
    return click.option(
        "--advise",
        type=EventBudget(),
        default=None,
        metavar="EVENTS|off",
        help=f"{what}  [default: {default:,}]",
    )


class EventBudget(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A number of events, or off."""

    name = "events"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        if value is None or isinstance(value, int):
            return value
        text = str(value).replace(",", "").replace("_", "").strip().lower()
        if text in ("off", "no", "none"):
            return 0
        if not text.isdecimal() or len(text) > 12:
            self.fail(
                f"'{value}' is no number of events — write one such as 1,000,000, or off",
                param,
                ctx,
            )
        return int(text)


def allow_code_option(function: F) -> F:
    """--allow-code: parameter `allow_code`."""
    return click.option(
        "--allow-code",
        is_flag=True,
        help="Let the scenario run assignors of your own (module:function).",
    )(function)


def load_story(
    scenario: str | Path,
    overrides: Iterable[str] = (),
    allow_code: bool = False,
    seed: int | None = None,
) -> Story:
    """The story that these options mean. Raises ProblemsError with everything that is wrong with
    it.
    """
    from rebalsim.scenario.load import load_scenario

    wanted = [*overrides, *([f"seed={seed}"] if seed is not None else [])]
    return load_scenario(scenario, wanted, allow_code)
