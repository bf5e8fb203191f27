#!/usr/bin/env python3
"""Time PyTorch's geglu on the shapes of geglu.bench.ts, gate and up apart.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows


def erf(gate, up):
    return F.gelu(gate) * up


def tanh(gate, up):
    return F.gelu(gate, approximate="tanh") * up


if __name__ == "__main__":
    pytorch_rows.elementwise(erf, tanh, inputs=2)
