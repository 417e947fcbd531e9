"""Look inside: checks, programs and kernels, profiles, layers, operations, compilations explained.

One storey above the loose files of `xla_helpers`, which import nothing from here.
"""
