# Makes the archives of this folder (PyTorch 2.14.1): make.py FOLDER
import json
import sys

import torch
import torch.utils._pytree as tree
from torch._higher_order_ops import associative_scan, map, scan, while_loop
from torch.export import Dim, export, save


class Branches(torch.nn.Module):
    """A cond in a cond, and parameters that a branch reads."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        def small(x):
            return torch.cond(x.sum() > 4, lambda x: x + 1, lambda x: x - 1,
                              (x,))

        return torch.cond(x.sum() > 0, lambda x: self.linear(x).sin(), small,
                          (x,))


class Sizes(torch.nn.Module):
    """Branches whose results have different sizes."""

    def forward(self, p, x):
        return torch.cond(p, lambda x: x[:2].clone(), lambda x: x[:3] * 2,
                          (x,))


class Loop(torch.nn.Module):
    """A while_loop that captures a weight; its init operand is transposed."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 4))

    def forward(self, i, x):
        return while_loop(lambda i, x: i < 5,
                          lambda i, x: (i + 1, x * self.weight), (i, x.t()))


class Scan(torch.nn.Module):
    """A scan with a captured value and a result that is not stacked."""

    def forward(self, h, x):
        twice = h * 2
        carry, (products, sums) = scan(
            lambda h, x: (h + x + twice, (h * x, x.sum())), h, x)
        return carry, products, sums


class Map(torch.nn.Module):
    def forward(self, x, y):
        return map(lambda x, y: (x + y).t().clone(), x, y)


class Unknown(torch.nn.Module):
    """A region that has no op, beside an operator inside a branch."""

    def forward(self, p, x):
        y = associative_scan(lambda a, b: a + b, x, dim=0)
        return torch.cond(p, lambda x: torch.select_copy(x, 0, 0),
                          lambda x: x[0] * 2, (y,))


class Scans(torch.nn.Module):
    """Two carries and two xs in dicts, from the last position of dim 1 on; a
    cond in a body, with a parameter; a scan in a branch."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3))

    def forward(self, p, h, x):
        def step(c, x):
            a, b = c["a"], c["b"]
            return {"a": a + x["u"], "b": b * 0.5}, (a * b, x["v"].clone())

        def branching(c, x):
            y = torch.cond(x.sum() > 0, lambda x: x * self.weight,
                           lambda x: x - 1, (x,))
            return c + y, y * c

        def inner(h, x):
            return scan(lambda c, x: (c * 0.5 + x, c - x), h, x)

        carry, (products, copies) = scan(step, h, x, dim=1, reverse=True)
        rows = x["u"].t().contiguous()
        total, parts = scan(branching, torch.zeros(3), rows)
        last, all = torch.cond(
            p, inner, lambda h, x: (h.clone(), x * 2), (h["a"], rows))
        return (carry["a"], carry["b"], products, copies, total, parts, last,
                all)


class Maps(torch.nn.Module):
    """A map over two tensors with a captured matrix, and results of two
    dtypes; one in a while_loop; one whose body has a loop."""

    def forward(self, x, y, w):
        def zero():
            return torch.zeros((), dtype=torch.int64)

        def count(x):
            return while_loop(lambda i, x: i < 3,
                              lambda i, x: (i + 1, x * 2 + i),
                              (zero(), x))

        products, large = map(lambda xy, w: (xy[0] @ w + xy[1], xy[0].sum() > 0),
                              (x, y), w)
        _, grown = while_loop(
            lambda i, x: i < 2,
            lambda i, x: (i + 1, map(lambda r, w: torch.tanh(r @ w), x, w)),
            (zero(), x))
        return products, large, grown, map(lambda r: count(r)[1], x)


class Numbers(torch.nn.Module):
    """Branches that read the size of an input."""

    def forward(self, p, x):
        n = x.shape[0]
        return torch.cond(
            p, lambda x: x.reshape(-1) * n,
            lambda x: x.sum(0).expand(n, x.shape[1]).reshape(-1) + 1, (x,))


class BranchSizes(torch.nn.Module):
    """What is done with a result whose size a branch decides; such a cond in a
    map."""

    def forward(self, p, x):
        y = torch.cond(p, lambda x: x[:2].clone(), lambda x: x[:3] * 2, (x,))

        def head(r):
            z = torch.cond(r.sum() > 0, lambda r: r[:2] + 1,
                           lambda r: r[:4] * 2, (r,))
            return z.sum(0)

        return y, y.sum(0) + 1, torch.relu(y @ x.t()), map(head, x)


class Flows(torch.nn.Module):
    """Gradients through all of them: a cond that only one branch of reads a
    parameter, in a scan; scans over dim 1 and backward with two carries; a scan
    in a branch, a map with a layer norm."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 3))
        self.scale = torch.nn.Parameter(torch.randn(3))
        self.norm = torch.nn.LayerNorm(3)

    def forward(self, p, h, x):
        def step(c, x):
            a, b = c
            return (a * self.scale + x, b * 0.5), (a * b * x, x.sin())

        def branching(c, x):
            y = torch.cond(x.sum() > 0, lambda x: x @ self.weight,
                           lambda x: x - 1, (x,))
            n = torch.tanh(c + y)
            return n, n * c

        def inner(h, x):
            return scan(lambda c, x: (c * 0.5 + x * self.scale, c - x * c), h,
                        x)

        (a, b), (products, sines) = scan(step, (h, h * self.scale), x, dim=1,
                                         reverse=True)
        rows = (products + sines).t().contiguous()
        total, parts = scan(branching, torch.zeros(3), rows)
        last, all = torch.cond(
            p, inner, lambda h, x: (h.clone(), (x @ self.weight).exp()),
            (a, rows))
        normed = map(lambda r: torch.sigmoid(self.norm(r)), parts + all)
        return (a * b).sum() + total.sum() + (normed * last).mean()


class Counts(torch.nn.Module):
    """A loop that counts from a constant to another."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 3) * 0.4)

    def forward(self, x):
        i = torch.zeros((), dtype=torch.int64)
        _, y = while_loop(
            lambda i, x: i < 7,
            lambda i, x: (i + 2, torch.tanh(x @ self.weight)), (i, x))
        return y.sum()


class Halves(torch.nn.Module):
    """A loop that runs as often as the data say."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3) * 0.4)

    def forward(self, x):
        _, y = while_loop(
            lambda i, x: x.norm() > 0.5,
            lambda i, x: (i + 1, x * (0.5 + 0.1 * self.weight)),
            (torch.tensor(0), x))
        return y.sum()


class Plain:
    """The regions as loops of Python, which take every length: what they do is
    what the archives are to do."""

    @staticmethod
    def cond(p, then, other, operands):
        return (then if p else other)(*operands)

    @staticmethod
    def while_loop(condition, body, carried):
        while condition(*carried):
            carried = body(*carried)
        return carried

    @staticmethod
    def scan(step, carry, xs, dim=0, reverse=False):
        length = tree.tree_leaves(xs)[0].shape[dim]
        order = range(length)[::-1] if reverse else range(length)
        stacked = [None] * length
        for i in order:
            carry, stacked[i] = step(
                carry, tree.tree_map(lambda t: t.select(dim, i), xs))
        if length:
            return carry, tree.tree_map(
                lambda *t: torch.stack(t, dim), *stacked)
        one = tree.tree_map(
            lambda t: torch.zeros_like(t.sum(dim)), xs)
        return carry, tree.tree_map(
            lambda t: torch.stack([t], dim).narrow(dim, 0, 0),
            step(carry, one)[1])

    @staticmethod
    def map(f, xs, *captured):
        return Plain.scan(lambda c, x: (c, f(x, *captured)), (), xs)[1]


def gradients(module, loss):
    module.zero_grad()
    loss.backward()
    # What no branch that ran has read has a gradient all the same.
    return {n: torch.zeros_like(p) if p.grad is None else p.grad
            for n, p in module.named_parameters()}


def plainly(module, inputs):
    names = ["while_loop", "scan", "map"]
    saved, torch_cond = [globals()[n] for n in names], torch.cond
    globals().update({n: getattr(Plain, n) for n in names})
    torch.cond = Plain.cond
    try:
        return module(*inputs)
    finally:
        globals().update(zip(names, saved))
        torch.cond = torch_cond


def record(folder, name, module, cases, train=False):
    """The inputs and outputs of the cases, as in tests/data/models."""
    entries, data = [], b""

    def note(t):
        nonlocal data
        raw = t.detach().contiguous().numpy().tobytes()
        entry = {"dtype": str(t.dtype)[6:], "shape": list(t.shape),
                 "offset": len(data), "nbytes": len(raw)}
        data += raw + bytes(-len(raw) % 16)
        return entry

    for i, inputs in enumerate(cases):
        outputs = plainly(module, inputs)
        entry = {
            "label": {"case": i},
            "inputs": [note(t) for t in tree.tree_leaves(inputs)]}
        if train:
            entry["grads"] = {n: note(t) for n, t in
                              gradients(module, outputs).items()}
        entry["outputs"] = [note(t) for t in tree.tree_leaves(outputs)]
        entries.append(entry)
    with open(f"{folder}/{name}.io.json", "w") as f:
        json.dump({"name": name, "cases": entries}, f,
                  separators=(",", ":"))
    with open(f"{folder}/{name}.io.bin", "wb") as f:
        f.write(data)


def compiled(folder):
    """Archives that are compiled, with what PyTorch computes for several
    lengths: case 0 is the one that is traced."""
    torch.manual_seed(0)
    n = Dim("n", min=0, max=64)

    def scans(p, length):
        h = {"a": torch.randn(3), "b": torch.randn(3)}
        x = {"u": torch.randn(3, length), "v": torch.randn(2, length)}
        return torch.tensor(p), h, x

    def maps(length):
        return torch.randn(length, 2, 3), torch.randn(length, 3), torch.randn(3, 3)

    def numbers(p, length):
        return torch.tensor(p), torch.randn(length, 3)

    def sizes(p):
        return torch.tensor(p), torch.randn(4, 5)

    x = {"u": {1: n}, "v": {1: n}}
    models = {
        "scans": (Scans(), ({}, {"a": {}, "b": {}}, x),
                  [scans(True, 4), scans(False, 7), scans(True, 1),
                   scans(False, 5), scans(True, 0)]),
        "maps": (Maps(), ({0: n}, {0: n}, {}),
                 [maps(4), maps(7), maps(1), maps(0)]),
        "numbers": (Numbers(), ({}, {0: n}),
                    [numbers(True, 4), numbers(False, 7), numbers(True, 1),
                     numbers(False, 3), numbers(True, 0)]),
        "dd_branch_sizes": (BranchSizes(), None, [sizes(True), sizes(False)]),
    }
    for name, (module, dims, cases) in models.items():
        program = export(module.eval(), cases[0], dynamic_shapes=dims)
        forget_places(program)
        save(program, f"{folder}/{name}{'.dynb' if dims else ''}.pt2")
        record(folder, name, module, cases)


def trained(folder):
    """Archives whose loss is derived; case 0 is the one that is traced."""
    torch.manual_seed(1)

    def flows(p, length=4):
        return torch.tensor(p), torch.randn(3), torch.randn(3, length)

    n = Dim("n", min=0, max=64)
    models = {
        "flows": (Flows(), None, [flows(True), flows(False)]),
        "flows_sizes": (Flows(), ({}, {}, {1: n}),
                        [flows(True), flows(False, 7), flows(True, 1)]),
        "counts": (Counts(), None, [(torch.randn(2, 3),)]),
        "halves": (Halves(), None,
                   [(torch.randn(3) * 8,), (torch.ones(3),)]),
    }
    for name, (module, dims, cases) in models.items():
        program = export(module, cases[0], dynamic_shapes=dims)
        forget_places(program)
        save(program, f"{folder}/{name}.train.pt2")
        record(folder, name + ".train", module, cases, train=True)


def forget_places(program):
    """Places in this file would be paths of one machine."""
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            node.meta.pop("stack_trace", None)


def main(folder):
    compiled(folder)
    trained(folder)
    x, p = torch.randn(4, 4), torch.tensor(True)
    models = {
        "branches": (Branches(), (x,)),
        "sizes": (Sizes(), (p, torch.randn(4, 5))),
        "loop": (Loop(), (torch.tensor(0), x)),
        "scan": (Scan(), (torch.randn(5), torch.randn(6, 5))),
        "map": (Map(), (torch.randn(6, 2, 3), torch.randn(3))),
        "unknown": (Unknown(), (p, x)),
    }
    for name, (model, inputs) in models.items():
        program = export(model.eval(), inputs)
        forget_places(program)
        save(program, f"{folder}/{name}.pt2")


main(sys.argv[1])
