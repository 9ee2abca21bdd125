# Makes the archives of this folder (PyTorch 2.14.1): make.py FOLDER
import sys

import torch
from torch._higher_order_ops import associative_scan, map, scan, while_loop
from torch.export import export, save


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


def main(folder):
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
        # Places in this file would be paths of one machine.
        for module in program.graph_module.modules():
            for node in getattr(module, "graph", torch.fx.Graph()).nodes:
                node.meta.pop("stack_trace", None)
        save(program, f"{folder}/{name}.pt2")


main(sys.argv[1])
