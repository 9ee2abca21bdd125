# What the generators of this folder share: calls and their tensors in the
# format of tests/conformance/README.md.
import json
import os

import torch

folder = os.path.dirname(os.path.abspath(__file__))
lines, blob = [], bytearray()


def stored(t):
    t = t.detach().contiguous()
    data = t.reshape(-1).view(torch.uint8).numpy().tobytes()
    entry = {"dtype": str(t.dtype).split(".")[1], "shape": list(t.shape),
             "offset": len(blob), "nbytes": len(data)}
    blob.extend(data + bytes(-len(data) % 16))
    return {"v": entry}


def encoded(a):
    if isinstance(a, torch.Tensor):
        return stored(a)
    if isinstance(a, (list, tuple)):
        return [encoded(x) for x in a]
    if isinstance(a, torch.dtype):
        return {"dtype": str(a).split(".")[1]}
    if isinstance(a, float) and (a != a or abs(a) == float("inf")):
        return {"float": str(a)}
    return a


def record(op, args, kwargs, out, written=None):
    """One call; `args` are encoded, before the call could write them.
    `written`: tensors that it wrote, by their place among all tensors."""
    line = {"id": len(lines), "op": str(op), "args": args,
            "kwargs": {k: encoded(v) for k, v in kwargs.items()},
            "out": encoded(out), "src": "hand"}
    if written:
        line["mutated"] = {str(k): stored(t)["v"] for k, t in written.items()}
    lines.append(line)


def write(name):
    with open(os.path.join(folder, name + ".jsonl"), "w") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    with open(os.path.join(folder, name + ".bin"), "wb") as f:
        f.write(blob)
