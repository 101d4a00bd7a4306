"""Settings that hurt: one rule a file, each with what, why and the fix."""
