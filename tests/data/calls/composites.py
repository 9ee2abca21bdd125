# Writes composites.jsonl and composites.bin beside itself (PyTorch 2.14.1):
# calls of operators on lists, of losses, distances and statistics, and of
# their gradients, a few of each.
import random

import torch
from sampling import call, everything, floats, inf, integers, nan, numbers
from sampling import wide, write

aten = torch.ops.aten
# Lists.
for d in everything:
    a, b, c = ([numbers(d, *s) for s in [(3, 2), (4,), (), (0,)]]
               for _ in range(3))
    for name in ["add", "sub", "mul", "div"]:
        op = getattr(aten, "_foreach_" + name)
        call(op.List, a, b)
        call(op.Scalar, a, 1.5)
        call(op.ScalarList, a, [1, 2.5, 3, True])
        if name != "sub":
            call(op.Tensor, a, numbers(d))
    call(aten._foreach_add.List, a, b, alpha=2)
    for name in ["addcdiv", "addcmul"]:
        op = getattr(aten, "_foreach_" + name)
        call(op.Scalar, a, b, c, 0.5)
        call(op.ScalarList, a, b, c, [1, 2.0, 0.25, 3])
        call(op.Tensor, a, b, c, torch.tensor([1, 2, 0.5, 3]).to(d))
    call(aten._foreach_lerp.List, a, b, c)
    call(aten._foreach_lerp.Scalar, a, b, 0.3)
    call(aten._foreach_lerp.ScalarList, a, b, [0.3, 0.7, 1.0, 2.0])
    call(aten._foreach_sqrt.default, a)

# Special functions.
edges = torch.tensor([0, -1, inf, nan, 1, 0, inf, 2, 0.5])
others = torch.tensor([0, 1, 2, 1, inf, 2, inf, 0, 1e-3])
for d in floats:
    for shape in [(60,), (), (0,), (3, 1)]:
        a = (torch.rand(shape) * 8).exp2()
        x = a * (1 + torch.randn(shape) / a.sqrt()).abs()
        for op in [aten.igamma, aten.igammac, aten.special_gammainc,
                   aten.special_gammaincc]:
            call(op.default, a.to(d), x.to(d))
            call(op.default, edges.to(d), others.to(d))

# Losses and their gradients.
for d in floats:
    for red in range(3):
        for shape in [(5, 4), (4,), (1, 1)]:
            x = numbers(d, *shape)
            t = torch.randint(0, shape[-1], shape[:-1])
            for p in (1, 2):
                for w in (None, torch.rand(shape[-1]).to(d)):
                    g = numbers(d, *(shape[:-1] if red == 0 else ()))
                    call(aten.multi_margin_loss_backward.default, g, x, t, p,
                         0.7, w, red)
            t = torch.randint(-1, shape[-1], shape)
            out, listed = aten.multilabel_margin_loss_forward.default(
                x.float(), t, red)
            call(aten.multilabel_margin_loss_backward.default,
                 numbers(d, *out.shape), x, t, red, listed.to(d))
for d in wide:
    for steps, batch, classes, most in [(7, 3, 5, 3), (4, 1, 3, 2),
                                        (1, 1, 2, 1), (6, 2, 4, 1)]:
        x = torch.randn(steps, batch, classes, dtype=d).log_softmax(2)
        ins = [max(steps - 1, 1)] + [steps] * (batch - 1)
        for sizes in [[most] * batch, [most - 1] + [most] * (batch - 1)]:
            for t in [torch.randint(1, classes, (batch, most)),
                      torch.randint(1, classes, (sum(sizes),))]:
                loss, alpha = aten._ctc_loss.default(x, t, ins, sizes)
                for zero in (False, True):
                    call(aten._ctc_loss_backward.default,
                         torch.randn(batch, dtype=d), x, t, ins, sizes, loss,
                         alpha, 0, zero)
                    call(aten.ctc_loss.IntList, x, t, ins, sizes, 0,
                         random.randint(0, 2), zero)
                    call(aten.ctc_loss.Tensor, x, t, torch.tensor(ins),
                         torch.tensor(sizes), 0, random.randint(0, 2), zero)

# Distances and attention.
for d in wide:
    for p in (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, inf):
        for s, t in [((4, 3), (5, 3)), ((2, 4, 3), (2, 5, 3)),
                     ((1, 1), (1, 1))]:
            a, b = numbers(d, *s), numbers(d, *t)
            b.reshape(-1)[0] = a.reshape(-1)[0]
            y = aten._cdist_forward.default(a, b, p, None)
            call(aten._cdist_backward.default, numbers(d, *y.shape), a, b, p, y)
        for s in [(5, 3), (2, 3)]:
            x = numbers(d, *s)
            y = aten._pdist_forward.default(x, p)
            call(aten._pdist_backward.default, numbers(d, *y.shape), x, p, y)
for d in floats:
    for b, h, l, s, e in [(2, 2, 5, 7, 4), (1, 1, 1, 1, 1), (1, 2, 3, 3, 8)]:
        q, k, v = (numbers(d, b, h, n, e) for n in (l, s, s))
        for causal, mask in [(False, None), (True, None),
                             (False, numbers(d, l, s)),
                             (False, numbers(d, b, 1, l, s))]:
            y, lse = aten._scaled_dot_product_flash_attention_for_cpu.default(
                q, k, v, 0.0, causal, attn_mask=mask)
            call(aten._scaled_dot_product_flash_attention_for_cpu_backward
                 .default, numbers(d, b, h, l, e), q, k, v, y, lse, 0.0, causal,
                 attn_mask=mask)

# Quantiles.
modes = ["linear", "lower", "higher", "midpoint", "nearest"]
holes = torch.tensor([[1, nan, 3, 2, 7.0], [nan] * 5, [inf, -inf, 0, 1, inf]])
for d in wide:
    for x in [numbers(d, 7), numbers(d, 1), numbers(d), numbers(d, 2, 3, 5),
              holes.to(d), torch.arange(11, dtype=d)]:
        for q in [0.1, 0.7, torch.tensor(0.6, dtype=d),
                  torch.tensor([0, 0.25, 1], dtype=d)]:
            for dim in [None] + list(range(x.dim())):
                for op in (aten.quantile, aten.nanquantile):
                    form = op.scalar if isinstance(q, float) else op.default
                    call(form, x, q, dim, random.random() < 0.5,
                         interpolation=random.choice(modes))

# Integrals, differences, covariances.
for d in everything:
    for shape in [(6,), (1,), (0,), (3, 4), (2, 3, 5)]:
        y = numbers(d, *shape)
        for dim in range(-1, len(shape)):
            call(aten.trapezoid.dx, y, dx=0.5, dim=dim)
            call(aten.trapz.dx, y, dx=2.0, dim=dim)
            call(aten.cumulative_trapezoid.dx, y, dx=3, dim=dim)
            for s in ((shape[dim],), shape):
                for op in (aten.trapezoid, aten.trapz,
                           aten.cumulative_trapezoid):
                    call(op.x, y, numbers(d, *s), dim=dim)
    for shape in [(6,), (), (3, 4), (1, 5), (3, 1)]:
        x = numbers(d, *shape)
        n = shape[-1] if shape else 1
        real = torch.float64 if d == torch.complex128 else d
        repeats = torch.randint(1, 4, (n,))
        call(aten.cov.default, x)
        call(aten.cov.default, x, correction=0, fweights=repeats)
        if real in wide:
            call(aten.cov.default, x, correction=2, fweights=repeats,
                 aweights=torch.rand(n, dtype=real))
        call(aten.corrcoef.default, x)
    if d == torch.bool:
        continue
    for shape in [(6,), (3,), (4, 5), (3, 4, 3)]:
        x, rank = numbers(d, *shape), len(shape)
        for order in (1, 2):
            every = {"edge_order": order}
            call(aten.gradient.scalarint, x, spacing=0.5, **every)
            call(aten.gradient.scalarint, x, dim=rank - 1, **every)
            call(aten.gradient.array, x, dim=[0], **every)
            call(aten.gradient.scalararray, x, spacing=3.0, dim=[rank - 1],
                 **every)
            call(aten.gradient.scalarrayint, x, spacing=[2.0], dim=0, **every)
            call(aten.gradient.scalarrayarray, x, spacing=[2.0] * rank,
                 dim=list(range(rank)), **every)
            if d in integers + floats[:2]:
                continue
            real = torch.float64 if d in (floats[3], everything[-1]) \
                else torch.float32
            points = [torch.rand(n, dtype=real).add(0.5).cumsum(0)
                      for n in shape]
            call(aten.gradient.tensorarrayint, x, spacing=points, **every)
            call(aten.gradient.tensorarray, x, spacing=points,
                 dim=list(range(rank)), **every)

# Products of all with all, tables.
for d in everything:
    for s, t in [((2, 3), (3, 2)), ((), ()), ((3,), (2, 2)), ((2, 1, 3), (2,)),
                 ((0, 2), (3,))]:
        call(aten.kron.default, numbers(d, *s), numbers(d, *t))
    for n in (0, 1, 2, 5):
        x = numbers(d, n)
        call(aten.vander.default, x)
        call(aten.vander.default, x, 4, True)
        call(aten.linalg_vander.default, x, N=3)
        for r in (1, 2, 3):
            call(aten.combinations.default, x, r, random.random() < 0.5)
    for sizes in [(3,), (2, 3), (2, 1, 4), (0, 2)]:
        call(aten.cartesian_prod.default, [numbers(d, n) for n in sizes])
for s, t in [((17, 8), (8, 8)), ((32, 16), (16, 24)), ((20, 8), (8, 16))]:
    call(aten._int_mm.default, torch.randint(-128, 128, s).to(torch.int8),
         torch.randint(-128, 128, t).to(torch.int8))
for d in floats:
    for n in (0, 1, 2, 12):
        call(aten.kaiser_window.default, n, dtype=d)
        call(aten.kaiser_window.periodic, n, False, dtype=d)
        call(aten.kaiser_window.beta, n, True, 8.6, dtype=d)
    for size in [(2, 3, 4, 5), (1, 1, 1, 1), (2, 1, 3, 4, 2), (0, 3, 4, 4)]:
        rank = len(size) - 2
        call(aten.affine_grid_generator.default,
             numbers(d, size[0], rank, rank + 1), list(size),
             random.random() < 0.5)
    for pad in (0, 2):
        call(aten.conv_tbc.default, numbers(d, 6, 2, 3), numbers(d, 3, 3, 5),
             numbers(d, 5), pad)

# Norms and softmax.
for d in floats:
    for shape in [(3, 4), (2, 3, 4), (1, 1)]:
        for dim in (0, len(shape) - 1):
            x = numbers(d, *shape)
            g = numbers(d, *(n if i == dim else 1 for i, n in enumerate(shape)))
            call(aten._weight_norm.default, x, g, dim)
            if d in wide:
                call(aten._weight_norm_interface.default, x, g, dim)
    x = numbers(d, 2, 3, 4, 4)
    for mask, kind in [((4, 4), 0), ((2, 4), 1), ((2, 3, 4, 4), 2)]:
        call(aten._masked_softmax.default, x, torch.rand(mask) < 0.4, 3, kind)
    for p in (1.0, 2.0, inf):
        w = numbers(d, 6, 3)
        for i in ([1, 1, 4, 0], [], [5]):
            call(aten.embedding_renorm.default, w,
                 torch.tensor(i, dtype=torch.int64), 0.8, p)

# Forms of one operator, gradients of selections.
for d in everything:
    x, v, m = numbers(d, 3, 4), numbers(d, 5), torch.rand(3, 4) < 0.5
    for name in ["abs", "ceil", "erf", "exp", "lgamma", "neg", "reciprocal",
                 "round", "sign", "trunc"]:
        call(getattr(aten, "_foreach_" + name).default,
             [x, v, numbers(d), numbers(d, 0)])
    for name in ["clamp_max", "minimum", "pow"]:
        op = getattr(aten, "_foreach_" + name)
        y = [numbers(d, 3, 4), numbers(d, 5)]
        if name == "pow" and d in integers:
            y = [t.abs() for t in y]
        call(op.List, [x, v], y)
        call(op.Scalar, [x, v], 2)
        call(op.ScalarList, [x, v], [1, 2.0])
    call(aten._foreach_pow.ScalarAndTensor, 2.5, [x])
    call(aten._foreach_clone.default, [x, v])
    call(aten._foreach_zero.default, [x, v])
    call(aten._foreach_max.default, [x, v, numbers(d)])
    call(aten._foreach_norm.Scalar, [x, v, numbers(d, 0)], 2)
    call(aten._foreach_mm.default, [x, numbers(d, 2, 3)],
         [numbers(d, 4, 2), numbers(d, 3, 1)])
    call(aten._reshape_alias_copy.default, x, [2, 6], [6, 1])
    call(aten.matrix_H.default, x)
    call(aten.slice_copy.Tensor, x, 1, 1, 4, 2)
    call(aten.select_copy.int, x, 1, -1)
    call(aten.split_copy.Tensor, x, 2, 1)
    call(aten.native_channel_shuffle.default, numbers(d, 2, 6, 3, 2), 3)
    call(aten._cast_Short.default, x)
    call(aten._stack.default, [x, x], 1)
    for k in (-2, 0, 1):
        call(aten.diag.default, v, k)
        call(aten.diag.default, x, k)
        call(aten.diagflat.default, x, k)
    call(aten.flatten_dense_tensors.default, [x, v, numbers(d), numbers(d, 0)])
    call(aten._aminmax.dim, x, 1)
    call(aten._is_all_true.default, x)
    call(aten._unsafe_index_put.default, x, [torch.tensor([0, 2, 0])],
         numbers(d, 3, 4), True)
    call(aten._add_relu.Tensor, x, numbers(d, 4), alpha=2)
    call(aten.masked_select_backward.default, numbers(d, int(m.sum())), x, m)
    call(aten.masked_scatter_backward.default, x, m, [5, 3])
    call(aten.norm_except_dim.default, numbers(d, 2, 3, 4), 2, -1)
for d in floats:
    call(aten.embedding_backward.default, numbers(d, 4, 3),
         torch.tensor([0, 2, 0, 4]), 5, 2, True, False)
    for op in (aten._batch_norm_no_update,
               aten._batch_norm_with_update_functional):
        call(op.default, numbers(d, 2, 3, 4), numbers(d, 3), numbers(d, 3),
             numbers(d, 3), numbers(d, 3).abs(), 0.1, 1e-5)
    x, w, b = numbers(d, 2, 4, 7, 7), numbers(d, 6, 4, 3, 3), numbers(d, 6)
    three = [3, 3]
    call(aten._convolution.deprecated, x, w, b, [1, 2], [1, 0], [1, 1], False,
         [0, 0], 1, False, False, True)
    call(aten._convolution_mode.default, x, w, b, [1, 1], "same", [1, 1], 1)
    call(aten.thnn_conv2d.default, x, w, three, b, [2, 1], [0, 1])
    call(aten.slow_conv_dilated2d.default, x, w, three, b, [1, 2], [1, 0],
         [2, 1])
    call(aten.slow_conv_transpose2d.default, x, numbers(d, 4, 6, 3, 3), three,
         b, [1, 2], [1, 0], [0, 1], [2, 2])
    call(aten.mkldnn_convolution.default, x, w, b, [1, 1], [1, 2], [1, 1], 1)
    for dim in (0, 2):
        x = numbers(d, 2, 3, 4)
        g = numbers(d, *(n if i == dim else 1 for i, n in enumerate(x.shape)))
        n = aten._weight_norm_interface.default(x, g, dim)[1]
        call(aten._weight_norm_interface_backward.default, numbers(d, 2, 3, 4),
             x, g, n, dim)
    m = torch.rand(2, 3, 4) < 0.4
    y = aten._masked_softmax.default(x, m, 2, 2).nan_to_num()
    call(aten._masked_softmax_backward.default, numbers(d, 2, 3, 4), y, m, 2)
    for size in [(2, 3, 4, 5), (1, 1, 1, 1), (2, 1, 3, 4, 2)]:
        call(aten.affine_grid_generator_backward.default,
             numbers(d, size[0], *size[2:], len(size) - 2), list(size),
             random.random() < 0.5)

# Optimizer steps, simulated quantization.
shapes = [(3, 2), (4,), (), (0,)]


def parameters(d, positive=False):
    made = [numbers(d, *s) for s in shapes]
    return [t.abs() for t in made] if positive else made


for d in floats:
    for decay, back, lr in [(0.0, False, 0.01), (0.1, True, 0.01),
                            (0.1, False, torch.tensor(0.02))]:
        every = {"lr": lr, "weight_decay": decay, "maximize": back}
        form = "default" if isinstance(lr, float) else "tensor_lr"
        steps = [torch.tensor(i + 1.0) for i in range(4)]
        for op in (aten._fused_adam, aten._fused_adamw):
            for most in ([], parameters(d, True)):
                call(getattr(op, form), parameters(d), parameters(d),
                     parameters(d), parameters(d, True), most, steps,
                     beta1=0.9, beta2=0.99, eps=1e-6, amsgrad=bool(most),
                     **every)
        for momentum, ahead, first in [(0.0, False, False), (0.9, False, True),
                                       (0.9, True, False)]:
            call(getattr(aten._fused_sgd, form), parameters(d), parameters(d),
                 parameters(d) if momentum else [], momentum=momentum,
                 dampening=0.0 if ahead else 0.1, nesterov=ahead,
                 is_first_step=first, **every)
        call(getattr(aten._fused_adagrad, form), parameters(d), parameters(d),
             parameters(d, True), steps, lr_decay=0.01, eps=1e-8, **every)
    x = numbers(d, 3, 4, 2) * 3
    for scale, zero, low, high in [(0.1, 0, -128, 127), (1.0, -3, -8, 7)]:
        call(aten.fake_quantize_per_tensor_affine.default, x, scale, zero, low,
             high)
        call(aten.fake_quantize_per_tensor_affine_cachemask.default, x, scale,
             zero, low, high)
        call(aten.fake_quantize_per_tensor_affine.tensor_qparams, x,
             torch.tensor([scale]), torch.tensor([zero], dtype=torch.int32),
             low, high)
        call(aten.fake_quantize_per_channel_affine.default, x,
             torch.rand(4) * 0.1 + 0.01,
             torch.randint(0, 5, (4,), dtype=torch.int32), 1, low, high)

# More gradients of selections; sequences; the nuclear norm.
for d in everything:
    call(aten.trace_backward.default, numbers(d), [3, 4])
    for s, dim in [((3, 4), 0), ((3, 4), 1), ((5,), 0)]:
        some, one = list(s), list(s)
        some[dim], one[dim] = 6, 1
        call(aten.gather_backward.default, numbers(d, *some), numbers(d, *s),
             dim, torch.randint(0, s[dim], some), False)
        call(aten.index_select_backward.default, numbers(d, *some), list(s),
             dim, torch.randint(0, s[dim], (6,)))
        call(aten.value_selecting_reduction_backward.default, numbers(d, *one),
             dim, torch.randint(0, s[dim], one), list(s), True)
    call(aten.gather_backward.default, numbers(d, 2, 3), numbers(d, 4, 5), 0,
         torch.randint(0, 4, (2, 3)), False)
    for s, t in [((2, 3, 4), (3, 1)), ((3, 4), (1, 1)), ((5,), ()),
                 ((0, 3), (3,))]:
        call(aten.sum_to_size.default, numbers(d, *s), list(t))
    for side in ("left", "right"):
        call(aten.pad_sequence.default,
             [numbers(d, 3, 2), numbers(d, 1, 2), numbers(d, 0, 2)],
             side == "left", 2.0, side)
    call(aten.nuclear_norm.default, numbers(d, 3, 4))
    call(aten.nuclear_norm.dim, numbers(d, 2, 3, 4), [2, 0], True)
    for p in (0, 1, 3):
        call(aten._foreach_powsum.Scalar, [numbers(d, 3, 2), numbers(d, 4)], p)
        call(aten.linalg__powsum.default, numbers(d, 3, 4), p, [1])

write("composites")
