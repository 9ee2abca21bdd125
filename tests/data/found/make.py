# Makes the archives of this folder (PyTorch 2.14.1): make.py FOLDER
import sys

import torch
from torch.export import export, save


class Selected(torch.nn.Module):
    """Results whose sizes depend on data, and an assertion on one of them."""

    def forward(self, x):
        positive = x[x > 0]
        torch._check(positive.shape[0] < 5)
        values, inverse = torch.unique(x, return_inverse=True)
        return positive, values, inverse, x.nonzero()


def main(folder):
    program = export(Selected(), (torch.randn(2, 3),))
    # Places in this file would be paths of one machine.
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            node.meta.pop("stack_trace", None)
    save(program, f"{folder}/selected.pt2")


main(sys.argv[1])
