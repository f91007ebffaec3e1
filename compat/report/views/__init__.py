"""One module per answer: a bisection, a comparison, a capture, an explanation, a reduction, an edit
… as text and as data.
"""
