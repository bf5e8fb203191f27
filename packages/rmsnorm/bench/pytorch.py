#!/usr/bin/env python3
"""Time PyTorch's RMSNorm on the shapes of rmsnorm.bench.ts, on the same machine.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows


def norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, 1e-6)


def add_norm(x, residual, weight):
    total = x + residual
    return norm(total, weight), total


if __name__ == "__main__":
    pytorch_rows.main([
        ("rmsnorm eager", norm, 1, 1, 1),
        ("rmsnorm compiled", torch.compile(norm, dynamic=False), 1, 1, 1),
        ("addRmsnorm compiled", torch.compile(add_norm, dynamic=False), 2, 2, 1),
    ])
