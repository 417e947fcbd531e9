"""Arguments that make no sense, refused by name."""

from numbers import Real


def check_callable(fn) -> None:
    """Refuse what is not a function, such as the result of calling one."""
    if not callable(fn):
        raise TypeError(
            f"`fn` is {type(fn).__name__}, which cannot be called: pass the function itself"
        )


def check_positive(name: str, value) -> None:
    """Refuse a count, a size or a time that is not above zero."""
    if not (isinstance(value, Real) and value > 0):
        raise ValueError(f"`{name}` is {value!r}: give a number above zero")
