#!/usr/bin/env python3
"""Time PyTorch's RMSNorm on the shapes of rmsnorm.bench.ts, one JSON object a line.

usage: pytorch.py [--json FILE]      (needs torch with CUDA; run beside the benchmark, on its machine)

Each form is called on buffers rotated over 300 MB, many calls in a CUDA graph, medians of replays.
"""
import argparse
import json

import torch
import torch.nn.functional as F

SHAPES = [
    (131072, 256), (32768, 768), (65536, 1024), (32768, 2048), (32768, 4096), (16384, 8192),
    (8192, 16384), (4096, 32768), (2048, 65536), (1024, 131072), (32768, 4095), (32768, 4100),
]
ROTATE_BYTES = 300e6
EPS = 1e-6


def norm(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, EPS)


def add_norm(x, residual, weight):
    total = x + residual
    return F.rms_norm(total, (x.shape[-1],), weight, EPS), total


def microseconds(calls):
    """Median time of one call, from replays of a graph of all of them."""
    for call in calls:
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call() for call in calls]
    times = []
    for _ in range(15):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e3 / len(calls))
    del kept
    return sorted(times)[len(times) // 2]


def measure(name, fn, shape, fused):
    rows, hidden = shape
    tensors = 4 if fused else 2
    size = tensors * rows * hidden * 2 + hidden * 2
    sets = max(4, int(ROTATE_BYTES // size) + 1)
    make = lambda *s: torch.randn(*s, device="cuda", dtype=torch.bfloat16)
    weight = make(hidden)
    inputs = [tuple(make(rows, hidden) for _ in range(2 if fused else 1)) for _ in range(sets)]
    us = microseconds([lambda given=given: fn(*given, weight) for given in inputs])
    return dict(name=name, rows=rows, hidden=hidden, dtype="bfloat16", us=us, gbs=size / us / 1e3)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    out = parser.parse_args().json
    print(torch.cuda.get_device_name(), torch.__version__)
    results = []
    for shape in SHAPES:
        torch._dynamo.reset()
        forms = [
            ("rmsnorm eager", norm, False),
            ("rmsnorm compiled", torch.compile(norm, dynamic=False), False),
            ("addRmsnorm compiled", torch.compile(add_norm, dynamic=False), True),
        ]
        for name, fn, fused in forms:
            results.append(measure(name, fn, shape, fused))
            print(json.dumps(results[-1]), flush=True)
            torch.cuda.empty_cache()
    if out:
        with open(out, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in results)


if __name__ == "__main__":
    main()
