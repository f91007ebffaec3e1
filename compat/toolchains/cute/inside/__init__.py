"""What runs inside an env with CuTe DSL: standard library and CuTe DSL only, nothing of ours."""
