"""Every notebook of examples/notebooks runs from its first cell to its last, and comes with its outputs and pictures."""

import ast
import os
import pathlib

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not there")
import nbformat  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_some():
    assert len(NOTEBOOKS) >= 6


def shows_something(source):
    """Whether running the cell leaves something under it: it ends in a value, or prints."""
    code = "\n".join(line for line in source.splitlines() if not line.startswith("%"))
    statements = ast.parse(code).body
    ends_in_value = isinstance(statements[-1], ast.Expr) and not code.rstrip().endswith(";")
    return ends_in_value or "print(" in code or "ax.legend()" in code or ".plot_" in code


def pictures(cells):
    return sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path, monkeypatch):
    if (ROOT.parent / "shared").is_dir():
        monkeypatch.setenv("MUSTER_SHARED", os.environ.get("MUSTER_SHARED", str(ROOT.parent / "shared")))
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    drawn = pictures(cells)
    assert drawn >= 1, "it should come with a picture"
    for cell in cells:
        assert cell.outputs or not shows_something(cell.source), f"this cell should come with its output:\n{cell.source}"
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}}).execute()
    assert pictures(cells) == drawn
