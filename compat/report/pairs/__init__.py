"""Which PyTorch works with which release, in every form. In: :class:`compat.pairs.records.Pair`. Out: text, Markdown, JSON."""
