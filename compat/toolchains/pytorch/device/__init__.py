"""A fake GPU for PyTorch: its facts (:mod:`.gpu`), and a program with it (:mod:`.program`)."""
