"""Reads and writes support.txt, the results. README.md describes the format.

    write(path, columns, results, fusions, schemas)
    support = read(path); support.status(key, column)
"""
import itertools
from dataclasses import dataclass, field

from schemas import schemas

FORMAT = 1
MACHINES = {"x86_64": "x64", "aarch64": "arm64", "wasm": "wasm"}


@dataclass(frozen=True)
class Column:
    version: str
    machine: str           # x86_64, aarch64, wasm
    digest: str = field(default="", compare=False)
    opset: int = field(default=0, compare=False)   # the highest that it accepts: of ai.onnx,
    ml: int = field(default=0, compare=False)      # of ai.onnx.ml,
    ir: int = field(default=0, compare=False)      # and of the file format

    def __str__(self):
        return f"{MACHINES[self.machine]} {self.version}"


def spaced(statuses, columns):
    """One character a column, a space where the machine changes."""
    text = ""
    for place, (status, column) in enumerate(zip(statuses, columns)):
        text += (" " if place and columns[place - 1].machine != column.machine else "") + status
    return text


def parameters(listed):
    return " ".join(p.type + ("?" if p.optional else "*" if p.variadic else "") for p in listed) or "-"


def dimension(name, schema):
    """A dimension of the variants; with the default where it is an attribute that has one."""
    default = schema.attributes.get(name)
    if default is None:
        return name
    return f"{name}={default.decode() if isinstance(default, bytes) else default}"


def group_lines(schema, results, columns):
    """The lines of one operator: bindings with the same statuses in the same variant share a line."""
    variables = [v for v in schema.types if any(v == name for key in results for name, _ in key.types)]
    dimensions = list(dict.fromkeys(name for key in results for name, _ in key.by))
    yield (f"op {schema.domain} {schema.name} {schema.since} | {' '.join(variables) or '-'} | "
           f"{' '.join(dimension(d, schema) for d in dimensions) or '-'} | {parameters(schema.inputs)} -> "
           f"{parameters(schema.outputs)}")
    shared = {}
    for key, statuses in results.items():
        bound = dict(key.types)
        binding = "/".join(bound.get(v, "-") for v in variables) or "*"
        shared.setdefault((key.by, statuses), []).append(binding)
    for (by, statuses), bindings in shared.items():
        named = dict(by)
        variant = " ".join(f"{d}={named[d]}" for d in dimensions if d in named)
        yield f"{spaced(statuses, columns)} {','.join(bindings)}" + (f" {variant}" if variant else "")


SHORT = {"QuantizeLinear": "Q", "DequantizeLinear": "DQ"}


def abridged(operators):
    """The operators of an optimized model: Q, DQ, ms. for com.microsoft., 3*DQ for three in a row."""
    text = []
    for name, run in itertools.groupby(operators):
        count = len(list(run))
        name = SHORT.get(name, name.replace("com.microsoft.", "ms."))
        text.append(name if count == 1 else f"{count}*{name}")
    return "+".join(text)


def write(path, date, columns, results, fusions):
    """`results`: key -> one character a column; `fusions`: key -> one text a column, what became of it."""
    by_operator = {}
    for key, statuses in results.items():
        by_operator.setdefault((key.domain, key.op, key.since), {})[key] = statuses
    lines = [f"ounce-support {FORMAT}", f"measured {date}"]
    for place, c in enumerate(columns):
        lines.append(f"column {place} {c} opset={c.opset} ml={c.ml} ir={c.ir} sha256={c.digest}")
    lines += ["", "operators"]
    for schema in schemas():
        group = by_operator.get((schema.domain, schema.name, schema.since))
        if group:
            lines += group_lines(schema, group, columns)
    lines += ["", "fusions"]
    for key, made in fusions.items():
        letters = {}
        for text in made:
            letters.setdefault(text, chr(ord("a") + len(letters)))
        legend = " ".join(f"{letter}:{text}" for text, letter in letters.items())
        lines.append(f"{spaced([letters[t] for t in made], columns)} {key.op} {key} opset={key.since} {legend}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@dataclass
class Support:
    columns: list = field(default_factory=list)
    statuses: dict = field(default_factory=dict)    # full key -> one character a column

    def status(self, key, column):
        return self.statuses[key.full()][self.columns.index(column)]


def read(path):
    support = Support()
    machines = {short: machine for machine, short in MACHINES.items()}
    operator, part = None, None
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            words = line.split()
            if words[:1] == ["column"]:
                fields = dict(word.split("=") for word in words[4:])
                support.columns.append(Column(words[3], machines[words[2]], fields["sha256"],
                                              *(int(fields[name]) for name in ("opset", "ml", "ir"))))
            elif line in ("operators", "fusions"):
                part = line
            elif words[:1] == ["op"]:
                head, variables, _, _ = line.split(" | ", 3)
                operator = (head[3:], variables.split())
            elif part == "operators" and words:
                read_statuses(support, operator, words)
    return support


def read_statuses(support, operator, words):
    count = len({column.machine for column in support.columns})
    statuses, bindings, variant = "".join(words[:count]), words[count], words[count + 1:]
    head, variables = operator
    for binding in bindings.split(","):
        types = "" if binding == "*" else ",".join(
            f"{v}={t}" for v, t in zip(variables, binding.split("/")) if t != "-")
        support.statuses[" ".join([head, *([types] if types else []), *variant] if types or variant
                                  else [head, "."])] = statuses
