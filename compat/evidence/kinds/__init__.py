"""The failure classes, in the order of precedence: :mod:`.surroundings`, :mod:`.compiler`, :mod:`.kernel`."""
