"""A failing cell as something to send: a script that anyone can run, and the text of an issue that belongs to it.

- :mod:`compat.repro.call`: the compile call, in the form that a release takes
- :mod:`compat.repro.promise`: the words by which a script knows the failure
- :mod:`compat.repro.script`: the script
- :mod:`compat.repro.mending`: the smallest edit that makes a kernel compile, for failures that are the kernel's own
- :mod:`compat.repro.private`: nothing of this machine goes out
- :mod:`compat.repro.issue`: the text of the issue
- :mod:`compat.repro.writing`: all of it in order, verified before anything is written
"""

from compat.repro.writing import Request, Unverified, Written, write

__all__ = ["Request", "Unverified", "Written", "write"]
