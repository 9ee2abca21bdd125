# Writes seldom.jsonl and seldom.bin beside itself (PyTorch 2.14.1): calls of
# operators that few programs have: gradients of scans and cells, learned
# quantization, loss scaling, older forms.
import random

import torch
from sampling import call, everything, floats, inf, nan, numbers, wide, write

aten = torch.ops.aten

# Scans.
for d in floats + everything[-2:]:
    for shape in [(5,), (3, 4), (2, 3, 2), (1,), ()]:
        for dim in range(max(len(shape), 1)):
            x = numbers(d, *shape)
            for zeros in (0, 1, 2):
                y = x.clone()
                for _ in range(zeros if shape else 0):
                    y.reshape(-1)[random.randrange(y.numel())] = 0
                call(aten.cumprod_backward.default, numbers(d, *shape), y, dim,
                     y.cumprod(dim))
            if not d.is_complex and shape:
                for op in (torch.cummax, torch.cummin):
                    at = op(x, dim).indices
                    call(aten.cummaxmin_backward.default, numbers(d, *shape), x,
                         at, dim)

# Activations, convolution, images.
for d in floats:
    x = numbers(d, 3, 6)
    call(aten.infinitely_differentiable_gelu_backward.default,
         numbers(d, 3, 6), x)
    for dim in (0, 1):
        x = numbers(d, 4, 6)
        y = torch.nn.functional.glu(x, dim)
        call(aten.glu_jvp.default, y, x, numbers(d, 4, 6), dim)
    for pad in (0, 1, 2):
        x, w = numbers(d, 6, 2, 3), numbers(d, 3, 3, 4)
        y = aten.conv_tbc.default(x.double(), w.double(), numbers(
            torch.float64, 4), pad)
        call(aten.conv_tbc_backward.default, numbers(d, *y.shape), x, w,
             numbers(d, 4), pad)
for d in wide:
    for to in [(4, 4), (9, 5), (6, 7)]:
        x = numbers(d, 2, 2, 6, 7)
        for corners in (False, True):
            call(aten._upsample_lanczos2d_aa.default, x, list(to), corners)
            call(aten._upsample_lanczos2d_aa.vec, x, list(to), corners, None)
            call(aten._upsample_lanczos2d_aa_backward.default,
                 numbers(d, 2, 2, *to), list(to), [2, 2, 6, 7], corners)

# Recurrent cells.
for d in wide:
    for bias in (True, False):
        n, h = 3, 4
        b = [numbers(d, 4 * h) if bias else None for _ in range(2)]
        gates = [numbers(d, n, 4 * h) for _ in range(2)]
        cx, cy = numbers(d, n, h), numbers(d, n, h)
        for grads in [(0, 1), (0,), (1,)]:
            g = [numbers(d, n, h) if k in grads else None for k in (0, 1)]
            call(aten._thnn_differentiable_lstm_cell_backward.default, *g,
                 *gates, *b, cx, cy)
        b = [numbers(d, 3 * h) if bias else None for _ in range(2)]
        gates = [numbers(d, n, 3 * h) for _ in range(2)]
        call(aten._thnn_differentiable_gru_cell_backward.default,
             numbers(d, n, h), *gates, cx, *b)

# Quantization.
for d in wide:
    x, g = numbers(d, 4, 5) * 4, numbers(d, 4, 5)
    for low, high, factor in [(-3, 6, 1.0), (0, 15, 0.5)]:
        one = [torch.tensor([0.5]).to(d), torch.tensor([1.3]).to(d)]
        call(aten._fake_quantize_learnable_per_tensor_affine.default, x, *one,
             low, high, factor)
        call(aten._fake_quantize_learnable_per_tensor_affine_backward.default,
             g, x, *one, low, high, factor)
        for axis in (0, 1):
            n = x.shape[axis]
            each = [(torch.rand(n) + 0.25).to(d), (torch.rand(n) * 9 - 4).to(d)]
            call(aten._fake_quantize_learnable_per_channel_affine.default, x,
                 *each, axis, low, high, factor)
            call(aten._fake_quantize_learnable_per_channel_affine_backward
                 .default, g, x, *each, axis, low, high, factor)
        for on in (0, 1):
            call(aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams
                 .default, x.float(), torch.tensor([0.3]),
                 torch.tensor([1], dtype=torch.int32), torch.tensor([on]), low,
                 high)
for d in floats[1:3]:
    call(aten._weight_int8pack_mm.default, numbers(d, 5, 32),
         torch.randint(-128, 128, (16, 32)).to(torch.int8), numbers(d, 16))

# Loss scaling.
for bad in (None, inf, nan):
    for found in (0.0, 1.0):
        x = [torch.randn(3), torch.randn(2, 2), torch.randn(())]
        if bad:
            x[1][1, 0] = bad
        call(aten._amp_foreach_non_finite_check_and_unscale.default, x,
             torch.tensor([found]), torch.tensor([0.25]))
        call(aten._amp_update_scale.default, torch.tensor([3e38 if bad else 8.0]),
             torch.tensor([random.randrange(3)], dtype=torch.int32),
             torch.tensor([found]), 2.0, 0.5, 3)
        call(aten._amp_foreach_non_finite_check_and_unscale_.default,
             [t.clone() for t in x], torch.tensor([found]), torch.tensor([0.5]))
        call(aten._amp_update_scale_.default, torch.tensor([4.0]),
             torch.tensor([random.randrange(3)], dtype=torch.int32),
             torch.tensor([found]), 2.0, 0.5, 3)

# Norms that write their statistics.
for d in wide:
    for shape in [(4, 3), (2, 3, 5), (2, 3, 2, 4)]:
        w, b, m = numbers(d, 3), numbers(d, 3), numbers(d, 3)
        for training in (False, True):
            call(aten._native_batch_norm_legit.default, numbers(d, *shape), w,
                 b, m.clone(), numbers(d, 3).abs(), training, 0.1, 1e-5)
        call(aten._batch_norm_with_update.default, numbers(d, *shape), w, b,
             m.clone(), numbers(d, 3).abs(), 0.2, 1e-3)

# Older forms.
for d in everything:
    for mode, pad in [(3, [1, 2]), (0, [1, 1, 2, 0]), (1, [3, 0]), (2, [2, 1])]:
        call(aten._pad_enum.default, numbers(d, 2, 3, 4, 5), pad, mode,
             1.5 if mode == 3 and d in floats else None)
    x = numbers(d, 3, 4)
    call(aten.nonzero_numpy.default, x)
    call(aten.where.default, numbers(d, 2, 3, 2))
    call(aten.resize.default, x, [2, 5])
    call(aten.resize_as.default, x, numbers(d, 6))
    call(aten.set.source_Tensor, x, numbers(d, 2, 2))
    call(aten.set.default, x)
    call(aten.unflatten_dense_tensors.default, numbers(d, 11),
         [numbers(d, 2, 3), numbers(d), numbers(d, 4)])
for d in wide:
    x = numbers(d, 9, 2)
    call(aten.histogramdd.int_bins, x, 3)
    call(aten.histogramdd.int_bins, x, 4, density=True)
    call(aten.histogramdd.default, x, [3, 2], range=[-1, 1, 0, 2],
         weight=numbers(d, 9).abs())
    call(aten.histogramdd.TensorList_bins, x,
         [torch.tensor([-1, 0, 2]).to(d), torch.tensor([-2, 0.5, 1, 3]).to(d)])
for d in floats:
    call(aten._transform_bias_rescale_qkv.default, numbers(d, 2, 5, 24),
         numbers(d, 24), 2)

write("seldom", most=6)
