"""Every notebook of examples/notebooks runs from its first cell to its last, and comes with its outputs."""

import pathlib

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient is not there")
import nbformat  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_there_are_some():
    assert len(NOTEBOOKS) >= 6


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook(path):
    book = nbformat.read(path, as_version=4)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    assert any(cell.outputs for cell in cells), "it should come with its outputs"
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(path.parent)}}).execute()
