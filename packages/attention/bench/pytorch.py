#!/usr/bin/env python3
"""Time PyTorch's attention on the shapes of attention.bench.ts, on the same machine.

usage: pytorch.py [--json FILE]

A GEMM of the same run stands beside the backends, since the clocks of two runs differ.
"""
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
from pytorch_graphs import microseconds, num_sets, report

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
# batch, seqlen, heads of q, heads of k and v, head dim of q and k, of v, causal
SHAPES = [
    (16384 // s, s, 2048 // d, 2048 // d, d, d, causal)
    for d in (64, 128, 256) for s in (512, 1024, 2048, 4096, 8192, 16384) for causal in (False, True)
] + [
    (4, 4096, 16, 16, d, dv, causal) for d, dv in ((96, 96), (192, 128)) for causal in (False, True)
] + [(1, s, 64, 8, 128, 128, True) for s in (2048, 8192, 32768)]


def make(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def measure(name, backend, shape):
    b, s, h, hk, d, dv, causal = shape
    size = b * s * (h + hk) * (d + dv) * 2
    sets = num_sets(size, least=2)
    # [batch, seqlen, heads, head_dim] in memory, as views without a copy.
    heads = ((h, d), (hk, d), (hk, dv))
    inputs = [[make(b, s, *each).transpose(1, 2) for each in heads] for _ in range(sets)]
    with sdpa_kernel([backend]):
        us = microseconds([
            lambda given=given: F.scaled_dot_product_attention(
                *given, is_causal=causal, enable_gqa=h != hk)
            for given in inputs
        ])
    flops = 2 * b * h * s * s * (d + dv) / (2 if causal else 1)
    return dict(name=name, b=b, s=s, h=h, hk=hk, d=d, dv=dv, causal=causal, us=us, tflops=flops / us / 1e6)


def gemm(size=8192):
    a, b = make(size, size), make(size, size)
    us = microseconds([lambda: a @ b] * 4)
    return dict(name="gemm", size=size, us=us, tflops=2 * size**3 / us / 1e6)


def results():
    yield gemm()
    for shape in SHAPES:
        for name, backend in BACKENDS.items():
            try:
                yield measure(name, backend, shape)
            except RuntimeError as error:
                yield dict(name=name, shape=shape, error=str(error).splitlines()[0])
    yield gemm()


if __name__ == "__main__":
    report(results())
