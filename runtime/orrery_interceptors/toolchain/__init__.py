"""Compilers for extensions: found, or made where that is possible, and driven so that builds repeat."""
