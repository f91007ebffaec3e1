"""One module per kind of answer, which shows it as text and as data.

Kinds are bisections, comparisons, captures, explanations, reductions, edits and more.
"""
