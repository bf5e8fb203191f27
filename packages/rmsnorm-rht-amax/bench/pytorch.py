#!/usr/bin/env python3
"""Time PyTorch's RMSNorm, 16-wide Hadamard transform and group maxima on the shapes of
rmsnorm-rht-amax.bench.ts, on the same machine: as a product with the matrix and as butterflies,
each fused by torch.compile as far as it can. The better of the two is what we compare with.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows

BLOCK = 16
MATRIX = torch.tensor(
    [[(-1.0) ** (i & j).bit_count() / 4 for j in range(BLOCK)] for i in range(BLOCK)], device="cuda")


def rows_per_group(rows):
    """As rmsnormRhtAmax has them by default."""
    if rows % 2:
        return 1
    return next((r for r in (8, 4, 2) if rows % r == 0 and rows // r >= 148), 2)


def normalized(x, weight):
    wide = x.float()
    return wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5) * weight.float()


def finished(y, x):
    rows = rows_per_group(x.shape[0])
    return y.to(x.dtype), y.abs().view(x.shape[0] // rows, -1).amax(-1)


def matmul(x, weight):
    y = normalized(x, weight).view(-1, BLOCK) @ MATRIX
    return finished(y.view_as(x), x)


def butterfly(x, weight):
    y = normalized(x, weight) * 0.25
    for stride in (1, 2, 4, 8):
        pairs = y.view(-1, BLOCK // (2 * stride), 2, stride)
        low, high = pairs[:, :, 0], pairs[:, :, 1]
        y = torch.stack((low + high, low - high), 2)
    return finished(y.view_as(x), x)


if __name__ == "__main__":
    pytorch_rows.main([
        ("rmsnormRhtAmax eager", matmul, 1, 1, 1),
        ("rmsnormRhtAmax compiled, matmul", torch.compile(matmul, dynamic=False), 1, 1, 1),
        ("rmsnormRhtAmax compiled, butterfly", torch.compile(butterfly, dynamic=False), 1, 1, 1),
    ], multiple_of=BLOCK)
