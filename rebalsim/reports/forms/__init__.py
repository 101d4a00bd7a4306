"""The forms of output: a file here is one, registers itself, and is then an option of every command
whose subject it can tell.

To add one, write a file with a `FORM` (see `form.py`); what it renders may stand in the same file.
What is printed where no form is asked for, text for a terminal, is the command's own.
"""
