"""Which names a release of Triton has, as its modules show them.

Run inside of its env: standard library and Triton only.

``python -I FOLDER FILE`` writes to FILE one JSON object. Names that begin with an underscore are
left out, but for ``_experimental_…``::

    {"schema": 1, "version": "3.9.0", "names": {"triton.language.dot": {...}, ...}}

A name has a ``kind`` (``builtin``: a function of kernels that the compiler itself answers; ``jit``,
``function``, ``class``, ``dtype``, ``module``, ``value``; of classes ``method``, ``property`` and
``attribute``), and where there are any ``parameters``: ``name``, ``kind`` as :mod:`inspect` calls
it, and ``default`` as Python writes it, left out where there is none. Besides:

- ``foreign`` is the kind of what a module has imported from elsewhere: it is there, and no part of
  the interface.
- ``opaque``: a class whose members are not told.
- ``same_as``: a name that is the very same object, and has all else.
- ``value``: of a number or a text.
- ``internal``: it is in a module that is there for others of Triton, or in one that has ``__all__``
  and does not list it.
- ``refuses``: all that the function does is raise; what it says.
- ``deprecated``: what the docstring, ``__deprecated__``, or a warning that is always given says.
  ``warns``: warnings of a deprecation that are given under a condition. A parameter has
  ``deprecated``, too.
- ``error``: why a module cannot be imported. Nothing is known of what is in it.

What names there are is asked of the modules as they are imported here, what a function warns of is
read in its source.
"""
