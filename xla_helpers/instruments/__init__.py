"""Instruments: what a function did and ran, what compiled, what XLA refuses, and on what machine.

They may import the ground of the support module: internals, tables, errors, differences, modes,
variables, memory, timing and calls. Comparisons, results and plots stand above them, deciding too.
"""
