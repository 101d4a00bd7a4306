"""What it means: a trace becomes ownership, pauses, phases, causes and metrics. Works on any trace, wherever it came from."""
