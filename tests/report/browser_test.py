#!/usr/bin/env python3
"""Tests the report of the demo in headless Chromium: no errors, no requests, fast, accessible; charts, tables and samples work;
hostile documents change nothing.

usage: browser_test.py --ounce PROGRAM --page report.html [--axe axe.min.js] [--chromium PROGRAM] [--shots FOLDER]

The JSON documents that the page was made of are next to it.
"""

import argparse
import base64
import json
import pathlib
import struct
import subprocess
import sys
import zlib

from page_test import HOSTILE, hostile

from playwright.sync_api import sync_playwright

MOST_MILLISECONDS = 300
FORMS = {
    "light": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1200, "height": 900}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "color_scheme": "light"},
}
failures = []


def check(holds, what):
    if not holds:
        failures.append(what)


def opened(browser, page_file, form, **more):
    context = browser.new_context(**FORMS[form], **more)
    page = context.new_page()
    page.on("console", lambda message: check(False, f"{form}: the console says: {message.text}"))
    page.on("pageerror", lambda error: check(False, f"{form}: {error}"))
    page.on("request", lambda request: check(request.url.startswith(("file://", "data:")), f"{form}: asks for {request.url}"))
    page.goto(page_file.as_uri())
    return page


def check_form(browser, page_file, form, shots):
    page = opened(browser, page_file, form)
    loaded = min(page.reload() and page.evaluate("performance.timing.loadEventEnd - performance.timing.navigationStart") for _ in range(5))
    print(f"{form}: opens in {loaded} ms")
    check(loaded < MOST_MILLISECONDS, f"{form}: opens in {loaded} ms")
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    lightness = sum(int(part) for part in back[4:-1].split(","))
    check((lightness > 600) == (form != "dark"), f"{form}: the background is {back}")
    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(beyond <= 0, f"{form}: {beyond} pixels wider than the screen")
    if shots:
        page.screenshot(path=shots / f"{form}.png", full_page=True)
    page.context.close()


def check_content(browser, page_file):
    """Every section with its charts, and the figures at the top."""
    page = opened(browser, page_file, "light")
    check(page.locator("#plain").count() == 0, "the content without scripts is still there")
    check(page.locator("#summary .dial").count() == 4, "not four dials")
    heads = page.locator("h2, h3, summary").all_inner_texts()
    for wanted in ("quantize: small.onnx", "verify: small.onnx", "bench: small.onnx", "sensitivity: model.onnx", "tune: tuned.onnx", "check: model.onnx",
                   "diff: small.onnx", "inspect: model.onnx", "Checks", "Graph by blocks", "SQNR of each weight", "SQNR of each activation", "Latency distribution",
                   "Sensitivity along the network", "Size and quality of each candidate"):
        check(any(wanted in head for head in heads), f"no '{wanted}'")
    check(page.locator("path.wave").count() > 0, "no waveform of a sample")
    check(page.locator(".audits li").count() > 10, "no checks")
    check(page.locator("svg.chart .threshold").count() > 2, "no threshold lines")
    page.context.close()


def check_chart(browser, page_file):
    """The tooltip follows the pointer and the arrow keys; a block shows its nodes."""
    page = opened(browser, page_file, "light")
    drawing = page.locator("svg.chart", has=page.locator(".mark")).first
    drawing.focus()
    page.keyboard.press("ArrowRight")
    check(page.locator(".tooltip").is_visible() and "dB" in page.locator(".tooltip").inner_text(), "an arrow key shows no tooltip")
    page.keyboard.press("Escape")
    check(not page.locator(".tooltip").is_visible(), "Escape does not close the tooltip")
    drawing.locator(".mark").first.hover(force=True)
    check(page.locator(".tooltip").is_visible(), "the pointer shows no tooltip")
    page.locator(".graph .hit").first.click()
    check("Nodes of" in page.locator(".picked").first.inner_text(), "a block does not show its nodes")
    with page.expect_download() as download:
        page.locator("figure.plot button.png").first.click()
    check(pathlib.Path(download.value.path()).read_bytes().startswith(b"\x89PNG"), "the chart is no PNG file")
    page.context.close()


def check_table(browser, page_file):
    """Opens the plan with the keyboard, sorts, searches, filters and saves it."""
    page = opened(browser, page_file, "light")
    plan = page.locator("details", has_text="The plan, tensor by tensor")
    plan.locator("summary").focus()
    page.keyboard.press("Enter")
    check(plan.evaluate("one => one.open"), "Enter does not open the plan")
    more = plan.locator("button", has_text="Show all")
    if more.is_visible():
        more.click()
    head = plan.locator("thead button", has_text="before")
    head.focus()
    page.keyboard.press("Enter")
    units = {"B": 1, "kB": 1e3, "MB": 1e6}
    sizes = lambda: [float(text.split()[0]) * units[text.split()[1]] for text in plan.locator("tbody tr td:nth-child(4)").all_inner_texts()]
    values = sizes()
    check(values == sorted(values) and len(values) > 10, "Enter on a head does not sort")
    check(plan.locator("th[aria-sort=ascending]").count() == 1, "aria-sort is not set")
    page.keyboard.press("Enter")
    check(sizes() == sorted(values, reverse=True), "a second Enter does not reverse the order")
    plan.locator("input[type=search]").fill("conv")
    shown = plan.locator("tbody tr").all_inner_texts()
    check(0 < len(shown) < len(values) and all("conv" in row.lower() for row in shown), "search does not search")
    plan.locator("input[type=search]").fill("")
    plan.locator("input[type=checkbox]").check()
    shown = plan.locator("tbody tr").all_inner_texts()
    check(0 < len(shown) < len(values) and all("unchanged" in row for row in shown), "the filter does not filter")
    with page.expect_download() as download:
        plan.locator("button", has_text="CSV").click()
    lines = pathlib.Path(download.value.path()).read_text().splitlines()
    check(lines[0].startswith("tensor,op,shape,before,after") and len(lines) == len(values) + 1, f"the CSV file has {len(lines)} lines: {lines[0]}")
    page.locator("button.theme").first.click()
    check(page.evaluate("document.documentElement.dataset.theme") == "dark", "the theme does not change")
    page.context.close()


def documents_in(folder):
    return [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]


def page_of(ounce, folder, documents, *options):
    """The report of constructed documents, in a folder of its own."""
    made = folder / "constructed"
    made.mkdir(exist_ok=True)
    names = [f"{i}.json" for i in range(len(documents))]
    for name, document in zip(names, documents):
        (made / name).write_text(json.dumps(document))
    subprocess.run([ounce, "report", *names, "-o", "page.html", *options], cwd=made, check=True, stdout=subprocess.DEVNULL)
    return made / "page.html"


def results_of(verb, *results):
    return {"schema_version": 2, "verb": verb, "command": f"ounce {verb}", "results": list(results), "errors": []}


def small_png():
    chunk = lambda kind, content: struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(9 * 8))) + chunk(b"IEND", b"")


def small_wav():
    sound = bytes(3200)
    return b"RIFF" + struct.pack("<I", 36 + len(sound)) + b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, 16000, 32000, 2, 16) + b"data" + struct.pack("<I", len(sound)) + sound


def check_constructed(browser, ounce, folder):
    """Documents with what the demo does not have."""
    speed = {"ratio": 2.5, "low": 2, "high": 3, "measurable": True, "reliable": True}
    trials = [{"name": "w8", "ratio": .26215, "sqnr_db": 40, "passed": True, "speed_up": speed}, {"name": "int8", "ratio": .2623, "sqnr_db": 30, "passed": False, "reason": "300 of 307 samples needed"},
              {"name": "w16", "ratio": .5, "sqnr_db": 60, "passed": True, "slower": True, "speed_up": {**speed, "ratio": .8}}]
    page = opened(browser, page_of(ounce, folder, [results_of("tune", {"model": "m.onnx", "passed": True, "best": trials[0], "trials": trials})]), "light")
    rows = page.locator("tbody tr").all_inner_texts()
    check(any("failed: 300 of 307 samples needed" in row for row in rows), "a rejected model has no reason")
    check(any("passed, but slower than the original" in row for row in rows), "a slow model has no reason")
    chart = page.locator("svg.chart", has_text="speed (× the original)")
    check(chart.count() == 1 and "26.2" not in chart.text_content(), "the axis of sizes is stretched")
    page.context.close()

    method = {"method": "w8", "measured": True, "ratio": .25, "speed_up": None, "quality": "ok", "acceptable": False, "uncertain": True}
    page = opened(browser, page_of(ounce, folder, [results_of("advise", {"model": "m.onnx", "methods": [method]})]), "light")
    text = page.locator("main").inner_text()
    check("not measured" in text and "no measurable difference" not in text and "uncertain: ok" in text, "a method that was not timed seems to be")
    page.context.close()

    png, wav = (base64.b64encode(content).decode() for content in (small_png(), small_wav()))
    answers = [{"class": 0, "reference": 2, "candidate": 1}, {"class": 1, "reference": 1, "candidate": 2}]
    sample = {"sample": "x[0]", "output": "y", "max_abs_diff": 1, "answers": answers, "label": 0}
    image, sound = {"input": "y", "png": png, "lowest": [], "highest": []}, {"input": "y", "png": None, "wav": wav, "lowest": [-1, 0], "highest": [0, 1]}
    verify = {"candidate": "m.onnx", "reference": "o.onnx", "passed": True, "verdict": "passed", "worst": [{**sample, "sample": "x[1]", "answers": [], "reference_output": image, "candidate_output": image},
              {**sample, "sample": "x[2]", "answers": [], "reference_output": sound, "candidate_output": sound}], "changed": [sample],
              "outputs": [{"name": "y", "judged": True, "answers_compared": 9, "answers_changed": 1, "changed_answers": [{"from": 0, "to": 1, "count": 1}]}]}
    (folder / "names.txt").write_text("cat\ndog\n")
    page = opened(browser, page_of(ounce, folder, [results_of("verify", verify)], "--class-names", "../names.txt"), "light")
    cards = page.locator(".card").all_inner_texts()
    check("cat → dog" in cards[0] and "now wrong" in cards[0], f"the changed prediction is not first: {cards[:1]}")
    page.locator(".compare input").fill("25")
    check("25%" in page.locator(".stage img").nth(1).evaluate("one => one.style.clipPath"), "the slider does not move the border")
    choice = page.locator("button.choice").nth(1)
    choice.click()
    check(choice.get_attribute("aria-pressed") == "true" and page.locator("audio").first.evaluate("one => one.muted"), "the other sound is not heard")
    page.context.close()


STRANGE = [None, 3, -1e300, "x", True, [1, "x", None], {"name": 3}, [[1]], [{}], [{"name": "x", "from": 1, "to": 2, "count": 3, "sqnr_db": 1, "stored": True, "ratio": 1}]]


def check_strange(browser, ounce, folder):
    """Values of other types than expected give no errors: opened() checks the console."""
    keys, containers = set(), set()

    def note(value):
        if isinstance(value, list):
            for one in value:
                note(one)
        if isinstance(value, dict):
            keys.update(value)
            containers.update(key for key, one in value.items() if isinstance(one, (dict, list)))
            for one in value.values():
                note(one)

    documents = documents_in(folder)
    for document in documents:
        note(document["results"])
    for strange in STRANGE:
        inner = {key: strange for key in keys}
        outer = {key: [inner] if i % 2 else inner for i, key in enumerate(sorted(containers))}
        of_all_verbs = [{"verb": document["verb"], "command": strange, "next": strange, "results": [inner, outer, strange], "errors": strange} for document in documents]
        page = opened(browser, page_of(ounce, folder, of_all_verbs), "light")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        page.context.close()


def check_hostile(browser, ounce, folder):
    """Names change neither the elements of the page nor its behavior."""
    documents, counts = documents_in(folder), set()
    for name in ["plain", *(name for name in HOSTILE if len(name) < 1000)]:
        page = opened(browser, page_of(ounce, folder, [hostile(document, name, [1_000_000]) for document in documents]), "light")
        check("owned" not in page.title() or name in page.title(), f"{name!r} became a script")
        counts.add(page.evaluate("document.querySelectorAll('img, script, iframe, audio, object, [onerror], [onmouseover], [onload]').length"))
        page.context.close()
    check(len(counts) == 1, f"names change the elements of the page: {counts}")


def check_without_scripts(browser, page_file):
    page = opened(browser, page_file, "light", java_script_enabled=False)
    check(page.locator("h1").inner_text() != "", "no verdict without scripts")
    check(page.locator("#plain table tbody tr").count() > 5, "no key figures without scripts")
    check(page.locator("#plain pre").count() > 5, "no commands without scripts")
    page.context.close()


def check_access(browser, page_file, axe):
    for form in ("light", "dark", "phone"):
        page = opened(browser, page_file, form, bypass_csp=True)
        page.evaluate("() => { dispatchEvent(new Event('beforeprint')); }")
        page.evaluate(axe.read_text())
        found = page.evaluate("axe.run()")
        print(f"{form}: axe: {len(found['passes'])} rules pass, {len(found['violations'])} fail")
        for violation in found["violations"]:
            check(False, f"{form}: axe: {violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:120]}")
        page.context.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--page", required=True, type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument("--axe", type=pathlib.Path)
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=["--no-sandbox"])
        for form in FORMS:
            check_form(browser, arguments.page, form, arguments.shots)
        check_content(browser, arguments.page)
        check_chart(browser, arguments.page)
        check_table(browser, arguments.page)
        check_constructed(browser, arguments.ounce, arguments.page.parent)
        check_strange(browser, arguments.ounce, arguments.page.parent)
        check_hostile(browser, arguments.ounce, arguments.page.parent)
        check_without_scripts(browser, arguments.page)
        if arguments.axe:
            check_access(browser, arguments.page, arguments.axe)
        if arguments.shots:
            opened(browser, arguments.page, "light").pdf(path=arguments.shots / "print.pdf")
        browser.close()
    for failure in failures:
        print(failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
