"""How rebalsim is proved by those who build it: what it costs, random stories, broken files, and the
source in figures. No other room sees this one but the door (`rebalsim dev …`).
"""
