"""A group of commands that knows them by name and imports one only when it is asked for, so that
`--help` stays as quick as click itself.
"""

from __future__ import annotations

import importlib
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# heading → command → (module, one line of help); help lists them in this order
Commands = dict[str, dict[str, tuple[str, str]]]


def _refuse_empty(command: click.Command, args: list[str]) -> None:
    """An option's empty value, as of a shell variable that is not set, is no way of leaving the
    option out: a build would go without its baseline, and be green.
    """
    takes_value = {
        name
        for param in command.params
        if isinstance(param, click.Option) and not param.is_flag and not param.count
        for name in param.opts
    }
    for before, word in pairwise(["", *args]):
        if word == "--":
            return
        option = before if not word else word.removesuffix("=") if word.endswith("=") else ""
        if option in takes_value:
            raise click.UsageError(
                f"{option} is empty, as a shell variable is that is not set — leave it out, or say "
                "what is meant."
            )


class LazyGroup(click.Group):
    """`path`: what is typed before a command's name. `former`: names that commands had before, and
    still answer to, → the module.
    """

    def __init__(
        self,
        *args: Any,
        table: Commands,
        path: str,
        former: dict[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.table = table
        self.path = path
        self.former = former or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [name for commands in self.table.values() for name in commands]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        modules = {name: module for c in self.table.values() for name, (module, _) in c.items()}
        module = modules.get(cmd_name) or self.former.get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(module).command
        assert isinstance(command, click.Command)
        return command

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """From the table, so that completing imports no command."""
        from click.shell_completion import CompletionItem

        named = [
            CompletionItem(name, help=text)
            for commands in self.table.values()
            for name, (_, text) in commands.items()
        ]
        return [
            item for item in named if item.value.startswith(incomplete)
        ] + click.Command.shell_complete(self, ctx, incomplete)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not self.get_command(ctx, args[0]):
            from rebalsim.words.nearest import nearest

            near = nearest(args[0], self.list_commands(ctx))
            hint = (
                f" Did you mean '{near}'?" if near else f" `{self.path} --help` lists the commands."
            )
            raise click.UsageError(f"There is no command '{args[0]}'.{hint}")
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None:
            _refuse_empty(command, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in self.table.items():
            if commands:
                with formatter.section(heading):
                    formatter.write_dl([(name, text) for name, (_, text) in commands.items()])
