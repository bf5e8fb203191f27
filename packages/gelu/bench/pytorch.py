#!/usr/bin/env python3
"""Time PyTorch's gelu on the shapes of gelu.bench.ts.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows


def quick(x):
    return x * torch.sigmoid(1.702 * x)


def erf(x):
    return F.gelu(x)


def tanh(x):
    return F.gelu(x, approximate="tanh")


if __name__ == "__main__":
    pytorch_rows.elementwise(erf, tanh, quick, inputs=1)
