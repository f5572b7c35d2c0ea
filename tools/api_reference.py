#!/usr/bin/env python3
"""Writes the API references from the public headers and from the functions in Python.

usage: api_reference.py [--check]     exit 1 with --check: a page is not current

- docs/reference/cpp-headers.md of include/ounce/*.h, *.hpp and their folders
- docs/reference/c-headers.md of include/ounce/ounce.h and include/ounce/app.h
- docs/reference/python-functions.md of python/ounce

Each page shows declarations as they are in the sources, under the comments in front of them.
"""

import argparse
import ast
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
HEADERS = ROOT / "include" / "ounce"
C_HEADERS = ("ounce.h", "app.h")

DECLARED = re.compile(
    r"^(?:template\s*<[^{;]*?>\s*)?(?:enum\s+class|enum|struct|class|union|namespace)\s+(?:OUNCE_\w+\s+)?(\w+(?:::\w+)*)")
TYPEDEF = re.compile(r"^typedef\b.*?(\w+)\s*(?:\)\s*\([^;]*)?;$", re.DOTALL)
FUNCTION_POINTER = re.compile(r"^typedef\b[^;]*?\(\*(\w+)\)")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")
CONSTANT = re.compile(r"^(?:inline\s+)?constexpr\b[^=({]*?(\w+)\s*(?:\[\])?\s*[={]")
MACRO = re.compile(r"^#define\s+(\w+)")
FUNCTION = re.compile(r"([\w~]+|operator\S+)\s*\(")
# Left out of the reference: names of enumerators for programs, includes, guards.
LEFT_OUT = re.compile(
    r"^(?:#(?!define)|#define OUNCE_\w*(?:_H|API)\b|extern \"C\"|\}|template <>\s*struct NamesOf|namespace\b[^{;]*;|using namespace\b)")


def without_comment_marks(lines):
    text = "\n".join(re.sub(r"^\s*(?://|/\*+|\*(?!/)) ?", "", line) for line in lines)
    return re.sub(r"\s*\*/\s*$", "", text)


def prose(lines, language):
    """A comment as Markdown: indented lines are code."""
    out = []
    in_code = False
    for line in without_comment_marks(lines).strip("\n").split("\n"):
        if line.startswith("NOLINT"):
            continue
        is_code = line.startswith("  ") and (in_code or not out or not out[-1].strip())
        if is_code != in_code and line.strip():
            out.append(f"```{language}" if is_code else "```")
            if in_code and out[-2] == "":
                out[-2:] = ["```", ""]
            in_code = is_code
        out.append(line[2:] if in_code else escaped(line))
    if in_code:
        out.append("```")
    return "\n".join(out).strip()


def escaped(line):
    """Text of a comment with the characters of Markdown that it does not mean."""
    parts = re.split(r"(`[^`]*`)", line)
    return "".join(part if part.startswith("`") else re.sub(r"([*_<\[\]|])", r"\\\1", part) for part in parts)


def statement_end(lines, start):
    """The line behind a declaration that begins at `start`."""
    depth = 0
    for at in range(start, len(lines)):
        code = re.sub(r'"(?:\\.|[^"\\])*"|//.*|/\*.*?\*/', "", lines[at])
        depth += sum(code.count(c) for c in "{(") - sum(code.count(c) for c in "})")
        if lines[start].startswith("#define"):
            if not lines[at].endswith("\\"):
                return at + 1
        elif depth <= 0 and (code.rstrip().endswith(";") or (code.rstrip().endswith("}") and "{" in "".join(lines[start:at + 1]))):
            return at + 1
    return len(lines)


def without_private(code):
    """A class without its private part."""
    return re.sub(r"\n+\s*private:.*?(?=\n\};)", "", code, flags=re.DOTALL)


def name_of(code):
    flat = " ".join(line for line in code.splitlines() if not line.lstrip().startswith(("//", "/*", "*")))
    flat = re.sub(r"\[\[\w+\]\]\s*|\bOUNCE_API\s+|\bOUNCE_APP_API\s+", "", flat)
    for pattern in (FUNCTION_POINTER, TYPEDEF, DECLARED, ALIAS, MACRO, CONSTANT):
        if (match := pattern.match(flat)):
            return match.group(1)
    match = FUNCTION.search(re.sub(r"^template\s*<.*?>\s*", "", flat))
    if match:
        return match.group(1) + "()"
    match = re.search(r"(\w+)\s*(?:=[^;]*|\{[^;]*)?;", flat)
    return match.group(1) if match else None


def declarations(text):
    """(comment lines, code) of the introduction and of each declaration of a header."""
    lines = text.split("\n")
    found = []
    comment = []
    at = 0
    is_introduced = False
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith("/*"):
            end = at
            while "*/" not in lines[end]:
                end += 1
            comment += lines[at:end + 1]
            at = end + 1
        elif line.startswith("//"):
            comment.append(line)
            at += 1
        elif not line.strip():
            if comment and not is_introduced:
                found.append((comment, ""))
                comment, is_introduced = [], True
            elif comment and not all("NOLINT" in one for one in comment):
                found.append((comment, ""))  # about the declarations below
                comment = []
            at += 1
        elif re.match(r"^(?:inline )?namespace [\w:]+ \{|^extern \"C\" \{", line) or line.startswith(("#pragma once", "#include", "#if", "#else", "#endif", "#ifndef", "}")):
            if comment and not is_introduced:
                found.append((comment, ""))
                is_introduced = True
            comment = []
            at += 1
        else:
            end = statement_end(lines, at)
            code = "\n".join(lines[at:end])
            # Declarations without a blank line in between belong together.
            if not LEFT_OUT.match(code):
                if found and found[-1][1] and not comment and lines[at - 1].strip() and not DECLARED.match(code):
                    found[-1] = (found[-1][0], found[-1][1] + "\n" + code)
                else:
                    found.append((comment, code))
            comment = []
            at = end
    return found


def header_section(path, language):
    title = path.relative_to(HEADERS.parent).as_posix()
    link = "../../" + path.relative_to(ROOT).as_posix()
    out = [f"## {title}", "", f"[Source]({link})"]
    for comment, code in declarations(path.read_text(encoding="utf-8")):
        words = prose(comment, language) if comment else ""
        if code and (name := name_of(code)):
            out += ["", f"### {name}"]
        if words:
            out += ["", words]
        if code:
            out += ["", f"```{language}", without_private(code), "```"]
    return "\n".join(out)


def headers_page(title, introduction, paths, language):
    parts = [f"# {title}", introduction, *(header_section(path, language) for path in paths)]
    return "\n\n".join(parts) + "\n"


def signature(function):
    """The signature of a function, one line for each argument."""
    arguments = function.args
    lines = []
    positional = arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults

    def described(argument, default):
        text = argument.arg + (f": {ast.unparse(argument.annotation)}" if argument.annotation else "")
        return text + (f" = {ast.unparse(default)}" if default is not None else "")

    lines += [described(argument, default) for argument, default in zip(positional, defaults)]
    if arguments.vararg:
        lines.append("*" + described(arguments.vararg, None))
    elif arguments.kwonlyargs:
        lines.append("*")
    lines += [described(argument, default) for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return lines, ast.unparse(function.returns) if function.returns else "None"


def python_function(function, prefix):
    lines, returns = signature(function)
    lines = [line for line in lines if line not in ("self", "cls")]
    short = f"{prefix}{function.name}({', '.join(lines)}) -> {returns}"
    if len(short) > 110:
        short = f"{prefix}{function.name}(\n" + "".join(f"    {line},\n" for line in lines) + f") -> {returns}"
    # The title of a constructor is its class.
    name = (prefix + function.name).removesuffix(".__init__")
    words = ast.get_docstring(function) or ""
    return "\n".join([f"### {name}", "", "```python", short, "```", "", python_prose(words)]).rstrip()


def python_prose(words):
    """A docstring as Markdown: arguments become lists, examples code."""
    out = []
    in_example = False
    for line in words.split("\n"):
        if re.match(r"^[A-Z][\w ,-]*:$", line) and not in_example:
            out += ["", f"**{line[:-1]}**", ""]
            in_example = line == "Example:"
            if in_example:
                out.append("```python")
            continue
        if in_example and line and not line.startswith(" "):
            in_example = False
            out += ["```", ""]
            if re.match(r"^[A-Z][\w ,-]*:$", line):
                out += [f"**{line[:-1]}**", ""]
                continue
        if in_example:
            out.append(line.removeprefix("    "))
        elif (match := re.match(r"^ *(\w+): (.*)", line)):
            out.append(f"- `{match[1]}`: {python_escaped(match[2])}")
        elif line.startswith("    "):
            out.append("  " + python_escaped(line.strip()))
        else:
            out.append(python_escaped(line))
    while out and not out[-1]:
        out.pop()
    if in_example:
        out.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


def python_escaped(text):
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else re.sub(r"([*<\[\]|])", r"\\\1", part) for part in parts)


def exported(package):
    """The names that a package exports: in __all__, or without an underscore."""
    tree = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__":
            return [ast.literal_eval(one) for one in node.value.elts]
    return []


def python_page(introduction):
    package = ROOT / "python" / "ounce"
    names = exported(package)
    found = {}
    for module in ("_verbs", "_call", "_errors", "_library", "__init__"):
        path = package / f"{module}.py"
        if not path.is_file():
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name in names:
                found.setdefault(node.name, node)
    parts = []
    for name, node in found.items():
        if isinstance(node, ast.FunctionDef):
            parts.append(python_function(node, "ounce."))
        elif any(isinstance(one, ast.FunctionDef) and not one.name.startswith("_") for one in node.body):
            words = ast.get_docstring(node) or ""
            methods = [python_function(one, f"ounce.{name}.") for one in node.body if isinstance(one, ast.FunctionDef) and not one.name.startswith("_")]
            parts += [f"### ounce.{name}\n\n{python_prose(words)}", *methods]
        else:
            bases = ", ".join(ast.unparse(base) for base in node.bases)
            parts.append(f"### ounce.{name}\n\n```python\nclass {name}({bases})\n```\n\n{python_prose(ast.get_docstring(node) or '')}".rstrip())
    return "\n\n".join(["# Python functions", introduction, "## Package ounce", *parts]) + "\n"


def pages():
    headers = sorted([*HEADERS.rglob("*.h"), *HEADERS.rglob("*.hpp")])
    generated = "`tools/api_reference.py` writes this page from the sources."
    cpp = [path for path in headers if path.relative_to(HEADERS).as_posix() not in C_HEADERS]
    yield REFERENCE / "cpp-headers.md", headers_page(
        "C++ headers", textwrap.fill(
            f"Every declaration of the public headers. [The C++ API](cpp-api.md) has the introduction. {generated}", 120), cpp, "cpp")
    yield REFERENCE / "c-headers.md", headers_page(
        "C headers", textwrap.fill(
            "Every declaration of the two C headers: `ounce.h` for the commands ([introduction](c-api.md)) and `app.h` for applications "
            f"that run models ([introduction](app.md)). {generated}", 120), [HEADERS / name for name in C_HEADERS], "c")
    yield REFERENCE / "python-functions.md", python_page(textwrap.fill(
        "Every function of the package. [Python](python.md) has the introduction, and [JSON](json.md) the fields of results. "
        f"{generated}", 120))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    failed = 0
    for path, text in pages():
        if not arguments.check:
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            print(f"{path.relative_to(ROOT)} is not current: run tools/api_reference.py", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
