"""Outcomes by release, and the account made of them.

In: results, or judgements, of one kernel in many releases. Out: one account
(:mod:`compat.history.account`): a word, the change that it is about, and the untested releases.
:mod:`compat.history.verdict` sorts the results of a matrix into the rows that accounts are made of.
"""
