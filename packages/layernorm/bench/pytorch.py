#!/usr/bin/env python3
"""Time PyTorch's LayerNorm on the shapes of layernorm.bench.ts, on the same machine.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows


def norm(x, weight, bias):
    return F.layer_norm(x, (x.shape[-1],), weight, bias, 1e-5)


def add_norm(x, residual, weight, bias):
    total = x + residual
    return norm(total, weight, bias), total


if __name__ == "__main__":
    pytorch_rows.main([
        ("layernorm eager", norm, 1, 1, 2),
        ("layernorm compiled", torch.compile(norm, dynamic=False), 1, 1, 2),
        ("addLayernorm compiled", torch.compile(add_norm, dynamic=False), 2, 2, 2),
    ])
