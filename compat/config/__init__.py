"""The two kinds of TOML file, ``matrix.toml`` and kernel files.

In: paths, and the names, groups and globs of a user. Out: records, read once:
:class:`compat.model.Specialization` for kernels, :class:`compat.config.matrix.MatrixConfig` for
everything else. Errors name the path of the invalid key.
"""
