"""Times PyTorch in CUDA graphs and reports one JSON object a line: what each kernel's bench/pytorch.py
and pytorch_rows.py have in common. Needs torch with CUDA.
"""
import argparse
import json

import torch

ROTATE_BYTES = 300e6


def num_sets(size, least=4):
    """How many sets of buffers of so many bytes are gone through, so that no call finds its own."""
    return max(least, int(ROTATE_BYTES // size) + 1)


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


def report(results):
    """Prints results, dictionaries, as they come; --json FILE receives all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json")
    path = parser.parse_args().json
    print(torch.cuda.get_device_name(), torch.__version__)
    lines = []
    for result in results:
        lines.append(json.dumps(result) + "\n")
        print(lines[-1], end="", flush=True)
        torch.cuda.empty_cache()
    if path:
        with open(path, "w") as file:
            file.writelines(lines)
