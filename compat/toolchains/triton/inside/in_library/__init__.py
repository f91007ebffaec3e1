"""What `compat guard` writes into libraries: standard library only, on every Python that any release has wheels for."""
