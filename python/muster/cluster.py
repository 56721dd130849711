"""Clusters: the nodes of a run."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._tables import pandas


class Cluster:
    """Nodes with GPUs. Written as on the command line, or node by node.

    >>> import muster
    >>> muster.Cluster("16x8").gpus
    128
    >>> muster.Cluster("4x8:v100,2x8:a100").types
    ['v100', 'a100']
    >>> muster.Cluster.from_nodes([{"count": 2, "gpus": 4, "gpu_type": "h100", "partition": "research"}]).gpus
    8
    >>> cluster = muster.Cluster.of("2x8")
    >>> cluster.description, len(cluster.nodes), len(cluster.to_pandas())
    ('2x8', 2, 2)
    """

    def __init__(self, shape: str | os.PathLike):
        self._description = os.fspath(shape)
        self._nodes = _core.nodes_of_shape(self._description)

    @classmethod
    def from_nodes(cls, nodes: list[dict], *, partitions: list[dict] | None = None,
                   changes: list[dict] | None = None) -> Cluster:
        """A cluster of groups of equal nodes: dicts with `gpus` and, if wanted, `count`, `gpu_type`, `cpus`,
        `memory_gb`, `rack`, `partition`, `name`. partitions: dicts with `name` and `quota`. changes: dicts with
        `time_s`, `node` and `joins`, for nodes that come and go."""
        made = cls.__new__(cls)
        made._description = {"nodes": [dict(node) for node in nodes]}
        if partitions is not None:
            made._description["partitions"] = [dict(one) for one in partitions]
        if changes is not None:
            made._description["changes"] = [dict(one) for one in changes]
        made._nodes = _core.nodes_of_tables(made._description)
        return made

    @classmethod
    def of(cls, cluster: Cluster | str | os.PathLike) -> Cluster:
        """A cluster of whatever it is given: a cluster, a shape, or the path of a file."""
        return cluster if isinstance(cluster, cls) else cls(cluster)

    @property
    def description(self) -> str | dict:
        """What a run description says of it."""
        return self._description

    @property
    def nodes(self) -> list[dict]:
        """One dict per node."""
        return [dict(node) for node in self._nodes]

    @property
    def gpus(self) -> int:
        """GPUs of all nodes together."""
        return sum(node["gpus"] for node in self._nodes)

    @property
    def types(self) -> list[str]:
        """GPU types, in the order of the nodes; an empty name where none is given."""
        return list(dict.fromkeys(node["gpu_type"] for node in self._nodes))

    def to_pandas(self) -> Any:
        """A data frame with one row per node."""
        return pandas().DataFrame(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def __repr__(self):
        kinds = ", ".join(kind for kind in self.types if kind)
        return f"Cluster of {len(self)} nodes with {self.gpus} GPUs" + (f" ({kinds})" if kinds else "")
