"""Learner copies, for nbconvert: folded is what answers a guess, gone what a teacher says there.

Gone, too, is the cell that installs packages on Colab: in a room, `make workshop` has done that.
"""

from nbconvert.preprocessors import Preprocessor

RESULT, EXPLANATION = "Result: open it when you have guessed", "Explanation"


class Fold(Preprocessor):
    """Fold each cell tagged `answer`: code as JupyterLab does, prose below a line to click on."""

    def preprocess(self, nb, resources):
        nb.cells = [cell for cell in nb.cells if cell.id != "colab"]
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell, resources, index):
        for teachers in ("say", "bet"):
            cell.metadata.pop(teachers, None)
        if "answer" not in cell.metadata.get("tags", []):
            return cell, resources
        if cell.cell_type == "code":
            cell.metadata.setdefault("jupyter", {})["source_hidden"] = True
            cell.source = f"# {RESULT}\n{cell.source}"  # the line that stays in sight
        else:
            opens = f"<details><summary>{EXPLANATION}</summary>"
            cell.source = f"{opens}\n\n{cell.source}\n\n</details>"
        return cell, resources
