"""Milliseconds of a call of an exported program on the GPU: MODEL.pt2 SECONDS."""
import sys
import time

import torch


def main(path, seconds):
    program = torch.export.load(path)
    module = program.module().cuda()
    args, kwargs = program.example_inputs
    move = lambda x: x.cuda() if isinstance(x, torch.Tensor) else x
    args = torch.utils._pytree.tree_map(move, args)
    kwargs = torch.utils._pytree.tree_map(move, kwargs)
    least, end = float("inf"), time.time() + seconds
    with torch.no_grad():
        while time.time() < end or least == float("inf"):
            start = time.perf_counter()
            module(*args, **kwargs)
            torch.cuda.synchronize()
            least = min(least, time.perf_counter() - start)
    print(f"{1e3 * least:.4f}")


main(sys.argv[1], float(sys.argv[2]))
