"""The meaning of raw evidence. Pure.

In: the evidence of one attempt. Out: an outcome: status, failure class, stage, fingerprint, and
words for people (:mod:`compat.diagnosis.classify`). The failure classes are data: those of every
toolchain in :mod:`compat.diagnosis.common`, each toolchain's own in its room.
"""
