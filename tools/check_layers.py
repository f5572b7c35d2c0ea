#!/usr/bin/env python3
"""Checks the layer rule over the #include lines and the calls of src/ and include/.

usage: check_layers.py [ROOT]     exit 0: no violation; 1: a line "file:line: message" for each

The rule:
- A folder of src/, sub-folders included, uses itself, the folders that MAY_USE gives it, and theirs in turn.
- A face (verbs, cli, capi, runner) uses itself, include/ounce, and only the folders named for it.
- A call of a function of include/ounce is a use of the folder that defines it. Faces are not checked for calls, nor are names
  that the file or a header of its folder declares itself.
- include/ounce, which is installed, includes nothing of src/.
- Folders that know no file format (NEUTRAL) include nothing of formats/onnx, and name nothing of its namespaces.
- Only src/runtime/ort includes the headers of ONNX Runtime (and src/runtime, through them).
- An include names the file with its folder: "formats/onnx/graph/index.h", not "index.h".
- No header includes itself through others.
Tests (*_test.cpp) may include anything.
"""

import pathlib
import re
import sys

MAY_USE = {
    "base": [],
    "ops": [],
    "recipe": ["base"],
    "io": ["base"],
    "kernels": [],
    "quant": ["kernels", "base"],
    "calibration": ["quant"],
    "formats/protobuf": ["io"],
    "formats/onnx/file": ["formats/protobuf", "ops"],
    "formats/onnx/graph": ["formats/onnx/file"],
    "formats/tflite/file": ["io", "ops"],
    "formats/tflite/edit": ["formats/tflite/file", "quant"],
    "formats/tflite/prepare": ["formats/tflite/edit"],
    "formats/coreml/file": ["formats/protobuf", "kernels"],
    "model": ["io", "quant", "ops"],
    "formats/onnx/view": ["formats/onnx/graph", "model"],
    "formats/tflite/view": ["formats/tflite/edit", "model"],
    "formats/tflite/plan": ["formats/tflite/view", "plan", "plan/float_choice", "plan/weights"],
    "formats/tflite/emit": ["formats/tflite/plan", "formats/tflite/edit"],
    "formats/coreml/view": ["formats/coreml/file", "model"],
    "formats": ["formats/onnx/view", "formats/tflite/view", "formats/coreml/view"],
    "target": ["formats/onnx/graph", "formats/tflite/file"],
    "target/litert": ["target"],
    "target/ort": ["target", "quant"],
    "plan/float_choice": ["base"],
    "plan/weights": ["model", "recipe"],
    "plan": ["calibration", "recipe"],
    "formats/coreml/plan": ["formats/coreml/view", "target", "plan/weights"],
    "formats/coreml/emit": ["formats/coreml/plan"],
    "formats/onnx/plan": ["formats/onnx/view", "target/ort", "plan", "plan/float_choice", "plan/weights"],
    "formats/onnx/edit": ["formats/onnx/plan"],
    "formats/onnx/emit": ["formats/onnx/edit", "formats/onnx/view"],
    "formats/onnx/qat": ["formats/onnx/edit"],
    "formats/onnx/prepare": ["formats/onnx/qat", "formats/onnx/emit"],
    "data": ["base", "kernels"],
    "data/containers": ["data", "formats/onnx/file"],
    "data/image": ["data"],
    "data/contract": ["data/image", "formats"],
    "data/source": ["data/containers", "data/contract"],
    "runtime/ort": ["data", "formats/onnx/file"],
    "runtime/litert": ["data", "formats/tflite/edit"],
    "runtime/mil": ["data", "formats/coreml/file"],
    "runtime": ["runtime/ort", "runtime/litert", "runtime/mil", "model"],
    "evaluate/statistics": ["base"],
    "evaluate/models": ["runtime", "data/source"],
    "evaluate/metrics": ["evaluate/statistics", "evaluate/models"],
    "evaluate/compare": ["evaluate/metrics"],
    "evaluate/timing": ["evaluate/compare", "formats/onnx/plan"],
    "evaluate": ["evaluate/timing", "target"],
    "app": ["runtime", "data/contract"],
    "quantize": ["evaluate", "target/litert", "formats/onnx/prepare", "formats/tflite/emit", "formats/tflite/prepare",
                 "formats/coreml/emit"],
    "inspect": ["quantize", "target/litert"],
    "search/tune": ["inspect"],
    "search/sensitivity": ["search/tune"],
    "search/parts": ["search/tune"],
    # A folder of questions and answers, which knows nothing of what they ask.
    "queue": ["io"],
    "search/advise": ["search/sensitivity"],
    "publish": ["search/advise"],
    # Shows the results of include/ounce, and knows nothing of the code that made them.
    "report": ["base", "recipe"],
    "report/html": ["report"],
    # Results as JSON: knows the structs of include/ounce, and how report words their sentences.
    "results": ["report"],
}
FACES = {
    "verbs": ["report", "report/html", "results", "recipe", "io", "base"],  # every verb with its options
    "cli": ["verbs", "report", "report/html", "results", "recipe", "io", "base"],
    "capi": ["verbs", "io", "base"],
    "runner": ["runtime", "base"],
}

# Verbs and stages that work on models of any format through model/ and formats/open.h. A file, or a folder with those below.
NEUTRAL = ["model", "plan", "data/contract", "data/source", "runtime/executor", "runtime/hosted", "runtime/serve",
           "runtime/wire", "evaluate", "quantize/observation", "quantize/statement", "inspect", "report", "results", "verbs",
           "cli", "capi"]
OF_ONNX = ["inspect/check", "data/source/test_folder_source"]  # releases of ONNX Runtime; its folders of test data
ONNX = re.compile(r'#include "formats/onnx/|\b(onnx|graph|passes)::')

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
SOURCES = {".h", ".hpp", ".cpp", ".inc"}
# A function of include/ounce at the left margin: "VerifyResult verify(…".
DECLARED = re.compile(r"^(?!using|struct|class|enum|template|namespace|inline|constexpr|friend|return|typedef)"
                      r"[A-Za-z_][\w:<>,&* ]*[ &*]([a-z_]+)\(", re.M)


def reachable(folder):
    """The folders that `folder` may use: its own, its row, and so on downwards."""
    found = {folder}
    for used in MAY_USE[folder]:
        found |= reachable(used)
    return found


ALLOWED = {folder: reachable(folder) for folder in MAY_USE}
ALLOWED |= {face: {face, *named} for face, named in FACES.items()}


def include_complaint(folder, quote, path):
    """Why a file of `folder` (None: include/ounce) may not include `path`, or None if it may."""
    used, slash, _ = path.rpartition("/")
    if path.startswith("onnxruntime_") and folder not in ("runtime/ort", "runtime"):
        return f'"{path}": only src/runtime includes the headers of ONNX Runtime'
    if quote == '"' and not slash:
        return f'"{path}": name it with its folder'
    if used not in ALLOWED:
        return None  # <ounce/…>, the standard library, another library
    if folder is None:
        return f'"{path}": an installed header cannot include src/'
    if used not in ALLOWED[folder]:
        allowed = ", ".join(sorted(ALLOWED[folder] - {folder})) or "no other folder"
        return f'"{path}": {folder} may not use {used} (it may use {allowed})'
    return None


def is_below(place, names):
    name = "/".join(place.with_suffix("").parts[1:])
    return any(name == known or name.startswith(known + "/") for known in names)


def format_violations(files):
    for place, text in files.items():
        if place.parts[0] != "src" or not is_below(place, NEUTRAL) or is_below(place, OF_ONNX):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := ONNX.search(line.split("//")[0]):
                yield f"{place}:{number}: {found.group(0)}: this works on models of any format"


def folder_of(place):
    """The folder of a file below src/, or None for include/."""
    return "/".join(place.parts[1:-1]) if place.parts[0] == "src" else None


def definitions(files):
    """Public function → the folders that define it."""
    declared = {}
    for place, text in files.items():
        if place.parts[0] == "include" and place.suffix == ".h":
            for name in DECLARED.findall(text):
                declared.setdefault(name, set())
    for place, text in files.items():
        if place.suffix == ".cpp" and place.parts[0] == "src" and folder_of(place) not in FACES:
            for match in DECLARED.finditer(text):
                name = match.group(1)
                is_in_ounce = re.search(r"^namespace ounce \{", text[:match.start()], re.M)
                includes = any(header.startswith("ounce/") for header in re.findall(r"#include <([^>]+)>", text))
                if name in declared and is_in_ounce and includes:
                    declared[name].add(folder_of(place))
    return {name: folders for name, folders in declared.items() if len(folders) == 1}


def closures(files):
    """File → the headers of include/ounce that it includes, through others too."""
    names = {"/".join(place.parts[1:]): place for place in files}
    found = {}

    def closure(place):
        if place not in found:
            found[place] = set()
            for _, path in (match.groups() for match in map(INCLUDE.match, files[place].splitlines()) if match):
                if path in names:
                    found[place] |= {path} | closure(names[path])
        return found[place]

    return {place: closure(place) for place in files}


def call_violations(files):
    defined = definitions(files)
    headers = {}  # public function → the header that declares it
    for place, text in files.items():
        if place.parts[0] == "include":
            for name in DECLARED.findall(text):
                headers.setdefault(name, set()).add("/".join(place.parts[1:]))
    seen = closures(files)
    own = {}  # names that a folder's own headers declare: a call of them is no call of include/ounce
    for place, text in files.items():
        if place.parts[0] == "src" and place.suffix == ".h":
            own.setdefault(folder_of(place), set()).update(re.findall(r"\b([a-z_]+)\(", text))
    for place, text in files.items():
        folder = folder_of(place)
        if folder is None or folder in FACES or folder not in MAY_USE:
            continue
        local = set(DECLARED.findall(text))
        for number, line in enumerate(text.splitlines(), 1):
            code = line.split("//")[0]
            for qualifier, name in re.findall(r"(?<![\w.>])((?:ounce::)?)(?<!::)([a-z_]+)\(", code):
                where = defined.get(name)
                if where and not headers[name] & seen[place]:
                    continue
                if not where or (not qualifier and name in local | own.get(folder, set())):
                    continue
                (place_defined,) = where
                is_called = qualifier or re.search(rf"(return|=|\(|,|;|^)\s*{name}\(", code)
                if is_called and place_defined not in ALLOWED[folder] and folder != place_defined:
                    yield f"{place}:{number}: {name}() is defined in src/{place_defined}, which {folder} may not use"


def cycles(files):
    """Header cycles, each as one line."""
    uses = {}
    for place, text in files.items():
        if place.suffix == ".h" and place.parts[0] == "src":
            name = "/".join(place.parts[1:])
            uses[name] = [path for _, path in INCLUDE.findall(text)]
    state = {}

    def visit(name, path):
        state[name] = "open"
        for used in uses.get(name, []):
            if state.get(used) == "open":
                yield f"src/{name}:1: includes itself: {' -> '.join([*path[path.index(used):], used])}"
            elif used in uses and used not in state:
                yield from visit(used, [*path, used])
        state[name] = "done"

    for name in sorted(uses):
        if name not in state:
            yield from visit(name, [name])


def violations(root):
    files = {}
    for file in sorted([*root.glob("src/**/*"), *root.glob("include/**/*")]):
        if file.suffix in SOURCES and not file.name.endswith("_test.cpp"):
            files[file.relative_to(root)] = file.read_text(encoding="utf-8")
    for place, text in files.items():
        folder = folder_of(place)
        if folder is not None and folder not in ALLOWED:
            yield f"{place}:1: src/{folder} has no line in the table of tools/check_layers.py"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if match := INCLUDE.match(line):
                if why := include_complaint(folder, *match.groups()):
                    yield f"{place}:{number}: {why}"
    yield from format_violations(files)
    yield from call_violations(files)
    yield from cycles(files)


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    if not (root / "src").is_dir():
        print(f"check_layers: {root} has no src/", file=sys.stderr)
        return 2
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
