#!/usr/bin/env python3
"""Finds private terms, riddles and British spelling in comments, messages and documents.

usage: check_language.py [--counts] [--root ROOT] [PATH...]

Prints `file:line: "hit": advice` per finding and exits with 1 if there are any. PATH limits the search to files and folders
below ROOT (default: the repository). --counts prints findings per folder instead of each finding.

The rules and the allowed exceptions are in tools/language.txt. The checked text is:
- C++, C, Java, Kotlin, Swift, JavaScript: comments, and string literals that contain a space
- Python: comments, docstrings and string literals that contain a space
- Markdown: everything outside of code blocks
- shell, CMake, make, TOML, YAML: comments
Code in backticks is ignored everywhere.
"""

import argparse
import collections
import fnmatch
import pathlib
import re
import sys

RULES = "tools/language.txt"
FOLDERS = ("src", "include", "bindings", "python", "tools", "bench", "tests", "docs", "cmake", "packaging", "examples")
# Test data, and files that tools write from other texts.
SKIPPED = ("tests/cli/cases/*", "tests/fuzz/seeds/*", "tests/fuzz/regressions/*", "tests/goldens/*/*")

COMMENT, STRING, PROSE = "comment", "string", "prose"
OK = "ok"  # the advice of a phrase that the following rules must not refuse

# Comments, raw strings, strings and characters; a quote inside a number does not start a character.
C_TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<string>R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"|\"""[^"].*?\"""|"(?:\\.|[^"\\\n])*")
    |(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'""", re.DOTALL | re.VERBOSE)
PYTHON_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
    |(?P<string>[rbfuRBFU]{0,2}(?:\"""(?:\\.|[^\\])*?\"""|'''(?:\\.|[^\\])*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))""",
    re.VERBOSE)
HASH_TOKEN = re.compile(r"(?:^|(?<=\s))(?P<comment>#[^\n]*)", re.MULTILINE)
TOKENS = {
    C_TOKEN: {".h", ".cpp", ".c", ".inc", ".java", ".kt", ".kts", ".swift", ".js", ".mjs"},
    PYTHON_TOKEN: {".py"},
    HASH_TOKEN: {".sh", ".cmake", ".toml", ".yaml", ".yml", "Makefile", "setup", "CMakeLists.txt", "Dockerfile"},
}

WORD = re.compile(r"(?<![\w\-\\@$])[A-Za-z]\w*(?:['’]\w+)?|…")
ENDS_SENTENCE = re.compile(r"(?:[.!?:;]['\")]?\s+|\n\s*\n\s*|(?:^|\n)[\s>]*(?:[-*#>]+|\d+\.)\s+)\Z")
SENTENCE_END_REACH = 100  # characters before a word in which ENDS_SENTENCE looks


CODE = re.compile(r"`[^`\n]*`")
COMMENT_MARKS = re.compile(r"(?:^|(?<=\n))[ \t]*(?://+!?<?|/\*+|\*(?=\s)|#+!?)|\*/")
LINE_COMMENT_MARKS = re.compile(r"/+!?<?|#+!?")
STRING_MARKS = re.compile(r"""^[rbfuRBFU]{0,2}(?:\"""|\'\'\'|"|')|(?:\"""|\'\'\'|"|')$""")
ESCAPE = re.compile(r"\\.")
FORMATTED = re.compile(r"[rR]?[fF]")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
NOT_LINE_BREAK = re.compile(r"[^\n]")
CODE_BLOCK = re.compile(r"^( *)(```|~~~).*?^\1\2[^\n]*$", re.DOTALL | re.MULTILINE)
CODE_IN_MARKDOWN = re.compile(r"`[^`]*`|(?<=\])\([^)\n]*\)|<https?:[^>]*>|<!--.*?-->", re.DOTALL)
PARAGRAPH = re.compile(r"[^\s|](?:[^\n|]|\n(?!\s*\n|#|\s*(?:[-*]|\d+\.) ))*")


def blank(text):
    """Spaces in the place of `text`, with its line breaks."""
    return NOT_LINE_BREAK.sub(" ", text) if "\n" in text else " " * len(text)


def without_markup(kind, text):
    """The words of one comment or string at their places; everything else is blank."""
    if kind == COMMENT and "\n" not in text and not text.startswith("/*"):
        mark = LINE_COMMENT_MARKS.match(text).end()
        text = " " * mark + text[mark:]
    elif kind == COMMENT:
        text = COMMENT_MARKS.sub(lambda m: " " * len(m[0]), text)
    else:
        if FORMATTED.match(text):
            text = PLACEHOLDER.sub(lambda m: "`" * len(m[0]) if "\n" not in m[0] else m[0], text)
        text = STRING_MARKS.sub(lambda m: " " * len(m[0]), text)
        if "\\" in text:
            text = ESCAPE.sub(lambda m: ". " if m[0] == "\\n" else "  ", text)
    return CODE.sub(lambda m: "`" * len(m[0]), text) if "`" in text else text


def chunks_of_source(text, tokens):
    """[kind, offset, text] of comments and strings; those with nothing but space between them are one."""
    found = []
    end = 0
    for token in tokens.finditer(text):
        kind = token.lastgroup
        if kind == "mark":
            kind = STRING
        if not kind:
            continue
        between = text[end:token.start()]
        words = without_markup(kind, token[0])
        if found and found[-1][0] == kind and not between.strip() and between.count("\n") < 2:
            found[-1][2] += between + words
        else:
            found.append([kind, token.start(), words])
        end = token.end()
    return [chunk for chunk in found if chunk[0] == COMMENT or " " in chunk[2].strip()]


def chunks_of_markdown(text):
    text = CODE_BLOCK.sub(lambda m: blank(m[0]), text)
    text = CODE_IN_MARKDOWN.sub(lambda m: NOT_LINE_BREAK.sub("`", m[0]), text)
    return [[PROSE, m.start(), m[0]] for m in PARAGRAPH.finditer(text)]


def chunks(path, text):
    """[kind, offset, text] of the texts that people read in a file. Each text is as long as its source."""
    if path.suffix == ".md":
        return chunks_of_markdown(text)
    for tokens, names in TOKENS.items():
        if path.suffix in names or path.name in names:
            return chunks_of_source(text, tokens)
    return []


def shortened(text):
    words = " ".join(text.split())
    return words if len(words) <= 60 else words[:57] + "..."


class Rule:
    """A line `pattern -> advice` of the rules.

    The pattern is a regular expression; its first word (up to a space, hyphen or look-behind) must match a whole word, a space
    matches any white space, case is ignored unless the first word has a capital letter, `^ ` in front limits it to starts of
    sentences, ` $` at the end to ends of a comment, string or paragraph. The advice `ok` exempts a phrase from the rules below it.
    """

    def __init__(self, pattern, advice, kinds):
        self.advice = advice
        self.kinds = kinds
        self.starts_sentence = pattern.startswith("^ ")
        pattern = pattern.removeprefix("^ ")
        head = re.split(r"[ -]|\(\?<", pattern, maxsplit=1)[0]
        self.head = re.compile(head, 0 if re.search(r"(?<!\\)[A-Z]", head) else re.IGNORECASE)
        ends_text = pattern.endswith(" $")
        pattern = pattern.removesuffix(" $").replace(" ", r"\s+")
        self.pattern = re.compile(f"(?:{pattern})(?!\\w)" + (r"[.\s]*\Z" if ends_text else ""), re.IGNORECASE)


class Rules:
    def __init__(self, text):
        self.rules = []
        self.allowed = []  # (file pattern, regular expression of the line)
        kinds = None
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            if line.startswith("["):
                kinds = {"[all]": {COMMENT, STRING, PROSE}, "[comments]": {COMMENT}, "[strings]": {STRING},
                         "[documents]": {PROSE}, "[allowed]": None}[line.strip()]
                continue
            left, arrow, right = line.partition(" -> " if kinds else ": ")
            if not arrow:
                raise ValueError(f"{RULES}:{number}: {line!r} is neither a rule nor an exception")
            try:
                if kinds:
                    self.rules.append(Rule(left.strip(), right.strip(), kinds))
                else:
                    self.allowed.append((left.strip(), re.compile(right.strip())))
            except re.error as error:
                raise ValueError(f"{RULES}:{number}: {error}") from None
        self.any_word = re.compile("|".join(f"(?:{rule.head.pattern})" for rule in self.rules),
                                   re.IGNORECASE)
        self.of_word = {}

    def starting_with(self, word):
        """The rules whose first word this is."""
        rules = self.of_word.get(word)
        if rules is None:
            rules = self.of_word[word] = [rule for rule in self.rules if rule.head.fullmatch(word)
                                          ] if self.any_word.fullmatch(word) else []
        return rules

    def findings(self, path, text):
        """(line, hit, advice) of a file; `path` is relative to the root."""
        lines = None
        for kind, offset, words in chunks(path, text):
            done = 0
            for word in WORD.finditer(words):
                for rule in self.starting_with(word[0]):
                    if kind not in rule.kinds or word.start() < done:
                        continue
                    if not (hit := rule.pattern.match(words, word.start())):
                        continue
                    if rule.starts_sentence:
                        before = words[max(0, word.start() - SENTENCE_END_REACH):word.start()]
                        if before.strip() and not ENDS_SENTENCE.search(before):
                            continue
                    done = hit.end()
                    if rule.advice == OK:
                        break
                    line = text.count("\n", 0, offset + hit.start())
                    lines = lines or text.split("\n")
                    if not self.is_allowed(path, lines[line]):
                        yield line + 1, shortened(hit[0]), rule.advice

    def is_allowed(self, path, line):
        return any(fnmatch.fnmatch(path.as_posix(), files) and pattern.search(line) for files, pattern in self.allowed)


def files(root, places):
    """The files to check, relative to the root."""
    found = set()
    for place in places or [root / folder for folder in FOLDERS] + [file for file in root.iterdir() if file.is_file()]:
        found.update([place] if place.is_file() else place.rglob("*"))
    for file in sorted(found):
        path = file.relative_to(root)
        if file.is_file() and not any(fnmatch.fnmatch(path.as_posix(), skipped) for skipped in SKIPPED):
            yield path


def findings(root, places=()):
    """(path, line, hit, advice) of every file of a tree, or of those in `places`."""
    rules = Rules((root / RULES).read_text(encoding="utf-8"))
    names = {".md"}.union(*TOKENS.values())
    for path in files(root, places):
        if path.suffix in names or path.name in names:
            for finding in rules.findings(path, (root / path).read_text(encoding="utf-8")):
                yield path, *finding


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--counts", action="store_true", help="print findings per folder and per word")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent)
    parser.add_argument("path", type=pathlib.Path, nargs="*", help="check only these files and folders")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    places = [path.resolve() for path in arguments.path]
    if unknown := [path for path in places if not path.exists() or not path.is_relative_to(root)]:
        parser.error(f"not in {root}: {unknown[0]}")

    found = list(findings(root, places))
    if arguments.counts:
        folders = collections.Counter("/".join(path.parts[:2] if len(path.parts) > 2 else path.parts[:1]) for path, *_ in found)
        words = collections.Counter(" ".join(hit.lower().split()[:2]) for _, _, hit, _ in found)
        for name, count in (*sorted(folders.items()), *words.most_common(40), ("in all", len(found))):
            print(f"{count:6} {name}")
    else:
        for path, line, hit, advice in found:
            print(f'{path}:{line}: "{hit}": {advice}')
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
