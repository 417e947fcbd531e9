"""`%%xla`: a cell of a notebook, with the kernels that its lines became."""

import ast
from typing import Any

from ..calls import Call
from ..errors import headline
from ..tables import Table, abbreviate
from .programs import Program, inspect_program

HOW = "%%xla: the last line of the cell must call a function, such as f(x, y)"


def register(shell: Any) -> None:
    """Make `%%xla` known to an IPython shell."""
    shell.register_magic_function(lambda _, cell: run(shell, cell), "cell", "xla")


def run(shell: Any, cell: str) -> None:
    """Run a cell, and show what XLA makes of the call in its last line, which is not called.

    Args:
        shell: IPython's.
        cell: Python, whose last line calls a function.

    Raises:
        UsageError: Where no function is called, and for what XLA refuses.
    """
    from IPython.core.error import UsageError
    from IPython.display import display

    code = shell.transform_cell(cell)
    body = ast.parse(code).body
    last = body[-1] if body else None
    if not (isinstance(last, ast.Expr) and isinstance(last.value, ast.Call)):
        raise UsageError(HOW)
    file = shell.compile.cache(code, shell.execution_count)  # from which its lines can be read
    exec(compile(ast.Module(body[:-1], []), file, "exec"), shell.user_ns)
    call = _call_of(last.value, file, shell.user_ns).with_tensors().as_compiled()
    try:
        program = inspect_program(call.fn, call.args, call.kwargs)
    except Exception as error:  # whatever XLA or the reader's function raises
        raise UsageError(f"%%xla: {headline(error, 1000)}; xh.check says where") from error
    display(lines_table(program, code, file), program)


def _call_of(call, file, names):
    """The function and the arguments of a call that was written, without calling it."""
    taken = ast.Call(ast.Name("call", ast.Load()), [call.func, *call.args], call.keywords)
    expression = ast.fix_missing_locations(ast.Expression(ast.copy_location(taken, call)))
    taking = {"call": lambda fn, *args, **kwargs: Call(fn, args, kwargs)}
    return eval(compile(expression, file, "eval"), {**names, **taking})


def lines_table(program: Program, code: str, file: str) -> Table:
    """The lines of a cell, each with the kernels that it became.

    Args:
        program: What `inspect_program` found.
        code: The cell's code.
        file: The name that it has in tracebacks.
    """
    kernels: dict[int, list[str]] = {}
    for kernel in program.kernels:
        for line in kernel.lines:
            if line.file == file:
                kernels.setdefault(line.number, []).append(kernel.name)
    rows = [
        [number, f"| {text}", ", ".join(kernels.get(number, ()))]
        for number, text in enumerate(code.splitlines(), start=1)
        if text.strip()
    ]
    named = {name for names in kernels.values() for name in names}
    others = [kernel for kernel in program.kernels if kernel.name not in named]
    notes = [f"Of no line of this cell: {abbreviate(x.name for x in others)}."] if others else []
    title = "Each line of the cell, and the kernels that it became."
    return Table(title, ["line", "code", "kernels"], rows, *notes)
