"""Settings that hurt: one rule a file in `rules`, each with what, why and the fix; `registry`
lists them and checks a story.
"""
