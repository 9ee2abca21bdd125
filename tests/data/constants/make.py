# Makes the archive of this folder (PyTorch 2.14.1): make.py FOLDER
import sys

import torch
from torch.export import export, save


class Shapes(torch.nn.Module):
    """Sizes that are computed with tensors of numbers, lifted by the export."""

    def forward(self, x):
        n = torch.tensor([3, 4])
        rows, columns = n.tolist()
        keep = torch.tensor([True, False]).sum().item()
        return x.view(rows, columns), torch.ones(keep)


def main(folder):
    program = export(Shapes(), (torch.randn(12),))
    # Places in this file would be paths of one machine.
    for module in program.graph_module.modules():
        for node in getattr(module, "graph", torch.fx.Graph()).nodes:
            node.meta.pop("stack_trace", None)
    save(program, f"{folder}/shapes.pt2")


main(sys.argv[1])
