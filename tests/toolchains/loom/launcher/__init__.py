"""What weaves what ``compat build`` has put into a folder: standard library only, on any
machine.
"""
