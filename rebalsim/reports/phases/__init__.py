"""The phases of a pause, a file each: its card holds its words, its look, its explanation, and what
it hangs on.

A phase is its line in `domain/phase.py`, its file here, and the place in `analysis` that finds it.
"""
