"""The configuration of a lab: what Slurm reads, and the devices that stand for GPUs."""

import os
import re
import secrets
import socket
import stat
from dataclasses import dataclass, field

# Ports that the kernel gives to nobody by itself, in blocks: one block for each lab on the machine.
FIRST_PORT = 20000
BLOCK = 512
BLOCKS = 24
MOST_GPUS = 16
NVIDIA_MAJOR = 195  # no driver serves it where there are no GPUs; opening such a device fails


@dataclass
class Options:
    nodes: str = "2:v100:4 2:a100:8"  # COUNT:TYPE:GPUS[:CPUS[:MEMORY_MB]], blanks between
    accounting: bool = False  # MariaDB and slurmdbd, for sacct
    shards: int = 0  # of each GPU
    lua: str = ""  # the text of a job_submit.lua
    node_crashes: object = True  # a killed node takes its jobs along; otherwise only its slurmd dies. Or the nodes of which that is true
    settings: dict = field(default_factory=dict)  # of slurm.conf, over ours; None removes one
    lines: str = ""  # more of slurm.conf: partitions, nodes


@dataclass
class Group:
    first: int
    last: int
    type: str
    gpus: int
    cpus: int
    memory: int

    @property
    def names(self):
        return f"n[{self.first}-{self.last}]"


def groups_of(text):
    groups, first = [], 1
    for word in text.split():
        found = re.fullmatch(r"(\d+):(\w+):(\d+)(?::(\d+))?(?::(\d+))?", word)
        if not found:
            raise ValueError(f"'{word}' is not a group of nodes: COUNT:TYPE:GPUS[:CPUS[:MEMORY_MB]], as in 2:v100:4")
        count, kind, gpus = int(found[1]), found[2], int(found[3])
        if gpus > MOST_GPUS:
            raise ValueError(f"'{word}': at most {MOST_GPUS} GPUs on a node")
        groups.append(Group(first, first + count - 1, kind, gpus, int(found[4] or 4 * gpus), int(found[5] or 65536)))
        first += count
    if not groups or first + 8 > BLOCK:
        raise ValueError(f"a lab has 1 to {BLOCK - 9} nodes")
    return groups


def take_ports():
    """The first port of a block that is ours as long as the returned socket is open."""
    for block in range(BLOCKS):
        lock = socket.socket(socket.AF_UNIX)
        try:
            lock.bind(f"\0muster-slurm-lab-{block}")  # an abstract name: it ends with its last holder
        except OSError:
            lock.close()
            continue
        first = FIRST_PORT + block * BLOCK
        if all(is_free(port) for port in range(first, first + BLOCK)):
            return first, lock
        lock.close()
    raise RuntimeError(f"no block of {BLOCK} ports is free from {FIRST_PORT} on")


def is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def settings_of(folder, options, port):
    """Slurm's settings as a person would have them, except for periods that a test would wait for in vain."""
    settings = {
        "ClusterName": "lab",
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": port,
        "CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny",
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={folder}/munge/socket",
        "CredType": "cred/munge",
        "StateSaveLocation": f"{folder}/state",
        "SlurmdSpoolDir": f"{folder}/spool/%n",
        "SlurmctldPidFile": f"{folder}/run/slurmctld.pid",
        "SlurmdPidFile": f"{folder}/run/slurmd.%n.pid",
        "SlurmctldLogFile": f"{folder}/log/slurmctld.log",
        "SlurmdLogFile": f"{folder}/log/slurmd.%n.log",
        "MailProg": "/bin/true",
        "MpiDefault": "none",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "SlurmdParameters": "config_overrides",  # more CPUs than this machine has
        "ReturnToService": 1,
        "SlurmctldTimeout": 30,
        "SlurmdTimeout": 10,
        "KillWait": 5,
        "MinJobAge": 300,
        "MaxJobCount": 50000,
        "MaxArraySize": 10001,
        "BatchStartTimeout": 20,
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core",
        "GresTypes": "gpu,shard" if options.shards else "gpu",
        "SchedulerType": "sched/backfill",
        "SchedulerParameters": "batch_sched_delay=0,sched_min_interval=0,sched_interval=5,bf_interval=5,bf_resolution=1",
        "PriorityType": "priority/basic",
        "PreemptType": "preempt/none",
        "JobRequeue": 1,
        "AccountingStorageType": "accounting_storage/none",
    }
    if options.lua:
        settings["JobSubmitPlugins"] = "lua"
    if options.accounting:
        kinds = sorted({group.type for group in groups_of(options.nodes)})
        settings |= {
            "AccountingStorageType": "accounting_storage/slurmdbd",
            "AccountingStorageHost": "127.0.0.1",
            "AccountingStoragePort": port + 1,
            "AccountingStoragePass": f"{folder}/munge/socket",
            "AccountingStorageTRES": ",".join(["gres/gpu"] + [f"gres/gpu:{kind}" for kind in kinds]),
            "AccountingStoreFlags": "job_comment,job_script",
        }
    settings |= options.settings
    return {key: value for key, value in settings.items() if value is not None}


def write_slurm(folder, options, port):
    lines = [f"{key}={value}" for key, value in settings_of(folder, options, port).items()]
    devices, kinds = [], {}
    for group in groups_of(options.nodes):
        ports = f"[{port + 8 + group.first}-{port + 8 + group.last}]"
        shards = f",shard:{group.gpus * options.shards}" if options.shards else ""
        gres = f" Gres=gpu:{group.type}:{group.gpus}{shards}" if group.gpus else ""
        lines.append(f"NodeName={group.names} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} CPUs={group.cpus} "
                     f"Sockets=1 CoresPerSocket={group.cpus} ThreadsPerCore=1 RealMemory={group.memory}"
                     f"{gres} Feature={group.type} State=UNKNOWN")
        if group.gpus:
            devices.append(f"NodeName={group.names} Name=gpu Type={group.type} File={folder}/dev/nvidia[0-{group.gpus - 1}]")
            if options.shards:
                devices.append(f"NodeName={group.names} Name=shard Count={group.gpus * options.shards}")
        kinds.setdefault(group.type, []).append(group.names)
    lines.append("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    lines += [f"PartitionName={kind} Nodes={','.join(names)} MaxTime=INFINITE State=UP" for kind, names in kinds.items()]
    (folder / "etc/slurm.conf").write_text("\n".join(lines) + "\n" + options.lines + "\n")
    (folder / "etc/gres.conf").write_text("\n".join(devices) + "\n")
    # 22.05 loads a cgroup plug-in even where nothing uses it; this one does nothing until then.
    (folder / "etc/cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    if options.lua:
        (folder / "etc/job_submit.lua").write_text(options.lua)


def write_slurmdbd(folder, port, password):
    path = folder / "etc/slurmdbd.conf"
    path.touch(mode=0o600)
    path.write_text(f"""AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port + 1}
SlurmUser=root
PidFile={folder}/run/slurmdbd.pid
LogFile={folder}/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={port + 2}
StorageUser=slurm
StoragePass={password}
StorageLoc=slurm_acct_db
CommunicationParameters=NoInAddrAny
""")


def prepare(folder, options, port):
    """Everything under `folder` that the daemons find when they start."""
    for name in ("etc", "state", "spool", "run", "log", "dev", "munge"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    for gpu in range(MOST_GPUS):
        # Character devices: with plain files a job gets no CUDA_VISIBLE_DEVICES.
        os.mknod(folder / f"dev/nvidia{gpu}", 0o666 | stat.S_IFCHR, os.makedev(NVIDIA_MAJOR, gpu))
    key = folder / "etc/munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    write_slurm(folder, options, port)
