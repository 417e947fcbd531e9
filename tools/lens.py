"""The picture of the pass lens, for browsers without JavaScript and for notebook 10."""

import re
from html import escape

DEVICE, SHOWN = "a processor", "fusion"
LAYOUT = re.compile(r"\{[01,]+\}(?= )")  # how an array lies in memory; of arrays, not dimensions
STYLES = {" ": "", "-": ' class="gone"', "+": ' class="new"'}
STYLE = """
    .code { font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 11.5px }
    .gone { fill: #9c2f06; text-decoration: line-through } .new { fill: #14513f; font-weight: bold }
    rect.gone { fill: #fbe3da } rect.new { fill: #dcefe8 } .now { fill: #d4480a; font-weight: bold }
"""
TOP, LINE = 132, 19  # pixels


def drawn(made):
    """SVG: the first program at its fusion, below the names of all passes that changed it.

    Args:
        made: What docs/passes.json holds.
    """
    program = made["programs"][0]
    steps = program["steps"][DEVICE]
    (step,) = (step for step in steps if step["pass"] == SHOWN)
    names = [_marked(one["pass"] or "as given", one is step) for one in steps]
    lines = changed(step["lines"])
    height = TOP + LINE * len(lines)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 {height}" \
font-family="DejaVu Sans, Verdana, Arial, sans-serif" font-size="14" fill="#222">
  <title>XLA’s passes over {escape(program["name"])}</title>
  <style>{STYLE}  </style>
  <rect width="960" height="{height}" fill="white"/>
  <text x="24" y="34" font-size="20" font-weight="bold">{escape(program["name"])}, for {DEVICE}: \
after each pass that changed it</text>
  <text x="24" y="64">{" → ".join(names)}</text>
  <text x="24" y="96">{escape(step["says"])}</text>
{"".join(_line(place, line) for place, line in enumerate(lines))}</svg>
"""


def changed(lines):
    """The computations in which something changed, without layouts."""
    parts = re.findall(r"(?ms)^.[%E].+?^.\}$", "\n".join(lines))
    shown = [part for part in parts if re.search("(?m)^[+-]", part)]
    return [LAYOUT.sub("", line) for part in shown for line in part.splitlines()]


def _marked(name, now):
    return f'<tspan class="now">{name}</tspan>' if now else name


def _line(place, line):
    y, style = TOP + LINE * place - 8, STYLES[line[0]]
    bar = f'  <rect{style} x="24" y="{y - 13}" width="912" height="{LINE}"/>\n' if style else ""
    sign = "" if line[0] == " " else line[0].replace("-", "−")
    code = f'<text x="44" y="{y}"{style} xml:space="preserve">{escape(line[1:])}</text>'
    return f'{bar}  <g class="code"><text x="30" y="{y}">{sign}</text>{code}</g>\n'
