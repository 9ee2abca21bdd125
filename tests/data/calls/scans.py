# Writes scans.jsonl and scans.bin beside itself (PyTorch 2.14.1): running
# totals, products of segments with zeros and NaN, and writes through masks that
# stand beside index tensors.
import torch
from sampling import call, everything, floats, inf, nan, numbers, wide, write

aten = torch.ops.aten

for d in everything:
    for shape in [(7,), (3, 140), (2, 5, 3), (0, 4), (1,), ()]:
        x = numbers(d, *shape)
        if d in floats and x.numel() > 20:
            x.reshape(-1)[torch.randint(0, x.numel(), (3,))] = \
                torch.tensor([nan, inf, -inf]).to(d)
        for dim in range(max(len(shape), 1)):
            call(aten.cumsum.default, x, dim)
            call(aten.cumprod.default, numbers(d, *shape), dim)
            if not d.is_complex:
                call(aten.cummax.default, x, dim)
                call(aten.cummin.default, x, dim)
            if d in floats:
                call(aten.logcumsumexp.default, x, dim)

for d in wide:
    for shape in [(6,), (6, 2)]:
        x = numbers(d, *shape)
        for special in ([], [0.0], [0.0, 0.0], [nan], [nan, 0.0]):
            z = x.clone()
            for i, value in enumerate(special):
                z[3 + i] = value
            lengths = torch.tensor([2, 0, 4])
            y = aten.segment_reduce.default(z, "prod", lengths=lengths)
            call(aten._segment_reduce_backward.default, numbers(d, *y.shape), y,
                 z, "prod", lengths=lengths)

for d in everything:
    x = numbers(d, 3, 4, 2)
    row = torch.tensor([True, False, True])
    both = torch.zeros(3, 4, dtype=torch.bool)
    both[0, 1] = both[2, 3] = True
    one = torch.tensor([False, True, False])
    i, k = torch.tensor([3, 1]), torch.tensor([-1])
    for index, shapes in [
            ([row, i], [(2, 2), (2,), ()]), ([row, k], [(2, 2), (1, 2), ()]),
            ([one, i], [(2, 2), (1,)]), ([both, torch.tensor([1, 0])], [(2,)]),
            ([row, None, torch.tensor([1, 0])], [(2, 4), (4,)]),
            ([both, k], [(2,), (1,)]), ([row, torch.tensor(2)], [(2, 2), ()]),
            ([None, torch.tensor([True, False, True, True]),
              torch.tensor([1, 0, 1])], [(3, 3), ()]),
            ([row, torch.tensor([False, True, True, False])], [(2, 2), ()])]:
        for shape in shapes:
            for add in (False, True):
                call(aten.index_put.default, x, index, numbers(d, *shape), add)

write("scans", most=40)
