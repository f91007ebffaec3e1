"""What all toolchains have in common inside of a foreign program: standard library only, nothing of
ours.
"""
