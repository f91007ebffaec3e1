"""What runs inside of programs and envs that have Triton: standard library and Triton only, Python
3.8 to 3.14.
"""
