"""Run the notebooks and store what they show: `make notebooks`. A long test runs them again and compares what they print."""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).with_name("notebooks")


def run(path: Path) -> Any:
    """The notebook with what it shows; without what differs from machine to machine."""
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}).execute()
    for cell in notebook.cells:
        cell.metadata = {}
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop("text/html", None)
            if "image/png" in output.get("data", {}):
                output.data.pop("text/plain", None)
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return notebook


def printed(notebook: Any) -> list[str]:
    """What the cells print, as text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [re.sub(r"\s+", " ", output.get("text") or output.get("data", {}).get("text/plain", "")).strip() for output in outputs]


if __name__ == "__main__":
    for found in sorted(FOLDER.glob("*.ipynb")):
        nbformat.write(run(found), found)
        print(f"ran {found.name}")
