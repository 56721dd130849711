#!/usr/bin/env python3
"""What the sentences of README.md, CONTRIBUTING.md and docs/*.md name exists: commands and their options, policies and
presets, paths, links and targets of make. So do the options that the comments of presets name.

    doc_names.py MUSTER TREE
"""

import json
import os
import pathlib
import re
import subprocess
import sys


class Options:
    """Which options each command has, as its help says."""

    def __init__(self, muster):
        self.muster, self.helps = muster, {}

    def help(self, *words):
        if words not in self.helps:
            done = subprocess.run([self.muster, *words, "--help"], capture_output=True, text=True, check=False)
            self.helps[words] = done.stdout if done.returncode == 0 else None
        return self.helps[words]

    def of(self, *words):
        return set(re.findall(r"--[a-z][a-z0-9-]*", re.sub(r"(?s)\nExamples:.*", "", self.help(*words) or "")))

    def everywhere(self):
        found = {"--help", "--version"}
        for name in re.findall(r"(?m)^  ([a-z-]+) ", (self.help() or "").split("Subcommands:")[1].split("\n\n")[0]):
            found |= self.of(name)
            tail = (self.help(name) or "").split("Subcommands:")
            for part in re.findall(r"(?m)^  ([a-z-]+) ", tail[1].split("\n\n")[0]) if len(tail) > 1 else []:
                found |= self.of(name, part)
        return found

    def wrong_in(self, command):
        """What of `muster ...` in a sentence does not exist; placeholders in capitals stand for anything."""
        words = [word for word in re.split(r"[\s,]+", command)[1:] if word]
        path = []
        for word in words:
            if len(path) == 2 or not re.fullmatch(r"[a-z][a-z-]*", word) or self.help(*path, word) is None:
                break
            path.append(word)
        if words and re.fullmatch(r"[a-z][a-z-]*", words[0]) and not path and words[0] not in UNLISTED:
            return f"no command '{words[0]}'"
        known = self.of(*path) | {"--help", "--version"}
        unknown = [word for word in re.findall(r"--[a-z][a-z0-9-]*", command) if word not in known]
        return f"`muster {' '.join(path)}` has no {', '.join(unknown)}" if unknown else ""


# Commands that help does not list: for the makers of these pages, and one that pages announce.
UNLISTED = {"reference", "serve"}
# Options of other programs that pages speak of.
FOREIGN = re.compile(r"--(allusers|parsable2?|duplicates|gres|starttime|endtime|format|preset|num_steps|gtest_filter|label|fix|"
                     r"enable-check-profile|build|prefix|user|no-requeue|dependency|begin|ntasks-per-node)\b")


def sentences(page):
    text = re.sub(r"(?ms)^```.*?^```$", "", page.read_text(encoding="utf-8"))
    if page.name == "gavel.md":  # the first column of a table has the options of Gavel's scripts
        text = re.sub(r"(?m)^\| `-[^|]*\|", "", text)
    return re.sub(r"(?m)^    .*$", "", text)


def wrong_sentences(pages, presets, options):
    known, problems = options.everywhere(), []
    for page in pages:
        spans = re.findall(r"`([^`]+)`", sentences(page))
        for span in spans:
            span = re.sub(r"\s+", " ", span)
            if span.startswith("muster ") and (problem := options.wrong_in(span)):
                problems.append(f"{page.name}: `{span}`: {problem}")
            elif not span.startswith("muster "):
                problems += [f"{page.name}: no command has {option}" for option in re.findall(r"--[a-z][a-z0-9-]+", span)
                             if option not in known and not FOREIGN.match(option)]
    for preset in presets:
        comments = "\n".join(line for line in preset.read_text(encoding="utf-8").splitlines() if line.startswith("#"))
        problems += [f"{preset.name}: no command has {option}" for option in re.findall(r"--[a-z][a-z0-9-]+", comments)
                     if option not in known]
    return problems


def wrong_choices(page, presets, muster):
    """docs/choosing.md: every word in code is a policy or preset, and its list of clairvoyant policies is theirs."""
    rows = json.loads(subprocess.run([muster, "policies", "--json"], capture_output=True, text=True, check=True).stdout)
    known = {row["name"]: {param["name"] for param in row["parameters"]} for row in rows}
    text = sentences(page)
    problems = []
    for name, param in re.findall(r"`([a-z][a-z0-9-]*)(?::([a-z_]+)=[^`]*)?`", text):
        if name not in known and name not in {preset.stem for preset in presets}:
            problems.append(f"{page.name}: no policy or preset is called {name}")
        elif param and param not in known[name]:
            problems.append(f"{page.name}: {name} has no parameter {param}")
    truth = {row["name"] for row in rows if row["kind"] == "scheduling" and
             any(need["what"] == "run times" for need in row["needs"])}
    listed = re.search(r"(?s)\*\*Clairvoyant\*\* policies.*?\. So do", text)[0]
    named = set(re.findall(r"`([a-z-]+)`", listed))
    general = {name for name in truth if not name.endswith("-as-coded") and not name.startswith("gavel-")}
    if named != general:
        problems.append(f"{page.name}: the clairvoyant policies are {', '.join(sorted(general))}")
    return problems


FOLDERS = "src|tests|presets|experiments|scripts|bench|fuzz|cmake|examples|include|python|docs"
MODULES = "base|model|perf|workload|solve|learn|policy|engine|backend|artifacts|report|run|cli|daemon|agent"


def anchors(page):
    """The headings of a page, as links name them."""
    headings = re.findall(r"(?m)^#+ (.*)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def wrong_places(tree, pages):
    """Targets of make, paths and links that do not exist."""
    targets = set(re.findall(r"(?m)^([a-z][a-z-]*):", (tree / "Makefile").read_text(encoding="utf-8")))
    problems = []
    for page in pages:
        text = sentences(page)
        named = re.findall(r"`make ([a-z-]+)", text)
        problems += [f"{page.name}: no target of make is called {name}" for name in named if name not in targets]
        paths = re.findall(rf"`((?:{FOLDERS})/[\w./*-]+)`", text)
        paths += [f"src/{path}" for path in re.findall(rf"`((?:{MODULES})/[a-z0-9_/*]*(?:\.(?:h|cc))?)`", text)]
        for path in paths:
            placeholder = re.search(r"[A-Z]{2}", path) or path.endswith("/guide_las.cc") or "/dataset/" in path
            if not placeholder and not any(tree.glob(path.rstrip("/"))):
                problems.append(f"{page.name}: {path} does not exist")
        for link, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            target = page.parent / link if link else page
            if not target.exists():
                problems.append(f"{page.name}: the link {link} leads nowhere")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                problems.append(f"{page.name}: {link} has no heading #{anchor}")
    return problems


def main():
    muster, tree = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    pages = [tree / "README.md", *sorted((tree / "docs").glob("*.md"))]
    presets = sorted((tree / "presets").glob("*.toml"))
    problems = wrong_sentences(pages, presets, Options(muster))
    problems += wrong_choices(tree / "docs/choosing.md", presets, muster)
    problems += wrong_places(tree, [*pages, tree / "CONTRIBUTING.md"])
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(problems)} sentences name what does not exist")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
