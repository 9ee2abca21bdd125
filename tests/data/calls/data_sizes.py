# Writes data_sizes.jsonl and data_sizes.bin beside itself (PyTorch 2.14.1):
# calls whose results' sizes, or numbers, depend on data.
import torch
from recorder import encoded, record, write

aten = torch.ops.aten


def call(op, *args, **kwargs):
    out = op(*args, **kwargs)
    out = list(out) if isinstance(out, (list, tuple)) else [out]
    record(op, encoded(args), kwargs, out)


def numbers(dtype, *shape):
    t = torch.randint(-3, 4, shape)
    return t.abs().to(dtype) if dtype == torch.uint8 else t.to(dtype)


torch.manual_seed(0)
nan = float("nan")
real = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
        torch.int64, torch.float16, torch.bfloat16, torch.float32,
        torch.float64]
shapes = [(), (0,), (1,), (7,), (3, 5), (2, 1, 4), (3, 0, 2), (2, 3, 2, 3)]
special = torch.tensor([3.0, 1.0, nan, -0.0, 0.0, 1.0, nan, -1.5,
                        float("inf"), float("-inf"), 1e-45])
for dtype in real + [torch.complex64, torch.complex128]:
    for shape in shapes:
        x = numbers(dtype, *shape)
        call(aten.nonzero.default, x)
        call(aten.argwhere.default, x)
        call(aten.masked_select.default, x, torch.rand(shape) < 0.5)
        if not dtype.is_complex:
            call(aten._unique2.default, x, True, True, True)
            call(aten.unique_consecutive.default, x, True, True)
        for d in range(len(shape) if 0 not in shape and not dtype.is_complex
                       else 0):
            call(aten.unique_dim.default, x, d, True, True, True)
            call(aten.unique_consecutive.default, x, True, True, d)
            call(aten.unique_consecutive.default, x, False, False, d)
for dtype in [torch.float16, torch.bfloat16, torch.float32, torch.float64]:
    x = special.to(dtype)
    call(aten.nonzero.default, x)
    call(aten._unique2.default, x, True, True, True)
    call(aten._unique.default, x, False, True)
    call(aten.unique_consecutive.default, x, True, True)
    call(aten.equal.default, x, x.clone())
call(aten._unique2.default, torch.randint(-2**62, 2**62, (500,)), True, True,
     True)
call(aten._unique2.default, torch.randint(0, 40, (3000,)).float(), True, True,
     True)
# Broadcasting.
call(aten.masked_select.default, torch.randn(3, 1, 4), torch.rand(5, 1) < 0.5)
call(aten.masked_select.default, torch.randn(4), torch.rand(2, 3, 4) < 0.5)
# Masks among indices.
x = torch.randn(3, 4, 5, 2)
m34, m4 = torch.rand(3, 4) < 0.5, torch.tensor([True, False, True, True])
m0 = torch.tensor([], dtype=torch.bool)
call(aten.index.Tensor, x, [m34])
call(aten.index.Tensor, x, [None, m4])
call(aten.index.Tensor, x, [m34, None, torch.tensor([1])])
call(aten.index.Tensor, x, [None, m4.to(torch.uint8)])
call(aten.index.Tensor, x.to(torch.complex128), [x > 0])
call(aten.index.Tensor, torch.randn(0, 3), [m0])
# Counts.
for dtype in [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]:
    n = torch.tensor([1, 4, 0, 1, 9], dtype=dtype)
    call(aten.bincount.default, n)
    call(aten.bincount.default, n, torch.randn(5), 12)
    call(aten.bincount.default, n, torch.randn(5, dtype=torch.float64), 3)
    call(aten.bincount.default, n, torch.randint(0, 5, (5,)))
call(aten.bincount.default, torch.tensor([], dtype=torch.int64), None, 3)
for dtype in [torch.int32, torch.int64]:
    n = torch.tensor([2, 0, 3], dtype=dtype)
    call(aten.repeat_interleave.Tensor, n)
    call(aten.repeat_interleave.self_Tensor, torch.randn(3, 2), n, 0)
    call(aten.repeat_interleave.self_Tensor, torch.randn(2, 3, 2), n, 1)
    call(aten.repeat_interleave.self_Tensor, torch.randn(3), n)
    call(aten.repeat_interleave.self_Tensor, torch.randn(2, 2), n[:1], -1)
# Numbers.
for dtype in real:
    call(aten._local_scalar_dense.default, numbers(dtype, 1, 1))
    x = numbers(dtype, 3, 4)
    call(aten.equal.default, x, x.clone())
    call(aten.equal.default, x, numbers(dtype, 3, 4))
    call(aten.is_nonzero.default, numbers(dtype, 1))
y = torch.randn(3, 4)
call(aten.equal.default, y, torch.randn(4, 3))
call(aten.allclose.default, y, y + 1e-9)
call(aten.allclose.default, y, y + 1)
call(aten.allclose.default, special, special)
call(aten.allclose.default, special, special, 1e-5, 1e-8, True)
call(aten.allclose.default, torch.zeros(2, 1), torch.zeros(3))
call(aten.equal.default, torch.zeros(0), torch.zeros(0))
# Residuals are there or not.
for dtype in [torch.float32, torch.float64, torch.complex128]:
    for a, b in [((4, 3), (4, 2)), ((3, 4), (3, 2)), ((2, 4, 3), (2, 4, 2)),
                 ((4, 3), (4,)), ((2, 4, 3), (2, 4)), ((0, 3), (0, 2)),
                 ((3, 0), (3, 2)), ((1, 1), (1, 1))]:
        a, b = torch.randn(a, dtype=dtype), torch.randn(b, dtype=dtype)
        for driver in ["gels", "gelsy", "gelsd", "gelss"]:
            call(aten.linalg_lstsq.default, a, b, None, driver=driver)
        call(aten.linalg_lstsq.default, a, b, 1e-3)
# Rank 1: the smallest solution.
a = torch.ones(4, 3, dtype=torch.float64)
call(aten.linalg_lstsq.default, a, torch.randn(4, 2, dtype=torch.float64))
# These drivers have no residuals then; graphs do.
for dtype in [torch.float32, torch.float64, torch.complex128]:
    a = torch.randn(2, 6, 4, dtype=dtype)
    a[..., 3] = a[..., 0] - 2 * a[..., 1]
    b = torch.randn(2, 6, 3, dtype=dtype)
    for driver in ["gelsd", "gelss"]:
        out = list(aten.linalg_lstsq.default(a, b, 1e-4, driver=driver))
        out[1] = None
        record(aten.linalg_lstsq.default, encoded((a, b, 1e-4)),
               {"driver": driver}, out)

write("data_sizes")
