"""One module per answer, as text and as data.

Answers are a bisection, a comparison, a capture, an explanation, a reduction, an edit and more.
"""
