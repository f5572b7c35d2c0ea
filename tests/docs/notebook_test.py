#!/usr/bin/env python3
"""Runs notebooks without Jupyter.

usage: notebook_test.py [--write] NOTEBOOK.ipynb…     exit 1: a cell failed, or printed something else than the notebook shows

The code cells run in order in one namespace, in a folder with the files of examples/digits. The text output of each cell is compared
with the one in the notebook as docs_test.py compares outputs. --write stores the outputs in the notebook.
"""

import argparse
import ast
import contextlib
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import traceback

from docs_test import difference

DIGITS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "digits"


def run_cell(source, names):
    """The outputs of a cell as a notebook stores them: printed text, and the value of the last line."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    outputs = []
    value = None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": printed.getvalue().splitlines(keepends=True)})
    if value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = value._repr_html_().splitlines(keepends=True)
        outputs.append({"data": data, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def text_of(outputs):
    return "\n".join("".join(one.get("text") or one["data"]["text/plain"]) for one in outputs)


def run_notebook(path, is_writing):
    """The number of cells that failed."""
    notebook = json.loads(path.read_text(encoding="utf-8"))
    names = {"__name__": "__main__"}
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ounce-notebook-") as folder:
        for file in DIGITS.glob("digits*"):
            shutil.copy(file, folder)
        before = os.getcwd()
        os.chdir(folder)
        os.environ["OUNCE_CACHE"] = str(pathlib.Path(folder, "cache"))
        try:
            cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
            for number, cell in enumerate(cells, 1):
                try:
                    outputs = run_cell("".join(cell["source"]), names)
                except Exception:
                    print(f"{path.name}: cell {number} failed:\n{''.join(cell['source'])}\n{traceback.format_exc()}")
                    return failed + 1
                if not is_writing and (why := difference(text_of(cell["outputs"]), text_of(outputs))):
                    print(f"{path.name}: cell {number}:\n{why}")
                    failed += 1
                cell["outputs"], cell["execution_count"] = outputs, number
                for output in outputs:
                    if "execution_count" in output:
                        output["execution_count"] = number
        finally:
            os.chdir(before)
    if is_writing:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return failed


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("notebook", nargs="+", type=lambda path: pathlib.Path(path).resolve())
    arguments = parser.parse_args()
    return 1 if sum(run_notebook(path, arguments.write) for path in arguments.notebook) else 0


if __name__ == "__main__":
    sys.exit(main())
