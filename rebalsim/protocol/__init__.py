"""The rules of the game: coordinator and member as step functions over state, without clock,
network or chance.
"""
