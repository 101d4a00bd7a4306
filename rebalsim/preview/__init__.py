"""What will this deploy do? Two versions of the files in, the roll from one to the other played by
its own rules, and the group's usual day before and after it.
"""
