#!/usr/bin/env python3
"""Time PyTorch's swiglu on the shapes of swiglu.bench.ts, gate and up apart.

usage: pytorch.py [--json FILE]
"""
import pathlib
import sys

import torch
import torch.nn.functional as F

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "tooling/bench"))
import pytorch_rows


def plain(gate, up):
    return F.silu(gate) * up


def gpt_oss(gate, up):
    gate = gate.clamp(max=7)
    return gate * torch.sigmoid(1.702 * gate) * (up.clamp(-7, 7) + 1)


if __name__ == "__main__":
    pytorch_rows.elementwise(plain, gpt_oss, inputs=2)
