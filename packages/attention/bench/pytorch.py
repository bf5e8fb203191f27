#!/usr/bin/env python3
"""Time PyTorch's attention on the shapes of attention.bench.ts, one JSON object a line.

usage: pytorch.py [--json FILE]      (needs torch with CUDA; run beside the benchmark, on its machine)

Each backend is called on buffers rotated over 300 MB, many calls in a CUDA graph, medians of
replays. A GEMM of the same run stands beside them, since the clocks of two runs differ.
"""
import argparse
import json

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

ROTATE_BYTES = 300e6
BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}
SHAPES = [
    (16384 // s, s, 2048 // d, 2048 // d, d, causal)
    for d in (64, 128, 256) for s in (512, 1024, 2048, 4096, 8192, 16384) for causal in (False, True)
] + [(1, s, 64, 8, 128, True) for s in (2048, 8192, 32768)]


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


def make(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.bfloat16)


def measure(name, backend, shape):
    b, s, h, hk, d, causal = shape
    size = 2 * b * s * (h + hk) * d * 2
    sets = max(2, int(ROTATE_BYTES // size) + 1)
    # [batch, seqlen, heads, head_dim] in memory, as views without a copy.
    inputs = [[make(b, s, heads, d).transpose(1, 2) for heads in (h, hk, hk)] for _ in range(sets)]
    with sdpa_kernel([backend]):
        us = microseconds([
            lambda given=given: F.scaled_dot_product_attention(
                *given, is_causal=causal, enable_gqa=h != hk)
            for given in inputs
        ])
    flops = 4 * b * h * s * s * d / (2 if causal else 1)
    return dict(name=name, b=b, s=s, h=h, hk=hk, d=d, causal=causal, us=us, tflops=flops / us / 1e6)


def gemm(size=8192):
    a, b = make(size, size), make(size, size)
    us = microseconds([lambda: a @ b] * 4)
    return dict(name="gemm", size=size, us=us, tflops=2 * size**3 / us / 1e6)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    out = parser.parse_args().json
    print(torch.cuda.get_device_name(), torch.__version__)
    results = [gemm()]
    for shape in SHAPES:
        for name, backend in BACKENDS.items():
            try:
                results.append(measure(name, backend, shape))
            except RuntimeError as error:
                results.append(dict(name=name, shape=shape, error=str(error).splitlines()[0]))
            print(json.dumps(results[-1]), flush=True)
            torch.cuda.empty_cache()
    results.append(gemm())
    if out:
        with open(out, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in results)


if __name__ == "__main__":
    main()
