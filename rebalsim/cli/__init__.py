"""The door: commands, options, exit codes. The only room that prints, exits, or looks at the
environment.
"""
