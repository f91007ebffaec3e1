"""The names of a release of Triton, as its modules show them.

This package runs inside the release's env, with the standard library and Triton only.

``python -I FOLDER FILE`` writes one JSON object to FILE. Names that begin with an underscore are
left out, except ``_experimental_…``::

    {"schema": 1, "version": "3.9.0", "names": {"triton.language.dot": {...}, ...}}

A name has a ``kind`` (``builtin``: a function of kernels that the compiler itself implements;
``jit``, ``function``, ``class``, ``dtype``, ``module``, ``value``; in classes ``method``,
``property`` and ``attribute``). If it has parameters, ``parameters`` lists them: ``name``, ``kind``
as :mod:`inspect` calls it, and ``default`` as Python writes it, if there is one. Other facts are:

- ``foreign`` is the kind of a name that a module has imported from elsewhere. The name exists, but
  is no part of the interface.
- ``opaque``: a class whose members are not listed.
- ``same_as``: another name of the same object, whose entry has all other facts.
- ``value``: the value of a number or a string.
- ``internal``: the name is in a module for Triton's own use, or in a module whose ``__all__`` does
  not list it.
- ``refuses``: the error of a function that does nothing but raise.
- ``deprecated``: the text about a deprecation in the docstring, in ``__deprecated__``, or in a
  warning that is always given. ``warns``: warnings of a deprecation that are given under a
  condition. A parameter has ``deprecated``, too.
- ``error``: why a module cannot be imported. Its contents are unknown.

The names come from the modules as they are imported here. The warnings of a function come from its
source.
"""
