"""Time PyTorch on the shapes of benchmarkRows and benchmarkElementwise (packages/testing) in bfloat16:
what the pytorch.py beside each such benchmark runs.
"""
import torch

from pytorch_graphs import microseconds, num_sets, report

ROWS = [
    (131072, 256), (32768, 768), (65536, 1024), (32768, 2048), (32768, 4096), (16384, 8192),
    (8192, 16384), (4096, 32768), (2048, 65536), (1024, 131072), (32768, 4095), (32768, 4100),
]
ELEMENTWISE = [(16384, 16384), (16384, 11008), (8192, 14336), (8192, 4095), (128, 14336)]


def measure(name, fn, shape, inputs, outputs, parameters):
    rows, hidden = shape
    size = ((inputs + outputs) * rows + parameters) * hidden * 2
    make = lambda *s: torch.randn(*s, device="cuda", dtype=torch.bfloat16)
    shared = [make(hidden) for _ in range(parameters)]
    given = [tuple(make(rows, hidden) for _ in range(inputs)) for _ in range(num_sets(size))]
    us = microseconds([lambda each=each: fn(*each, *shared) for each in given])
    return dict(name=name, rows=rows, hidden=hidden, dtype="bfloat16", us=us, gbs=size / us / 1e3)


def results(forms, shapes):
    for shape in shapes:
        torch._dynamo.reset()
        for name, fn, *counts in forms:
            yield measure(name, fn, shape, *counts)


def main(forms, multiple_of=1):
    """forms: (name, function of inputs and parameters, inputs, outputs, parameters);
    multiple_of: what divides the rows that they take."""
    report(results(forms, [shape for shape in ROWS if shape[1] % multiple_of == 0]))


def elementwise(*fns, inputs):
    """Functions of so many tensors, each eager and compiled."""
    forms = []
    for fn in fns:
        forms.append((f"{fn.__name__} eager", fn, inputs, 1, 0))
        forms.append((f"{fn.__name__} compiled", torch.compile(fn, dynamic=False), inputs, 1, 0))
    report(results(forms, ELEMENTWISE))
