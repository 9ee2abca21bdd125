"""Makes parameters.pt2 and steps.json (PyTorch 2.14).

parameters.pt2: a module with one parameter of each dtype that optimizers
update, whose loss reaches all of them. steps.json: for each case of an
optimizer the gradients of some steps, and what torch.optim makes of the
parameters and of its state; fused=True where it takes the dtype, so that
float16 and bfloat16 are rounded once a step.
"""

import json
import sys

import torch
from torch import nn

DTYPES = {
    "w32": (torch.float32, (3, 6)),
    "w64": (torch.float64, (3,)),
    "wb16": (torch.bfloat16, (9,)),
    "w16": (torch.float16, (5,)),
    "gain": (torch.float32, ()),
    "pair": (torch.complex64, (2,)),
}

STEPS = 3
CASES = [
    ("sgd", dict(lr=0.1, weight_decay=0.3)),
    ("sgd", dict(lr=0.05, maximize=True)),
    ("momentum", dict(lr=0.1, momentum=0.8, dampening=0.25, weight_decay=0.2)),
    ("momentum", dict(lr=0.02, momentum=0.9, nesterov=True)),
    ("momentum", dict(lr=0.02, momentum=0.0, dampening=0.5, maximize=True)),
    ("adam", dict(lr=0.01, betas=(0.8, 0.95), eps=1e-3, weight_decay=0.1)),
    ("adam", dict(lr=0.02, betas=(0.3, 0.99), eps=1e-6, maximize=True)),
    ("adamw", dict(lr=0.01, betas=(0.85, 0.9), eps=1e-4, weight_decay=0.5)),
    ("adamw", dict()),
]
CLASSES = {
    "sgd": torch.optim.SGD,
    "momentum": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
}


class Parameters(nn.Module):
    def __init__(self):
        super().__init__()
        for name, (dtype, shape) in DTYPES.items():
            self.register_parameter(
                name, nn.Parameter(torch.randn(shape, dtype=dtype))
            )

    def forward(self, scale):
        parts = [
            torch.view_as_real(p) if p.is_complex() else p
            for p in self.parameters()
        ]
        return scale * sum(p.to(torch.float32).sum() for p in parts)


def numbers(tensor):
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor)
    digits = 17 if tensor.dtype == torch.float64 else 9
    return [
        float(f"{v:.{digits}g}") for v in tensor.double().flatten().tolist()
    ]


def random(shape, dtype, generator):
    """Short decimals."""
    shape = [*shape, 2] if dtype.is_complex else shape
    values = torch.randint(-32, 33, shape, generator=generator) / 16
    return torch.view_as_complex(values) if dtype.is_complex else values.to(dtype)


def steps(name, options, generator):
    parameters = {
        n: nn.Parameter(random(s, d, generator))
        for n, (d, s) in DTYPES.items()
    }
    start = {n: numbers(p) for n, p in parameters.items()}
    gradients = []
    plain = [p for p in parameters.values() if p.is_complex()]
    fused = [p for p in parameters.values() if not p.is_complex()]
    optimizers = [
        CLASSES[name](fused, fused=True, **options),
        CLASSES[name](plain, foreach=False, **options),
    ]
    for _ in range(STEPS):
        gradients.append({})
        for n, p in parameters.items():
            p.grad = random(p.shape, p.dtype, generator)
            gradients[-1][n] = numbers(p.grad)
        for optimizer in optimizers:
            optimizer.step()
    state = {}
    for n, p in parameters.items():
        for optimizer in optimizers:
            for key, value in optimizer.state.get(p, {}).items():
                if key != "step" and value is not None:
                    state[f"{key}.{n}"] = numbers(value)
    if name == "momentum" and not options["momentum"]:
        state = {}  # none is kept
    hypers = dict(options)
    hypers["beta1"], hypers["beta2"] = hypers.pop("betas", (None, None))
    return {
        "optimizer": name,
        "hyperparameters": {
            k: float(v) for k, v in hypers.items() if v is not None
        },
        "start": start,
        "gradients": gradients,
        "end": {n: numbers(p) for n, p in parameters.items()},
        "state": state,
    }


def main(folder):
    torch.manual_seed(3)
    module = Parameters().train()
    program = torch.export.export(module, (torch.ones(()),))
    torch.export.save(program, folder + "/parameters.pt2")
    generator = torch.Generator().manual_seed(4)
    cases = [steps(name, options, generator) for name, options in CASES]
    with open(folder + "/steps.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


main(sys.argv[1] if len(sys.argv) > 1 else ".")
