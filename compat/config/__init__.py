"""The two kinds of TOML file, matrix.toml and kernel files, read once into records; errors carry the path of the key."""
