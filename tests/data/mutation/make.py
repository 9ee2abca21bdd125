# Makes the archives of this folder (PyTorch 2.14.1): make.py FOLDER
#
# Modules that write to what they are given, to their buffers and parameters and
# through views, with what eager PyTorch computes: outputs, buffers after the
# call, and (NAME.train) gradients.
import json
import sys

import torch
from torch.export import export, save


class Writes(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        self.register_buffer("total", torch.zeros(2, 2))
        self.register_buffer("count", torch.zeros(()))


class Views(Writes):
    """Views of what is written, and writes through views."""

    def forward(self, x):
        y = x * self.w
        row, flat = y[0], y.view(-1)
        y.mul_(2)
        flat[1:3].add_(row.sum())
        y.t().fill_diagonal_(1.5)
        windows = torch.cat([flat, flat]).unfold(0, 2, 3)
        windows.neg_()
        self.total[:, 0].copy_(x[1])
        for part in self.total.chunk(2):
            part.add_(1)
        return y, row * 1, windows, self.total * self.w


class Metadata(Writes):
    """Sizes, strides and storages that change in place; `z` is `y`."""

    def forward(self, x):
        y = x + 1
        alias = y.view(-1)
        alias.resize_(6)
        alias[:2].mul_(3)
        z = y.add_(1)
        y.unsqueeze_(0).transpose_(1, 2)
        strided = (x * 2).as_strided_((3,), (1,))
        other = x + 0
        other.set_(strided)
        other.add_(1)
        out = torch.empty(0)
        torch.mul(x, 2, out=out)
        return z * self.w, strided * 1, out * self.w


class History(Writes):
    """Writes that gradients do not see."""

    def forward(self, x):
        with torch.no_grad():
            self.w.clamp_(max=3)
            self.total.mul_(0.5).add_(self.w)
            self.count.add_(1)
        y = self.w * x
        y.detach().view(-1)[1:].mul_(3)
        with torch.no_grad():
            y[0].add_(1)
        return (y * y + self.total * self.w).sum() / self.count


class Twice(Writes):
    """One value returned twice, and once more as a view."""

    def forward(self, x):
        y = self.w * x
        return y, y, y.t()


class Inputs(Writes):
    """Inputs that are written, one through a view; only the product is
    returned."""

    def forward(self, x, z):
        x.view(-1)[1:].add_(2)
        z.copy_(x)
        return (x * z * self.w).sum()


def record(folder, name, module, inputs):
    entry, data = {"label": {}}, b""

    def note(t):
        nonlocal data
        raw = t.detach().contiguous().numpy().tobytes()
        stored = {"dtype": str(t.dtype)[6:], "shape": list(t.shape),
                  "offset": len(data), "nbytes": len(raw)}
        data += raw + bytes(-len(raw) % 16)
        return stored

    entry["inputs"] = [note(t) for t in inputs]
    before = {n: b.clone() for n, b in module.named_buffers()}
    outputs = module(*[t.clone() for t in inputs])
    outputs = outputs if isinstance(outputs, tuple) else (outputs,)
    sum(o.sum() for o in outputs if o.requires_grad).backward()
    entry["grads"] = {n: note(p.grad) for n, p in module.named_parameters()
                      if p.grad is not None}
    entry["outputs"] = [note(t) for t in outputs]
    entry["buffers_after"] = {n: note(b) for n, b in module.named_buffers()
                              if not torch.equal(b, before[n])}
    for variant in ("", ".train"):
        with open(f"{folder}/{name}{variant}.io.json", "w") as f:
            json.dump({"name": name, "cases": [entry]}, f,
                      separators=(",", ":"))
        with open(f"{folder}/{name}{variant}.io.bin", "wb") as f:
            f.write(data)


def main(folder):
    x = torch.tensor([[0.5, -2.0], [3.0, 4.0]])
    for name, kind, inputs in [
            ("views", Views, (x,)), ("metadata", Metadata, (x,)),
            ("history", History, (x,)), ("twice", Twice, (x,)),
            ("inputs", Inputs, (x, torch.zeros(2, 2)))]:
        program = export(kind(), inputs)
        for node in program.graph.nodes:  # places of one machine
            node.meta.pop("stack_trace", None)
        for variant in ("static", "train"):
            save(program, f"{folder}/{name}.{variant}.pt2")
        record(folder, name, kind(), inputs)


main(sys.argv[1])
