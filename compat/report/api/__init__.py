"""Names of a toolchain's Python interface, as people and programs are told of them."""
