"""Networks that learn something within seconds, on made-up data.

Batch number n holds the same samples in every launch and on any number of ranks, so that a training that was interrupted
goes on with the very loss it would have had.
"""

import os
import time
from typing import Callable, NamedTuple

import torch
from torch import nn
from torch.nn import functional

_PROBE = 1_000_000_007  # a batch that nobody trains on


class Cnn(nn.Module):
    """Tells noisy pictures of ten kinds apart."""

    def __init__(self, width, depth, side):
        super().__init__()
        layers = [nn.Conv2d(3, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(8, width), nn.ReLU()]
        self.body = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(16 * width, 10))
        self.register_buffer("kinds", torch.randn(10, 3, side, side))

    def draw(self, count, random):
        device = self.kinds.device
        labels = torch.randint(10, (count,), generator=random, device=device)
        noise = torch.randn(count, *self.kinds.shape[1:], generator=random, device=device)
        return self.kinds[labels] + 2 * noise, labels

    def losses(self, inputs, targets):
        return functional.cross_entropy(self.body(inputs).float(), targets, reduction="none")

    forward = losses  # what DistributedDataParallel calls


class Transformer(nn.Module):
    """Learns which word follows which, in a language where nine times out of ten the same one does."""

    def __init__(self, width, depth, length, words=256):
        super().__init__()
        self.length = length
        self.embedding = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.zeros(length, width))
        layer = nn.TransformerEncoderLayer(width, width // 32, 4 * width, dropout=0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, depth, enable_nested_tensor=False)
        self.output = nn.Linear(width, words)
        self.register_buffer("follows", torch.randperm(words))
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1))

    def draw(self, count, random):
        device, words = self.follows.device, len(self.follows)
        text, other = torch.randint(words, (2, count, self.length), generator=random, device=device)
        surprise = torch.rand(count, self.length, generator=random, device=device) < 0.1
        return text, torch.where(surprise, other, self.follows[text])

    def losses(self, inputs, targets):
        hidden = self.body(self.embedding(inputs) + self.position, self.mask)
        words = self.output(hidden).float()
        return functional.cross_entropy(words.transpose(1, 2), targets, reduction="none").mean(1)

    forward = losses


class Kind(NamedTuple):
    network: Callable[[], nn.Module]
    samples: int  # in a batch
    batches: int = 1  # in a step
    half: bool = False  # computes in half precision
    wait: float = 0  # seconds for the data of a batch, as from slow storage


# The first two are small enough for a CPU. Of the others the light ones leave a large GPU idle most of the time, because
# they wait for their data, and the heavy ones fill it.
_KINDS = {
    "cnn": Kind(lambda: Cnn(16, 1, 16), 32),
    "transformer": Kind(lambda: Transformer(32, 1, 8, words=32), 16),
    "cnn-light": Kind(lambda: Cnn(32, 4, 32), 64, batches=8, wait=0.012),
    "transformer-light": Kind(lambda: Transformer(128, 4, 64), 32, batches=6, wait=0.02),
    "cnn-heavy": Kind(lambda: Cnn(256, 8, 64), 256, batches=2, half=True),
    "transformer-heavy": Kind(lambda: Transformer(512, 8, 512), 64, batches=4, half=True),
}
NAMES = list(_KINDS)


class Workload:
    """A network, its optimiser and its data."""

    def __init__(self, name, device="cpu"):
        self.kind = _KINDS[name]
        torch.manual_seed(1)
        self.device = torch.device(device)
        self.network = self.kind.network().to(self.device)
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=1e-3)
        self._random = torch.Generator(device=self.device)

    def sample_losses(self, batch, part=slice(None), network=None):
        """The loss of each sample, or of a part of them; `network`: ours, wrapped."""
        self._random.manual_seed(batch)
        inputs, targets = self.network.draw(self.kind.samples, self._random)
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.kind.half):
            return (network or self.network)(inputs[part], targets[part])

    def step(self, number):
        """One step of training; the loss of its last batch."""
        for i in range(self.kind.batches):
            time.sleep(self.kind.wait)
            loss = self.sample_losses(number * self.kind.batches + i).mean()
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            self.optimizer.step()
        return loss.item()

    def probe(self):
        """The loss of samples that are always the same: what it is before a stop it is again after the next start."""
        with torch.no_grad():
            return self.sample_losses(_PROBE).mean().item()

    def save(self, path, completed):
        torch.save({"completed": completed, "loss": self.probe(), "network": self.network.state_dict(),
                    "optimizer": self.optimizer.state_dict()}, path + ".new")
        os.replace(path + ".new", path)  # whole or not at all

    def load(self, path):
        """How many steps the checkpoint has, and the loss it had then; 0 and None where there is no checkpoint."""
        if not os.path.exists(path):
            return 0, None
        held = torch.load(path, map_location=self.device)
        self.network.load_state_dict(held["network"])
        self.optimizer.load_state_dict(held["optimizer"])
        return held["completed"], held["loss"]
