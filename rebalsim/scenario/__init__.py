"""YAML text into a Scenario, or into all of its mistakes at once, each on its line."""
