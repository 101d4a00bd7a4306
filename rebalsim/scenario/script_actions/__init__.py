"""The actions of the script, a file each: its shape in a scenario, how it is read, and its words. What
it does to the world is a file of `rebalsim/simulation/deeds/`.
"""
