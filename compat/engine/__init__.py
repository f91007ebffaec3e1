"""Worker processes: servers in envs, those that stay, watching a batch, turning its events into evidence."""
