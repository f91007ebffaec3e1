"""What the package index has, and which Pythons this machine has for it."""
