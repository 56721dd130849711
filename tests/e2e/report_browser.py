#!/usr/bin/env python3
"""Opens a report in a headless Chromium, from disk, and checks what a reader would see.

usage: report_browser.py REPORT.html RESULT_FOLDER... [--screenshots FOLDER]

The result folders are those the report was made from, in its order. Checked are: no JavaScript error, every
plot drawn with one series per run, every figure equal to summary.json, nothing loaded from elsewhere, and
that the tip, the legend and the sorting of tables react. Exit status 77 means that there is no Chromium.
"""

import argparse
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars"]

# Runs inside a copy of the page: does what a reader's hand would do and leaves what it saw in the document.
INTERACTION = """
<script>
(() => {
  const seen = {};
  const plot = document.querySelector('[data-plot="jct"] svg');
  const box = plot.getBoundingClientRect();
  plot.dispatchEvent(new PointerEvent('pointermove', { clientX: box.left + box.width * 0.6, clientY: box.top + 40, bubbles: true }));
  seen.tip_shown = !document.querySelector('.tip').hidden;
  seen.tip_rows = document.querySelectorAll('.tip div i').length;
  seen.tip_text = document.querySelector('.tip').textContent;
  plot.dispatchEvent(new PointerEvent('pointerleave', {}));
  seen.tip_gone = document.querySelector('.tip').hidden;
  const canvas = document.querySelector('[data-plot="waiting"]');
  canvas.focus();
  canvas.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
  seen.key_tip = document.querySelector('.tip').textContent;
  canvas.blur();
  const buttons = document.querySelectorAll('.legend button');
  if (buttons.length) {
    buttons[0].click();
    seen.after_hiding = document.querySelectorAll('[data-plot="jct"] path.series').length;
    buttons[0].click();
    seen.after_showing = document.querySelectorAll('[data-plot="jct"] path.series').length;
    for (const button of buttons) button.click();
    seen.never_empty = document.querySelectorAll('[data-plot="jct"] path.series').length;
    for (const button of buttons) if (button.getAttribute('aria-pressed') === 'false') button.click();
    const table = document.querySelector('table.headlines');
    const column = [...table.tHead.rows[0].cells].findIndex(cell => cell.textContent === 'avg JCT');
    table.tHead.rows[0].cells[column].click();
    seen.sorted = [...table.tBodies[0].rows].map(row => Number(row.cells[column].dataset.value));
  }
  seen.overflow = document.documentElement.scrollWidth - innerWidth;
  document.documentElement.dataset.seen = JSON.stringify(seen);
})();
</script>
</body>"""


class Page(html.parser.HTMLParser):
    """What the finished document holds: elements with their attributes, and the plot each one is in."""

    def __init__(self, text):
        super().__init__()
        self.elements = []  # (tag, attributes, name of the plot around it)
        self.depth = 0
        self.plot = None
        self.plot_depth = 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        if tag in ("meta", "br", "input", "img", "link"):
            self.elements.append((tag, attributes, self.plot))
            return
        self.depth += 1
        if "data-plot" in attributes:
            self.plot = attributes["data-plot"]
            self.plot_depth = self.depth
        self.elements.append((tag, attributes, self.plot))

    def handle_endtag(self, tag):
        if self.plot and self.depth == self.plot_depth:
            self.plot = None
        self.depth -= 1

    def series(self, plot, tag):
        return [a for t, a, p in self.elements if p == plot and t == tag and "series" in a.get("class", "").split()]

    def root(self):
        return next(a for t, a, _ in self.elements if t == "html")


class Checks:
    def __init__(self):
        self.failures = []
        self.count = 0

    def expect(self, condition, text):
        self.count += 1
        if not condition:
            self.failures.append(text)


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if shutil.which(name):
            return name
    return None


def browse(browser, path, *flags, width=1280, height=1600):
    """Returns the finished document and what the browser logged."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},{height}",
                   "--enable-logging=stderr", "--virtual-time-budget=3000", *flags, path.resolve().as_uri()]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return done.stdout, done.stderr


def close(text, number):
    if number is None:
        return text == ""
    return text != "" and float(text) == number


def check_page(checks, text, log, summaries):
    page = Page(text)
    count = len(summaries)
    errors = [line for line in log.splitlines() if "CONSOLE" in line]
    checks.expect(not errors, f"the page logged errors: {errors}")
    checks.expect(page.root().get("data-drawn") == "yes", "the page's script did not run to its end")
    expected = {"jct": count, "queue": count, "utilisation": count, "waiting": count if count > 1 else 2}
    for plot, lines in expected.items():
        paths = page.series(plot, "path")
        checks.expect(len(paths) == lines, f"plot {plot} has {len(paths)} lines, expected {lines}")
        for path in paths:
            checks.expect(len(path.get("d", "")) > 40, f"a line of plot {plot} is empty: {path.get('d')!r}")
            checks.expect("NaN" not in path.get("d", ""), f"a line of plot {plot} leaves the numbers")
        titled = [t for t, _, p in page.elements if p == plot and t == "title"]
        checks.expect(titled, f"plot {plot} has no title for screen readers")
    dots = {a["data-run"] for a in page.series("sizes", "circle")}
    checks.expect(len(dots) == count, f"the plot of sizes shows {len(dots)} runs, expected {count}")
    waited = sum(1 for s in summaries if s["waits"])
    bars = {a["data-run"] for a in page.series("waits", "rect")}
    checks.expect(len(bars) == waited, f"the plot of waits shows {len(bars)} runs, expected {waited}")
    check_figures(checks, page, summaries)


def check_figures(checks, page, summaries):
    compared = {"data-key": 0, "data-figure": 0}
    for _, attributes, _ in page.elements:
        for kind in compared:
            if kind not in attributes:
                continue
            key, run = attributes[kind], int(attributes["data-run"])
            compared[kind] += 1
            checks.expect(close(attributes["data-value"], summaries[run][key]),
                          f"run {run}: the page says {key} is {attributes['data-value']!r}, "
                          f"summary.json says {summaries[run][key]!r}")
    checks.expect(compared["data-key"] >= 8 * len(summaries), "figures are missing from the table at the top")
    checks.expect(compared["data-figure"] >= 30 * len(summaries), "figures are missing from the full table")


def check_self_contained(checks, source):
    outside = re.search(r"""(src|href)\s*=|@import|url\(|https?://(?!www\.w3\.org/2000/svg)""", source)
    checks.expect(outside is None, f"the page refers to something outside: {outside and outside.group()}")
    checks.expect(len(source) < 3_000_000, f"the page has {len(source)} bytes")


def check_reactions(checks, browser, source, folder, count):
    copy = folder / "interaction.html"
    copy.write_text(source.replace("</body>", INTERACTION), encoding="utf-8")
    text, log = browse(browser, copy, "--dump-dom")
    seen = json.loads(Page(text).root().get("data-seen", "{}"))
    checks.expect(seen, f"the reactions could not be tried: {log[-400:]}")
    checks.expect(seen.get("tip_shown") and seen.get("tip_rows") == count, f"the tip shows {seen.get('tip_rows')} rows")
    checks.expect("within" in seen.get("tip_text", "") and "%" in seen.get("tip_text", ""), "the tip says nothing")
    checks.expect(seen.get("tip_gone"), "the tip stays when the pointer leaves")
    checks.expect("after" in seen.get("key_tip", ""), "the arrow keys do nothing")
    checks.expect(seen.get("overflow", 1) <= 0, f"the page is {seen.get('overflow')} pixels wider than the window")
    if count > 1:
        checks.expect(seen.get("after_hiding") == count - 1, "the legend does not hide a run")
        checks.expect(seen.get("after_showing") == count, "the legend does not bring a run back")
        checks.expect(seen.get("never_empty") == 1, "the legend hides the last run")
        values = seen.get("sorted", [])
        checks.expect(len(values) == count and values == sorted(values), f"the table does not sort: {values}")
    text, _ = browse(browser, copy, "--dump-dom", width=390, height=844)
    narrow = json.loads(Page(text).root().get("data-seen", "{}"))
    checks.expect(narrow.get("overflow", 1) <= 0, f"on a narrow screen the page is {narrow.get('overflow')} pixels too wide")


def screenshots(browser, report, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, height, dark in (("wide", 1280, 3200, False), ("wide-dark", 1280, 3200, True),
                                      ("narrow", 500, 5200, False), ("narrow-dark", 500, 5200, True)):
        theme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        picture = folder / f"{report.stem}-{name}.png"
        browse(browser, report, f"--screenshot={picture}", theme, width=width, height=height)
        print(picture)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--screenshots", type=pathlib.Path)
    given = parser.parse_args()
    browser = chromium()
    if browser is None:
        print("no chromium on this machine; scripts/setup test installs it")
        return 77
    if given.screenshots:
        screenshots(browser, given.report, given.screenshots)
    summaries = [json.loads((folder / "summary.json").read_text()) for folder in given.results]
    source = given.report.read_text(encoding="utf-8")
    checks = Checks()
    check_self_contained(checks, source)
    text, log = browse(browser, given.report, "--dump-dom")
    if not text:
        print(f"chromium gave no document:\n{log[-2000:]}")
        return 1
    check_page(checks, text, log, summaries)
    with tempfile.TemporaryDirectory() as folder:
        check_reactions(checks, browser, source, pathlib.Path(folder), len(summaries))
    for failure in checks.failures:
        print(f"FAILED: {failure}")
    print(f"{checks.count - len(checks.failures)} of {checks.count} checks passed")
    return 1 if checks.failures else 0


if __name__ == "__main__":
    sys.exit(main())
