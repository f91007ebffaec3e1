"""Deciding purely: the search for a change, judges, verdicts, which cells and which changed settings to try. Touches nothing."""
