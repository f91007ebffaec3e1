"""What raw evidence means: reading what compilers print, failure classes, fingerprints, outcomes."""
