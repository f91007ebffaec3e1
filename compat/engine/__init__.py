"""Worker processes: starting a warm server in an env, watching a batch, turning its events into evidence."""
