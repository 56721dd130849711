"""Process 1 of a lab's PID namespace: starts its daemons, and ends them all with the process that owns the lab.

    unshare --pid --fork ... python3 lab_init.py FOLDER OWNER_FD

OWNER_FD is a pidfd of the owner. When the owner is gone, by whatever way, everything in the namespace is killed, the
daemons, the nodes and every process of their jobs, and the folder is removed. Requests come as a line of JSON over the
Unix socket FOLDER/init: start a daemon, signal one, say which are alive, end.
"""

import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys

alive = {}  # name of a daemon: its process here


def reap(*_):
    """A process 1 gets the orphans of the whole namespace."""
    try:
        while (pid := os.waitpid(-1, os.WNOHANG)[0]) != 0:
            for name in [name for name, its in alive.items() if its == pid]:
                del alive[name]
    except ChildProcessError:
        pass


def start(folder, name, argv, environment):
    if name in alive:
        raise ValueError(f"{name} is up already")
    log = os.open(folder / "log" / f"{name}.out", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    nothing = os.open(os.devnull, os.O_RDONLY)
    alive[name] = os.posix_spawnp(argv[0], argv, {**os.environ, **environment}, setsid=True,
                                  file_actions=[(os.POSIX_SPAWN_DUP2, nothing, 0), (os.POSIX_SPAWN_DUP2, log, 1),
                                                (os.POSIX_SPAWN_DUP2, log, 2)])
    os.close(log)
    os.close(nothing)


def send(name, number):
    """A node is a namespace of its own: its end is the node's, everything else is for the slurmd in it."""
    pid = alive[name]
    inside = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == "unshare" and number != signal.SIGKILL and inside:
        pid = int(inside[0])
    os.kill(pid, number)


def answer(folder, request):
    match request["do"]:
        case "start":
            start(folder, request["name"], request["argv"], request.get("environment", {}))
        case "signal":
            if request["name"] not in alive:
                raise ValueError(f"{request['name']} is not up")
            send(request["name"], request["signal"])
        case "end":
            return None
    return {"alive": sorted(alive)}


def serve(folder, owner):
    """Until the owner dies or says so."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "init.new"))
        listener.listen()
        (folder / "init.new").rename(folder / "init")  # once it is there it answers
        while True:
            ready = select.select([listener, owner], [], [])[0]
            if owner in ready:
                return
            talk = listener.accept()[0]
            with talk, talk.makefile("rw") as lines:
                try:
                    reply = answer(folder, json.loads(lines.readline()))
                except (ValueError, OSError, KeyError) as error:
                    reply = {"error": str(error)}
                print(json.dumps(reply), file=lines, flush=True)
                if reply is None:
                    return


def main():
    folder, owner = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGCHLD, reap)
    try:
        serve(folder, owner)
    finally:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.kill(-1, signal.SIGKILL)
        try:
            while True:
                os.wait()
        except ChildProcessError:
            pass
        if os.path.ismount(folder / "sql"):
            subprocess.run(["umount", str(folder / "sql")])
        shutil.rmtree(folder, ignore_errors=True)


main()
