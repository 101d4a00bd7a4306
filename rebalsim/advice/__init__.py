"""Advice that was tried: changes of a story that are proposed from what stood still, and played
before anybody reads of them.

`proposals/` holds what could help, a file a family; a new one is a new file. `trial.py` plays a
changed story within a number of events, `judging.py` says what it came to, `advise.py` puts the
two together and is what commands call. Nothing here tells anything: that is reports' work.
"""
