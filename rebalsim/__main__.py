"""`python -m rebalsim` is the same door as the `rebalsim` command."""

from rebalsim.cli.main import run

run()
