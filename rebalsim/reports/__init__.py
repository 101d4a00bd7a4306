"""How it is told: a value becomes text. Nothing is computed, opened or judged here."""
