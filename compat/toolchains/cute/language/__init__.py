"""CuTe DSL's language: how scripts call it."""
