"""Deciding: one process's study of a model, the processes, and the verdict.

It may import everything else; nothing else imports it.
"""
