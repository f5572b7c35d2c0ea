#!/usr/bin/env python3
"""Tests the report of the demo in headless Chromium: no errors, no requests, fast, accessible, search and sort work.

usage: browser_test.py --page report.html [--axe axe.min.js] [--chromium PROGRAM] [--shots FOLDER]
"""

import argparse
import pathlib
import sys

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
    check((back == "rgb(255, 255, 255)") == (form != "dark"), f"{form}: the background is {back}")
    beyond = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    check(beyond <= 0, f"{form}: {beyond} pixels wider than the screen")
    if shots:
        page.screenshot(path=shots / f"{form}.png", full_page=True)
    page.context.close()


def check_table(browser, page_file):
    """Opens the plan with the keyboard, sorts and searches it."""
    page = opened(browser, page_file, "light")
    plan = page.locator("details", has_text="The plan, tensor by tensor")
    plan.locator("summary").focus()
    page.keyboard.press("Enter")
    check(plan.evaluate("one => one.open"), "Enter does not open the plan")
    head = plan.locator("thead button", has_text="before")
    head.focus()
    page.keyboard.press("Enter")
    values = plan.locator("tbody tr td:nth-child(4)").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    check(values == sorted(values) and len(values) > 10, "Enter on a head does not sort")
    check(plan.locator("th[aria-sort=ascending]").count() == 1, "aria-sort is not set")
    page.keyboard.press("Enter")
    values = plan.locator("tbody tr td:nth-child(4)").evaluate_all("all => all.map(one => Number(one.dataset.value))")
    check(values == sorted(values, reverse=True), "a second Enter does not reverse the order")
    plan.locator("input").fill("conv")
    shown = plan.locator("tbody tr:visible").all_inner_texts()
    check(0 < len(shown) < len(values) and all("conv" in row.lower() for row in shown), "search does not search")
    page.locator("button.theme").click()
    check(page.evaluate("document.documentElement.dataset.theme") == "dark", "the theme does not change")
    page.context.close()


def check_without_scripts(browser, page_file):
    page = opened(browser, page_file, "light", java_script_enabled=False)
    check(page.locator("h1").inner_text() != "", "no verdict without scripts")
    check(page.locator("table.data").count() > 5, "no tables without scripts")
    page.context.close()


def check_access(browser, page_file, axe):
    for form in ("light", "dark", "phone"):
        page = opened(browser, page_file, form, bypass_csp=True)
        page.evaluate("() => { for (const folded of document.querySelectorAll('details')) folded.open = true; }")
        page.evaluate(axe.read_text())
        found = page.evaluate("axe.run()")
        print(f"{form}: axe: {len(found['passes'])} rules pass, {len(found['violations'])} fail")
        for violation in found["violations"]:
            check(False, f"{form}: axe: {violation['id']}: {violation['help']}: {violation['nodes'][0]['html'][:120]}")
        page.context.close()


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
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
        check_table(browser, arguments.page)
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
