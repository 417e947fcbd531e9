"""What is asked beside a model and its example calls: the options of a decision."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from xla_helpers.differences import TOLERANCE
from xla_helpers.errors import check_number


@dataclass(frozen=True)
class Plan:
    """The options of `decide`, whose docstring explains them.

    Raises:
        ValueError: For numbers that make no sense.
    """

    kwargs: Mapping[str, Any] | None = None
    candidates: Mapping[str, Callable] | None = None
    invalid_inputs: Iterable = ()
    step: bool = False
    calls: int = 10_000
    tolerance: float = TOLERANCE
    min_speedup: float = 1.05
    budget: float = 10.0
    repeats: bool | None = None

    def __post_init__(self):
        check_number("calls", self.calls, whole=True)
        check_number("min_speedup", self.min_speedup)
        check_number("tolerance", self.tolerance, zero=True)
        check_number("budget", self.budget)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Plan":
        """A plan of named options.

        Raises:
            TypeError: For a name that is none; it lists those that are.
        """
        known = [field.name for field in fields(cls)]
        if unknown := options.keys() - set(known):
            names = ", ".join(sorted(map(str, unknown)))
            raise TypeError(f"unknown option {names}; there are {', '.join(known)}")
        return cls(**options)
