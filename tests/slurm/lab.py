"""A Slurm cluster of its own on this machine, for tests: real daemons, as many nodes as wanted, GPUs that are none.

    with Lab(nodes="2:v100:4 2:a100:8") as lab:
        job = lab.call("sbatch", "--parsable", "--gres=gpu:1", "--wrap", "sleep 1").strip()
        lab.kill("n3")

It needs root, listens on 127.0.0.1 only, and keeps everything in one folder. All of it runs in a PID namespace that ends
with the process that made the Lab, whatever happens to that process (lab_init.py). Nodes are n1, n2, ...; partitions are
`all` and one for each GPU type. As a command it is tests/slurm/lab.
"""

import argparse
import json
import os
import pathlib
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import lab_conf

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ["unshare", "munged", "slurmctld", "slurmd", "scontrol"]
ACCOUNTING = ["slurmdbd", "sacctmgr", "mariadbd", "mariadb-install-db", "mariadb"]


def why_not(accounting=False):
    """What keeps a lab from being started here; empty where nothing does."""
    if os.geteuid() != 0:
        return "a Slurm of its own needs root"
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in PROGRAMS + ACCOUNTING * accounting if shutil.which(name) is None]
    if missing:
        return f"needs {', '.join(missing)}: scripts/setup test"
    tried = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, text=True)
    return f"no PID namespaces here: {tried.stderr.strip()}" if tried.returncode else ""


def wait_until(condition, seconds=30, what="it", pause=0.02):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen within {seconds} s")
        time.sleep(pause)
    return value


def tell(folder, **request):
    """What process 1 of the lab in that folder answers."""
    with socket.socket(socket.AF_UNIX) as talk:
        talk.connect(str(folder / "init"))
        with talk.makefile("rw") as lines:
            print(json.dumps(request), file=lines, flush=True)
            reply = json.loads(lines.readline() or "null")
    if reply and "error" in reply:
        raise RuntimeError(f"lab: {reply['error']}")
    return reply


class Lab:
    def __init__(self, **options):
        self.options = lab_conf.Options(**options)
        self.nodes = [f"n{i}" for i in range(1, lab_conf.groups_of(self.options.nodes)[-1].last + 1)]
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="muster-slurm-"))
        self.conf = self.folder / "etc/slurm.conf"
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("SLURM_")}
        self.environment |= {"SLURM_CONF": str(self.conf), "MUSTER_SLURM_LAB": str(self.folder)}
        self.first = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end(keep_logs=True)
            raise
        return self

    def __exit__(self, kind, *_):
        self.end(keep_logs=kind is not None and not issubclass(kind, KeyboardInterrupt))

    # The whole lab

    def start(self):
        reason = why_not(self.options.accounting)
        if reason:
            raise RuntimeError(reason)
        port, lock = lab_conf.take_ports()
        lab_conf.prepare(self.folder, self.options, port)
        owner = os.pidfd_open(os.getpid())
        self.first = subprocess.Popen(
            ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", sys.executable,
             str(HERE / "lab_init.py"), str(self.folder), str(owner)],
            pass_fds=[owner, lock.fileno()], env=self.environment, stdin=subprocess.DEVNULL, start_new_session=True)
        os.close(owner)
        lock.close()  # the namespace has it now
        wait_until(lambda: (self.folder / "init").exists() or self.first.poll() is not None, 10, "a namespace")
        self.up("munged")
        if self.options.accounting:
            self.start_accounting(port)
        self.up("slurmctld")
        for node in self.nodes:
            self.up(node, wait=False)
        self.until_idle()

    def start_accounting(self, port):
        data = self.folder / "sql"
        data.mkdir(mode=0o700)
        # In memory: a database that waits for a disk takes ten seconds to be there.
        install = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db",
                   "--skip-name-resolve", "--auth-root-authentication-method=normal"]
        self.tell(do="start", name="sql-install", argv=["sh", "-c", f"mount -t tmpfs lab {data} && exec {shlex.join(install)}"])
        wait_until(lambda: "sql-install" not in self.alive(), 60, "an empty database")
        sock = self.folder / "run/sql"
        self.tell(do="start", name="mariadbd", argv=[
            "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={sock}", "--skip-log-bin",
            "--bind-address=127.0.0.1", f"--port={port + 2}", f"--pid-file={self.folder}/run/sql.pid",
            "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=64M"])
        password = secrets.token_hex(12)
        grant = f"create database slurm_acct_db; grant all on slurm_acct_db.* to slurm@'127.0.0.1' identified by '{password}'; " \
                f"grant all on slurm_acct_db.* to slurm@localhost identified by '{password}'"
        wait_until(lambda: subprocess.run(["mariadb", "--no-defaults", f"--socket={sock}", "-e", grant],
                                          capture_output=True).returncode == 0, 30, "MariaDB")
        lab_conf.write_slurmdbd(self.folder, port, password)
        self.up("slurmdbd")
        wait_until(lambda: self.try_call("sacctmgr", "-i", "-Q", "add", "cluster", "lab").returncode == 0, 30, "slurmdbd", 0.1)

    def end(self, keep_logs=False):
        if keep_logs and (self.folder / "log").exists():
            for path in sorted((self.folder / "log").iterdir()):
                tail = path.read_bytes()[-1500:].decode(errors="replace").strip()
                if tail and not path.name.startswith("slurmd.n"):
                    print(f"--- {path.name}\n{tail}", file=sys.stderr)
        try:
            tell(self.folder, do="end")
        except OSError:
            pass
        if self.first is not None:
            try:
                self.first.wait(10)
            except subprocess.TimeoutExpired:
                self.first.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Single daemons: munged, slurmctld, slurmdbd, or the name of a node

    def tell(self, **request):
        return tell(self.folder, **request)

    def up(self, name, wait=True):
        crashes = self.options.node_crashes
        up(self.folder, name, crashes if isinstance(crashes, bool) else name in crashes, wait)

    def kill(self, name, number=signal.SIGKILL):
        """A node that is killed loses its jobs' processes, too, as by a power cut."""
        self.tell(do="signal", name=name, signal=int(number))

    def alive(self):
        return self.tell(do="alive")["alive"]

    # Slurm's commands

    def try_call(self, *words, timeout=60, **more):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, env=self.environment,
                              timeout=timeout, **more)

    def call(self, *words, **more):
        done = self.try_call(*words, **more)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(str(word) for word in words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def jobs(self):
        """What squeue knows, by number."""
        return {job["job_id"]: job for job in json.loads(self.call("squeue", "--json"))["jobs"]}

    def state(self, job):
        """Of a job, as PENDING or COMPLETED, as long as slurmctld remembers it."""
        return self.call("scontrol", "-o", "show", "job", job).split("JobState=")[1].split()[0]

    def until(self, job, *states, seconds=30):
        return wait_until(lambda: self.state(job) in states, seconds, f"job {job} in {states}", 0.1)

    def until_idle(self, seconds=60):
        def idle():
            listed = self.try_call("sinfo", "-h", "-N", "-p", "all", "-o", "%N %T").stdout.split("\n")
            return sum(line.endswith(" idle") for line in listed) == len(self.nodes)
        wait_until(idle, seconds, f"{len(self.nodes)} idle nodes", 0.05)


def up(folder, name, node_crashes=True, wait=True):
    """Starts a daemon of the lab in that folder; waits until it answers, but not for a node to register."""
    conf = f"{folder}/etc/slurm.conf"
    if name == "munged":
        argv = ["munged", "--foreground", "--force", f"--key-file={folder}/etc/munge.key", f"--socket={folder}/munge/socket",
                f"--pid-file={folder}/run/munged.pid", f"--seed-file={folder}/munge/seed", f"--log-file={folder}/log/munged.log"]
    elif name == "slurmctld":
        argv = ["slurmctld", "-D", "-f", conf]
    elif name == "slurmdbd":
        argv = ["slurmdbd", "-D"]
    else:
        (folder / "spool" / name).mkdir(exist_ok=True)
        node = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL"] if node_crashes else []
        argv = [*node, "slurmd", "-D", "-N", name, "-f", conf]
    tell(folder, do="start", name=name, argv=argv)
    if not wait:
        return
    if name == "munged":
        wait_until((folder / "munge/socket").exists, 10, "munged")
    elif name == "slurmctld":
        lines = pathlib.Path(conf).read_text().split("\n")
        port = next(int(line.split("=")[1]) for line in lines if line.startswith("SlurmctldPort="))
        wait_until(lambda: not lab_conf.is_free(port), 20, "slurmctld")


def options_of(words):
    settings = dict(word.split("=", 1) for word in words.set)
    return dict(nodes=words.nodes, accounting=words.accounting, shards=words.shards, settings=settings,
                lua=pathlib.Path(words.lua).read_text() if words.lua else "",
                lines=pathlib.Path(words.conf).read_text() if words.conf else "",
                node_crashes=not words.daemons_only)


def main():
    parser = argparse.ArgumentParser(prog="lab", description="A Slurm cluster of its own on this machine, for tests.")
    parts = parser.add_subparsers(dest="part", required=True)
    run = parts.add_parser("run", help="start a lab, run a command in it (SLURM_CONF is set), end the lab")
    run.add_argument("--nodes", default=lab_conf.Options.nodes, help="COUNT:TYPE:GPUS[:CPUS[:MEMORY_MB]], blanks between; %(default)s")
    run.add_argument("--accounting", action="store_true", help="with slurmdbd, for sacct")
    run.add_argument("--shards", type=int, default=0, help="of each GPU")
    run.add_argument("--lua", help="a file job_submit.lua")
    run.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of slurm.conf")
    run.add_argument("--conf", help="a file of more lines for slurm.conf")
    run.add_argument("--daemons-only", action="store_true", help="`kill n1` ends slurmd alone: its jobs run on")
    run.add_argument("command", nargs="+")
    for name, sentence in (("kill", "kill a daemon, or a node with its jobs"), ("up", "start one that was killed")):
        part = parts.add_parser(name, help=sentence + "; inside `lab run`")
        part.add_argument("name", help="slurmctld, slurmdbd, munged, or a node")
        if name == "kill":
            part.add_argument("--signal", default="KILL", help="KILL, STOP, CONT, TERM, ...")
    words = parser.parse_args()
    if words.part == "run":
        if reason := why_not(words.accounting):
            print(reason)
            return 77
        with Lab(**options_of(words)) as lab:
            return subprocess.run(words.command, env=lab.environment).returncode
    folder = pathlib.Path(os.environ["MUSTER_SLURM_LAB"])
    if words.part == "kill":
        tell(folder, do="signal", name=words.name, signal=int(getattr(signal, "SIG" + words.signal)))
    else:
        up(folder, words.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
