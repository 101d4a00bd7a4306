"""The files here are good and bad on purpose: test_files.py holds the loader against them, and
nobody judges their budgets.
"""

collect_ignore_glob = ["files/*.yaml"]
