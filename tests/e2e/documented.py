#!/usr/bin/env python3
"""Runs the command lines of README.md and docs/*.md; docs/command-line.md has the examples of --help.

A page is a story: its blocks run from top to bottom in one folder, which has small inputs under the names that pages use.
Each must end with status 0. Marks in the page, which a reader of the rendered page does not see, say what a test must
know about the block below them:

    <!-- tested with: OLD => NEW -->   the test puts NEW in place of OLD, to make a long run short
    <!-- not tested: REASON -->        the test leaves the block out
    <!-- file: NAME -->                the block is the content of that file

The options that the comments of presets name run with that preset.

    documented.py MUSTER TREE [PATTERN]    only the commands that have PATTERN in them, with what came before
"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

from doc_daemon import LIVE, PageDaemon

SECONDS = 120  # for one command; a documented one that takes longer needs a mark
# The tutorials have a test of their own, which also checks what they quote.
ELSEWHERE = {"tutorial-operator.md", "tutorial-researcher.md"}
# Files of others under the names that pages use; a command that names one needs the data to be there.
DATA = {
    "data/": "",
    "T.json": "gavel/simulation_throughputs.json",
    "simulation_throughputs.json": "gavel/simulation_throughputs.json",
    "philly.csv": "philly/philly.csv",
    "helios.csv": "lucid/venus_sept_jobs.csv.gz",
    "throughputs_A100": "elasticflow/throughputs_A100",
    "raw-traces.tar.gz": "elasticflow/raw-traces.tar.gz",
}
NEEDS_DATA = re.compile(r"^muster (data fetch|reproduce (lucid|muri|tiresias|elasticflow|gavel))")
# A status that is an answer: some of the catalogue is not on this machine.
ANSWERS = {"muster data verify": (0, 1)}


class Block:
    def __init__(self, page, lines, marks):
        self.page, self.marks = page, marks
        self.text = "\n".join(lines) + "\n"

    def mark(self, kind):
        return [text for name, text in self.marks if name == kind]

    def commands(self):
        """Shell lines, continued lines joined, remarks removed; none where no line calls muster."""
        lines = [line.strip() for line in re.sub(r"\s*\\\n\s*", " ", self.text).splitlines()]
        lines = [re.sub(r"\s+#\s.*$", "", line) for line in lines]
        if not any(line.startswith("muster ") for line in lines):
            return []
        shell = [line for line in lines if re.match(r"muster |export |\(.*\) > ", line)]
        # "reproduce blox                all of Blox": what stands behind a wide gap is a remark.
        shell = [re.split(r"(?<=\S)(?: {3,}| {2}(?=[a-z]))", line)[0] if line.startswith("muster ") else line
                 for line in shell]
        return [re.sub(r" +", " ", line) for line in shell]

    def tested(self, command):
        for change in self.mark("tested with"):
            old, new = change.split(" => ")
            command = command.replace(old.strip(), new.strip())
        return command


def blocks(page):
    """Fenced and indented blocks with the marks above them."""
    found, marks, lines, fence = [], [], [], None

    def close():
        if lines:
            found.append(Block(page.name, list(lines), list(marks)))
            marks.clear()
            lines.clear()

    for line in [*page.read_text(encoding="utf-8").splitlines(), ""]:
        if fence is not None:
            if line.startswith("```"):
                if fence in ("", "toml"):
                    close()
                fence = None
                lines.clear()
                marks.clear()
            else:
                lines.append(line)
        elif line.startswith("```"):
            close()
            fence = line[3:].strip()
        elif line.startswith("    "):
            lines.append(line[4:])
        elif mark := re.match(r"<!-- (tested with|not tested|file): (.*) -->", line):
            close()
            marks.append((mark[1], mark[2]))
        else:
            close()
            if line:
                marks.clear()
    return found


class Inputs:
    """A folder with the files that pages speak of."""

    def __init__(self, muster, tree, data, folder):
        self.muster, self.data, self.folder = muster, data, folder
        head = "job_id,submit_s,duration_s,gpus,model,user,iterations,batch_size,deadline_s"
        self.jobs(("trace.csv", "history.csv", "august.csv", "month.csv"), head, 0)
        self.jobs(("jobs.csv", "september.csv"), head, 90000)
        self.write("cluster.toml", "".join(
            f'[[nodes]]\ncount = 8\ngpus = 8\ngpu_type = "{kind}"\n' for kind in ("a100", "t4")))
        self.write("venus.toml", "[[nodes]]\ncount = 8\ngpus = 8\n")
        self.write("sweep.toml", 'cluster = "8x8"\n[workload]\ntrace = "trace.csv"\n[sweep]\nscheduling = ["fifo", "las"]\n')
        self.write("slurm.txt", "JobID|User|Partition|Submit|ElapsedRaw|State|ReqTRES|AllocTRES|Timelimit\n" + "".join(
            f"{i}|ann|main|2024-01-01T00:0{i}:00|600|COMPLETED|gres/gpu=2|gres/gpu=2|01:00:00\n" for i in range(5)))
        self.write("gavel.trace", "".join(
            f"ResNet-18 (batch size 16)\ttrue\t.\t--num_steps\t0\t1000\t1\t1\t-1\t{i * 100}\n" for i in range(9)))
        self.write("scheduler.log", "[2020-08-01 12:00:00.000000] Starting the scheduler\n")
        self.write("estimates.csv", "job_id,estimate\n" + "".join(
            f"{name},600\n" for name in [self.name(i) for i in range(90)]))
        example = re.search(r"<!-- example: las -->\n```cpp\n(.*?)```", (tree / "docs/policies.md").read_text("utf-8"), re.S)
        self.write("my.cc", f'#include "policy/plugin.h"\n{example[1]}\nMUSTER_PLUGIN(muster::guide_las_row());\n')
        self.run("learn", "table", "trace.csv", "-o", "table.csv")
        for name in ("last_week.csv", "new_jobs.csv"):
            shutil.copy(folder / "table.csv", folder / name)
        self.run("learn", "train", "table.csv", "--target", "duration", "--drop", "job_id,job_number", "-o", "duration.json")
        for policy, name in (("las", "las"), ("fifo", "lucid")):
            self.run("simulate", "trace.csv", "-c", "4x8", "-s", policy, "-q", "-o", f"results/{name}")
        self.run("compare", "trace.csv", "-c", "4x8", "-s", "fifo", "-s", "las", "-q", "-o", "results/compare")
        self.write("job.toml", 'command = ["true"]\n')
        guide = (tree / "docs/policies.md").read_text(encoding="utf-8")
        example = re.search(r"(?s)<!-- example: las -->\n```cpp\n(.*?)```", guide)[1]
        plugin = re.search(r"(?m)^MUSTER_PLUGIN.*$", guide)[0]
        self.write("my.cc", f'#include "policy/plugin.h"\n{example}\n{plugin}\n')
        for name in ("presets", "examples", "python"):
            (folder / name).symlink_to(tree / name)
        if data.is_dir():
            (folder / "data").symlink_to(data)
            for name, path in DATA.items():
                if path and (data / path).exists():
                    (folder / name).symlink_to(data / path)

    @staticmethod
    def name(i):
        return "train-bert-7" if i == 7 else str(i)

    def jobs(self, names, head, later):
        rows = [f"{self.name(i)},{later + i * 400},{600 + 37 * i},{1 << (i % 4)},{('cifar10', 'ncf')[i % 2]},ann,1000,"
                f"{(128, 256)[i % 2]},{later + i * 400 + 90000}\n" for i in range(90)]
        for name in names:
            self.write(name, head + "\n" + "".join(rows))

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *arguments):
        subprocess.run([self.muster, *arguments], cwd=self.folder, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)


class Story:
    """Blocks that run in one folder, one after the other."""

    # What neither reads nor leaves files of the page need not run on every page that names it.
    alone = re.compile(r"muster (demo|reproduce|policies|data)\b[^>|]*$")
    done = set()

    def __init__(self, inputs, story):
        self.inputs, self.story = inputs, story
        self.results = []  # (state, page, command, why, seconds)

    def lacks(self, command):
        if NEEDS_DATA.match(command) and not self.inputs.data.is_dir():
            return "needs data"
        for name, path in DATA.items():
            if re.search(r"(^|[\s=/:'])" + re.escape(name), command) and not (self.inputs.data / path).exists():
                return f"needs data/{path}"
        if re.match(r"muster serve(?!.*--fake-gpus)", command) and not os.path.exists("/dev/nvidia0"):
            return "needs a GPU"
        if "| jq" in command and not shutil.which("jq"):
            return "needs jq"
        return ""

    def run(self, only):
        with tempfile.TemporaryDirectory() as temporary:
            folder = pathlib.Path(temporary) / "page"
            shutil.copytree(self.inputs.folder, folder, symlinks=True)
            (folder / ".config/fish/completions").mkdir(parents=True)
            environment = dict(os.environ, HOME=str(folder), PATH=f"{self.inputs.folder}.bin:{os.environ['PATH']}")
            daemon = PageDaemon(folder, environment)
            try:
                for block in self.story:
                    for name in block.mark("file"):
                        (folder / name).write_text(block.text, encoding="utf-8")
                    for command in block.commands():
                        if only in command or not command.startswith("muster ") or re.search(r" -o |--save-run", command):
                            self.run_one(folder, daemon, block, command)
            finally:
                daemon.stop()
        return self.results

    def run_one(self, folder, daemon, block, command):
        why = (block.mark("not tested") or [self.lacks(command)])[0]
        if why:
            self.results.append(("left out", block.page, command, why, 0))
            return
        if self.alone.match(command):
            if command in self.done:
                return
            self.done.add(command)
        shell = re.sub(r"/tmp/muster|/var/lib/muster", f"{folder}/live-state", block.tested(command))
        begun = time.monotonic()
        if shell.startswith("export "):
            daemon.environment.update(setting.split("=", 1) for setting in shell.split()[1:])
            return
        if shell.startswith("muster serve"):
            why = daemon.serve(shell)
            self.results.append(("BAD" if why else "good", block.page, command, why, time.monotonic() - begun))
            return
        if LIVE.match(shell):
            daemon.with_jobs(shell)
        if shell.endswith("&"):
            daemon.follow(shell)
            return
        try:
            done = subprocess.run(["bash", "-c", shell], cwd=folder, env=daemon.environment, capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL, timeout=SECONDS)
            good = done.returncode in ANSWERS.get(shell, (0,))
            why = f"status {done.returncode}: {done.stderr.strip()[-600:]}"
            if "It never waited" in done.stdout and block.page != "command-line.md":
                good, why = False, "name a job that waited"
        except subprocess.TimeoutExpired:
            good, why = False, f"still at work after {SECONDS} s: mark it with <!-- tested with: OLD => NEW -->"
        self.results.append(("good" if good else "BAD", block.page, command, why, time.monotonic() - begun))


# What a run with each preset needs beside the options that its comments name.
PRESET_RUNS = {
    "blox": "-g blox-simple:load=3,jobs=30 --measure 0-9",
    "elasticflow": "data/elasticflow/elasticVpollux_e.csv --cluster 16x4 "
                   "--perf throughput-tables-as-coded:folder=data/elasticflow/throughputs_T4,gpus=t4",
    "gavel": "-g gavel:throughputs=T.json,lam=9000 -s gavel-isolated --measure 0-9",
    "helios": "trace.csv -c cluster.toml --estimates estimates.csv",
    "lucid": "trace.csv -c cluster.toml --estimates estimates.csv --set profiling.nodes=0",
    "muri": "data/muri/trace3.csv --jobs-limit 40",
    "venus-like": "-g venus-like:jobs=60 --set profiling.nodes=0",
}


def preset_stories(presets):
    """One story for each set of options in the comments of a preset; K and L stand for numbers, A | B for two."""
    stories = []
    for preset in presets:
        for line in preset.read_text(encoding="utf-8").splitlines():
            if not line.startswith("#") or not re.search(r"--[a-z-]+ \S", line):
                continue
            text = re.split(r"\s{2,}(?=[^\s-])|;", line[line.index("--"):])[0]
            for options in re.split(r", (?=--)", text):
                options = re.split(r", | or |\s\(|\.$", options)[0]
                if re.search(r"FILE|DIR|NAME|\.\.\.|and --", options):
                    continue  # an outline
                options = re.sub(r"=[kL]\b", "=3", re.sub(r" +", " ", options))
                choices = re.search(r"(\S+) \| (\S+)", options)
                for choice in choices.groups() if choices else [None]:
                    chosen = options.replace(choices[0], choice) if choices else options
                    base = PRESET_RUNS[preset.stem] + ("" if "--preset" in chosen else f" --preset {preset.stem}")
                    if "--generate" in chosen:
                        base = re.sub(r"-g \S+ ", "", base)
                    stories.append([Block(preset.name, [f"muster simulate {base} {chosen} --no-save -q"], [])])
    return stories


def stories_of(pages):
    """A page is one story; the help of each command is one by itself."""
    stories = []
    for page in pages:
        found = [block for block in blocks(page) if block.commands() or block.mark("file")]
        stories += [[block] for block in found] if page.name == "command-line.md" else [found]
    return [story for story in stories if story]


def main():
    muster, tree = os.path.realpath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    shared = pathlib.Path(os.environ.get("MUSTER_SHARED", tree / "../shared")).resolve()
    os.environ.update(MUSTER_SHARED=str(shared), MUSTER_HOME=str(tree), NO_COLOR="1")
    os.environ.pop("MUSTER_DATA", None)
    pages = [tree / "README.md", *sorted((tree / "docs").glob("*.md"))]
    presets = sorted((tree / "presets").glob("*.toml"))
    stories = stories_of(page for page in pages if page.name not in ELSEWHERE) + preset_stories(presets)
    stories = [story for story in stories
               if any(only in command for block in story for command in block.commands())]
    with tempfile.TemporaryDirectory() as temporary:
        base = pathlib.Path(temporary)
        (base / "inputs").mkdir()
        (base / "inputs.bin").mkdir()
        (base / "inputs.bin/muster").symlink_to(muster)
        inputs = Inputs(muster, tree, shared / "data", base / "inputs")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tasks = [pool.submit(Story(inputs, story).run, only) for story in stories]
            results = [result for task in tasks for result in task.result()]
    for state, page, command, why, seconds in results:
        if state == "BAD":
            print(f"{page}: {command}\n    {why}", file=sys.stderr)
        elif state == "left out":
            print(f"left out: {page}: {command} ({why})")
        elif seconds > 20 or only:
            print(f"{seconds:.1f} s: {page}: {command}")
    count = {state: sum(result[0] == state for result in results) for state in ("good", "left out", "BAD")}
    print(f"{count['good']} documented commands run, {count['left out']} left out, {count['BAD']} fail")
    assert len(results) > 120 or only, "the pages have more commands than that"
    return 1 if count["BAD"] else 0


if __name__ == "__main__":
    sys.exit(main())
