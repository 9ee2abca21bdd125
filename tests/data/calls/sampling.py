# What generators share that propose many calls of each operator and keep a
# few: those that PyTorch computes, drawn at random.
import random

import recorder
import torch

inf, nan = float("inf"), float("nan")
floats = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
wide = floats[2:]
integers = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
everything = (floats + integers + [torch.bool, torch.complex64,
                                   torch.complex128])
torch.manual_seed(0)
calls = {}


def call(op, *args, **kwargs):
    calls.setdefault(op, []).append((args, kwargs))


def flat(out):
    if isinstance(out, (list, tuple)):
        return [t for part in out for t in flat(part)]
    return [out]


def written(op, args):
    """The tensors that the call wrote, by their place among all tensors."""
    found, place = {}, 0
    for formal, actual in zip(op._schema.arguments, args):
        for t in flat(actual):
            if not isinstance(t, torch.Tensor):
                continue
            if formal.alias_info is not None and formal.alias_info.is_write:
                found[place] = t
            place += 1
    return found


def numbers(dtype, *shape):
    if dtype == torch.bool:
        return torch.rand(shape) < 0.5
    if dtype in integers:
        low = 1 if dtype == torch.uint8 else -4
        return torch.randint(low, 5, shape).to(dtype)
    if dtype.is_complex:
        return torch.randn(shape, dtype=torch.complex128).to(dtype)
    return torch.randn(shape).to(dtype)


def write(name, most=4):
    random.seed(0)
    for op, made in calls.items():
        random.shuffle(made)
        kept = 0
        for args, kwargs in made:
            if kept == most:
                break
            given = recorder.encoded(args)
            try:
                out = op(*args, **kwargs)
            except (RuntimeError, IndexError):
                continue  # not for this dtype
            out = flat(out) if op._schema.returns else []
            kept += 1
            recorder.record(op, given, kwargs, out, written(op, args))
    recorder.write(name)
