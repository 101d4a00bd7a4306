"""Client settings in every dialect, read into one thing: what a consumer of these settings is."""
