"""The two kinds of TOML file, ``matrix.toml`` and kernel files.

In: paths, and the names, groups and globs that somebody asks for. Out: records, read once:
:class:`compat.model.Specialization` for kernels, :class:`compat.config.matrix.MatrixConfig` for all
else. Errors carry the path of the key that is wrong.
"""
