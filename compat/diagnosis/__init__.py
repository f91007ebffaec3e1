"""The meaning of raw evidence. Pure.

In: the evidence of one attempt. Out: an outcome: status, failure class, stage, fingerprint, and
text for people (:mod:`compat.diagnosis.classify`). The failure classes are data: those of every
toolchain in :mod:`compat.diagnosis.common`, and each toolchain's own in the toolchain's package.
"""
