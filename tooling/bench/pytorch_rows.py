"""Time PyTorch on the shapes of benchmarkRows (packages/testing), one JSON object a line.

What the pytorch.py beside each row-wise benchmark runs: each form is called on buffers rotated over
300 MB, many calls in a CUDA graph, medians of replays. Needs torch with CUDA.
"""
import argparse
import json

import torch

SHAPES = [
    (131072, 256), (32768, 768), (65536, 1024), (32768, 2048), (32768, 4096), (16384, 8192),
    (8192, 16384), (4096, 32768), (2048, 65536), (1024, 131072), (32768, 4095), (32768, 4100),
]
ROTATE_BYTES = 300e6


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


def measure(name, fn, shape, inputs, outputs, parameters):
    rows, hidden = shape
    size = ((inputs + outputs) * rows + parameters) * hidden * 2
    sets = max(4, int(ROTATE_BYTES // size) + 1)
    make = lambda *s: torch.randn(*s, device="cuda", dtype=torch.bfloat16)
    shared = [make(hidden) for _ in range(parameters)]
    given = [tuple(make(rows, hidden) for _ in range(inputs)) for _ in range(sets)]
    us = microseconds([lambda each=each: fn(*each, *shared) for each in given])
    return dict(name=name, rows=rows, hidden=hidden, dtype="bfloat16", us=us, gbs=size / us / 1e3)


def main(forms, multiple_of=1):
    """forms: (name, function of inputs and parameters, inputs, outputs, parameters), bfloat16;
    multiple_of: what divides the rows that they take."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    out = parser.parse_args().json
    print(torch.cuda.get_device_name(), torch.__version__)
    results = []
    for shape in (shape for shape in SHAPES if shape[1] % multiple_of == 0):
        torch._dynamo.reset()
        for name, fn, *counts in forms:
            results.append(measure(name, fn, shape, *counts))
            print(json.dumps(results[-1]), flush=True)
            torch.cuda.empty_cache()
    if out:
        with open(out, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in results)
