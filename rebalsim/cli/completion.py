"""`rebalsim completion SHELL`: the line that teaches a shell to complete commands, options and
scenario names.
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from rebalsim.cli import exits


@click.command("completion", epilog='Example: eval "$(rebalsim completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> int:
    """Print a script that makes a shell complete commands, options, and the names of scenarios.

    bash and zsh: put `eval "$(rebalsim completion bash)"` into ~/.bashrc (zsh: ~/.zshrc).
    fish: `rebalsim completion fish > ~/.config/fish/completions/rebalsim.fish`.
    """
    from rebalsim.cli.main import door

    found = get_completion_class(shell)
    assert found is not None
    made = found(door, {}, "rebalsim", "_REBALSIM_COMPLETE")
    click.echo(made.source_template % made.source_vars())
    return exits.WITHIN
