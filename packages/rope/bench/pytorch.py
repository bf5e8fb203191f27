#!/usr/bin/env python3
"""Time PyTorch's rotary embedding of q and k on shapes of rope.bench.ts, on the same machine.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
from pytorch_graphs import microseconds, num_sets, report

# batch, seqlen, heads of q, heads of k, head dim; bshd
SHAPES = [
    (4, 8192, 32, 32, 128), (4, 8192, 32, 8, 128), (8, 8192, 16, 16, 64), (4, 8192, 16, 16, 72),
    (128, 1, 32, 8, 128),
]


def rotate(x, cos, sin):
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], -1).to(x.dtype)


def rope_qk(q, k, cos, sin):
    return rotate(q, cos, sin), rotate(k, cos, sin)


def measure(name, fn, shape):
    batch, seqlen, heads_q, heads_k, head_dim = shape
    size = 2 * batch * seqlen * (heads_q + heads_k) * head_dim * 2 + 4 * seqlen * head_dim
    frequencies = 10000 ** (-torch.arange(0, head_dim, 2, dtype=torch.float64) / head_dim)
    angles = torch.outer(torch.arange(seqlen, dtype=torch.float64), frequencies)
    cos, sin = (table.float().cuda()[None, :, None] for table in (angles.cos(), angles.sin()))

    def made(heads):
        place = dict(device="cuda", dtype=torch.bfloat16)
        return torch.randn(batch, seqlen, heads, head_dim, **place)

    given = [(made(heads_q), made(heads_k)) for _ in range(num_sets(size))]
    us = microseconds([lambda each=each: fn(*each, cos, sin) for each in given])
    return dict(name=name, shape=shape, dtype="bfloat16", us=us, gbs=size / us / 1e3)


def results():
    for shape in SHAPES:
        torch._dynamo.reset()
        compiled = torch.compile(rope_qk, dynamic=False)
        for name, fn in [("rope eager", rope_qk), ("rope compiled", compiled)]:
            yield measure(name, fn, shape)


if __name__ == "__main__":
    report(results())
