"""``matrix.json``: written, read back, and joined from several runs."""
