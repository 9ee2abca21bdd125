"""Makes digits.bin, mlp.pt2 and cnn.pt2 (PyTorch 2.14, scikit-learn).

digits.bin: for each of 1797 images 64 bytes, 0 to 16, row by row, then its
digit as a byte. The data set is "Optical Recognition of Handwritten Digits"
(Alpaydin, Kaynak; UCI, CC BY 4.0), in an order shuffled by a fixed seed.
"""

import sys

import numpy as np
import torch
from torch import nn


class Loss(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, image, digit):
        logits = self.model(image)
        return nn.functional.cross_entropy(logits, digit), logits.detach()


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)
    )


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(8, 16, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(16 * 16, 10),
    )


def main(folder):
    if len(sys.argv) > 2:
        from sklearn.datasets import load_digits

        data = load_digits()
        order = np.random.default_rng(1).permutation(len(data.target))
        images = data.images[order].reshape(-1, 64).astype(np.uint8)
        labels = data.target[order].astype(np.uint8)
        np.concatenate([images, labels[:, None]], 1).tofile(
            folder + "/digits.bin"
        )
    for name, build in (("mlp", mlp), ("cnn", cnn)):
        torch.manual_seed(1)
        module = Loss(build()).train()
        example = (torch.rand(32, 1, 8, 8), torch.randint(0, 10, (32,)))
        torch.export.save(
            torch.export.export(module, example), f"{folder}/{name}.pt2"
        )


main(sys.argv[1] if len(sys.argv) > 1 else ".")
