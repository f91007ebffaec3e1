"""The forms in which a matrix is written: for terminals, code forges, browsers and CI systems."""
