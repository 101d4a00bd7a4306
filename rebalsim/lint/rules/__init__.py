"""One rule a file: `RULE` is its documentation, `find` looks for it in one resolved scenario and
yields what it found, with figures.
"""
