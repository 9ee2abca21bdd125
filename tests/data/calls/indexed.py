# Writes indexed.jsonl and indexed.bin beside itself (PyTorch 2.14.1): calls of
# operators that write at indices, of lookups in bags, segments and histograms,
# and of their gradients.
import random

import torch
from sampling import call, everything, floats, inf, integers, numbers, wide
from sampling import write

aten = torch.ops.aten
modes = ["sum", "prod", "mean", "amax", "amin"]


def places(size, *shape, negative=False):
    return torch.randint(-size if negative else 0, size, shape)


for d in everything:
    for shape in [(5,), (4, 3), (2, 5, 3), (1, 1), ()]:
        rank, n = len(shape), 6
        x = numbers(d, *shape)
        for dim in range(max(rank, 1)):
            size = shape[dim] if rank else 1
            # Smaller than x in other dims, longer along this one.
            inner = [max(s - (k % 2), 1) for k, s in enumerate(shape)]
            if rank:
                inner[dim] = n
            at = places(size, *inner)
            src = numbers(d, *[s + 1 for s in inner])
            call(aten.scatter_add.default, x, dim, at, src)
            for mode in modes:
                call(aten.scatter_reduce.two, x, dim, at, src, mode,
                     include_self=random.random() < 0.5)
            for mode in ("add", "multiply"):
                call(aten.scatter.reduce, x, dim, at, src, reduce=mode)
                call(aten.scatter.value_reduce, x, dim, at, 2, reduce=mode)
            once = torch.arange(size).expand(inner[:dim] + [1] +
                                             inner[dim + 1:] + [size]) \
                .transpose(dim, -1).squeeze(-1) if rank else torch.tensor(0)
            call(aten.scatter.src, x, dim, once, numbers(d, *once.shape))
            call(aten.scatter.value, x, dim, at, 3)
            grad = numbers(d, *at.shape)
            call(aten.gather_backward.default, grad, x, dim, at, False)
            line = places(size, n)
            rows = list(shape)
            if rank:
                rows[dim] = n
                many = numbers(d, *rows)
                call(aten.index_add.default, x, dim, line, many, alpha=2)
                call(aten.index_add.default, x, dim, line.int(), many)
                call(aten.index_copy.default, x, dim, torch.randperm(size),
                     numbers(d, *shape))
                for mode in modes[1:]:
                    call(aten.index_reduce.default, x, dim, line, many, mode,
                         include_self=random.random() < 0.5)
                call(aten.index_fill.int_Scalar, x, dim, line - size * (line % 2),
                     4)
                call(aten.index_fill.int_Tensor, x, dim, line, numbers(d))
                call(aten.index_select_backward.default, many, list(shape), dim,
                     line)
        count = x.numel()
        call(aten.put.default, x, places(count, 7, negative=True),
             numbers(d, 7), True)
    x = numbers(d, 4, 3, 5)
    i, j = places(4, 2, 3, negative=True), places(5, 3, negative=True)
    k = places(3, 2, 1)
    for index, shape in [([i], (2, 3, 3, 5)), ([None, k], (4, 2, 1, 5)),
                         ([i, None, j], (2, 3, 3)), ([i, k], (2, 3, 5)),
                         ([None, None, j], (4, 3, 3)), ([i, k, j], (2, 3))]:
        call(aten.index_put.default, x, index, numbers(d, *shape), True)
        call(aten.index_put.default, x, index, numbers(d, 1), False)
        call(aten.index_put.default, x, index, numbers(d), True)
        call(aten._unsafe_index_put.default, x, index, numbers(d, shape[-1]),
             True)
        mask = torch.rand(torch.broadcast_shapes(
            *[t.shape for t in index if t is not None])) < 0.5
        if None not in index and len(index) == 3:
            call(aten._unsafe_masked_index_put_accumulate.default, x, mask,
                 index, numbers(d, *shape))
    call(aten.as_strided_scatter.default, numbers(d, 12), numbers(d, 2, 3),
         [2, 3], [5, 2], 1)
    for mask in (torch.rand(3, 4) < 0.5, torch.rand(4) < 0.5):
        call(aten.masked_scatter.default, numbers(d, 3, 4), mask,
             numbers(d, 5, 3))
        call(aten.masked_scatter_backward.default, numbers(d, 3, 4), mask,
             [7, 2])
    call(aten.nonzero_static.default, numbers(d, 3, 4), size=5, fill_value=-1)
    call(aten.nonzero_static.default, numbers(d, 5), size=9)

# Lookups.
for d in floats:
    for padding in (-1, 2):
        for shape in [(7,), (2, 3), ()]:
            i = places(5, *shape)
            for often in (False, True):
                call(aten.embedding_dense_backward.default,
                     numbers(d, *shape, 3), i, 5, padding, often)
    for n, starts in [(6, [0, 2, 2, 5]), (5, [0]), (4, [0, 0, 4]), (0, [0, 0])]:
        for mode in (0, 1, 2):
            for last in (False, True):
                w, i, o = numbers(d, 5, 3), places(5, n), torch.tensor(starts)
                if last:
                    o = torch.cat([o, torch.tensor([n])])
                own = numbers(d, n) if mode == 0 and n % 2 else None
                padding = random.choice([-1, 3])
                out, bag, sizes, most = aten._embedding_bag_forward_only.default(
                    w, i, o, False, mode, False, own, last, padding)
                call(aten._embedding_bag.default, w, i, o, False, mode, False,
                     own, last, padding)
                if mode or not last:
                    call(aten.embedding_bag.padding_idx, w, i, o, False, mode,
                         False, own, last, padding if padding >= 0 else None)
                if last or n == 0:
                    continue
                out, bag, sizes, most = aten._embedding_bag.default(
                    w, i, o, False, mode, False, own, last, padding)
                for often in (False, True):
                    call(aten._embedding_bag_dense_backward.default,
                         numbers(d, *out.shape), i, bag, sizes, most, 5, often,
                         mode, own, padding)
                if bag.numel() == n:
                    call(aten._embedding_bag_per_sample_weights_backward
                         .default, numbers(d, *out.shape), w, i, o, bag, mode,
                         padding)

# Segments and bins.
for d in floats:
    for shape in [(6,), (6, 3)]:
        x = numbers(d, *shape)
        for mode in ("max", "min", "mean", "sum", "prod"):
            for start in (None, 1):
                lengths, bounds = torch.tensor([2, 0, 4]), torch.tensor([0, 2,
                                                                         2, 6])
                call(aten.segment_reduce.default, x, mode, lengths=lengths,
                     initial=start)
                call(aten.segment_reduce.default, x, mode, offsets=bounds,
                     initial=start)
                if start is None and mode != "sum":
                    continue
                y = aten.segment_reduce.default(x, mode, lengths=lengths,
                                                initial=start)
                call(aten._segment_reduce_backward.default, numbers(d, *y.shape),
                     y, x, mode, lengths=lengths, initial=start)
    for n in (0, 1, 20):
        x = numbers(d, n)
        call(aten.histc.default, x, 4, -1, 1)
        call(aten.histc.default, x, 7)
        call(aten.histogram.bin_ct, x, 5)
        call(aten.histogram.bin_ct, x, 3, range=[-1, 1], density=True)
        call(aten.histogram.bins_tensor, x,
             torch.tensor([-1, -0.5, 0.25, 2]).to(d),
             weight=numbers(d, n).abs())
        call(aten.histogram.bins_tensor, x, torch.tensor([-inf, 0, inf]).to(d))
    call(aten._histogramdd_from_bin_cts.default, numbers(d, 9, 2), [3, 4])

# Sorted lines, short and long.
for d in everything[:-2]:
    for shape in [(7,), (90,), (3, 70), (2, 5, 3), ()]:
        x = numbers(d, *shape)
        if d in floats and shape and shape[0] != 7:
            x.reshape(-1)[torch.randint(0, x.numel(), (2,))] = float("nan")
        tests = numbers(d, 80)
        call(aten.isin.Tensor_Tensor, x, tests)
        call(aten.isin.Tensor_Tensor, x, numbers(d, 3), invert=True)
        if d == torch.bool:
            continue
        for dim in range(max(len(shape), 1)):
            # Ties of medians are PyTorch's choice; the position is not.
            order = torch.randperm(210)[:x.numel()].reshape(shape).to(d) \
                if d in wide else None
            if order is not None:
                call(aten.median.dim, order, dim, random.random() < 0.5)
                call(aten.nanmedian.dim, order, dim)
                call(aten.mode.default, order, dim, random.random() < 0.5)
            # Where the mode of a long line stands is PyTorch's choice, too.
            if not shape or shape[dim] <= 16:
                call(aten.mode.default, numbers(d, *shape), dim)
        call(aten.median.default, x)
        call(aten.nanmedian.default, x)

# Unpooling.
for d in floats + integers:
    x = numbers(d, 2, 3, 2, 2)
    at = torch.stack([torch.randperm(16)[:4] for _ in range(6)])
    call(aten.max_unpool2d.default, x, at.reshape(2, 3, 2, 2), [4, 4])
    at = torch.stack([torch.randperm(64)[:8] for _ in range(2)])
    call(aten.max_unpool3d.default, numbers(d, 1, 2, 2, 2, 2),
         at.reshape(1, 2, 2, 2, 2), [4, 4, 4], [2, 2, 2], [0, 0, 0])
for d in wide:
    x = numbers(d, 2, 3, 6, 6)
    y, at = aten.fractional_max_pool2d.default(x, [2, 2], [3, 4],
                                               torch.rand(2, 3, 2, dtype=d))
    call(aten.fractional_max_pool2d_backward.default, numbers(d, *y.shape), x,
         [2, 2], [3, 4], at)

write("indexed", most=6)
