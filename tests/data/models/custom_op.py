"""Writes custom_op.pt2: a model that calls operators of torch.library.

    python custom_op.py custom_op.pt2
"""
import sys

import torch


@torch.library.custom_op("demo::pair_distance", mutates_args=())
def pair_distance(
    a: torch.Tensor, b: torch.Tensor, *, p: float = 2.0
) -> torch.Tensor:
    return (a[:, None] - b[None]).abs().pow(p).sum(-1).pow(1 / p)


@pair_distance.register_fake
def _(a, b, *, p=2.0):
    return a.new_empty(a.shape[0], b.shape[0])


class Distances(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.centers = torch.nn.Parameter(torch.tensor([[1.0, 1], [5, 5]]))

    def forward(self, points):
        d = pair_distance(points.relu(), self.centers, p=1.0)
        return d.amin(1), pair_distance(self.centers, points)


if __name__ == "__main__":
    points = torch.tensor([[-1.0, 0], [1, 2], [4, 5]])
    program = torch.export.export(Distances().eval(), (points,))
    torch.export.save(program, sys.argv[1])
    print([list(v.flatten()) for v in program.module()(points)])
