# broadcast.py FORETRACE MODEL.so KIND SIZE,SIZE…: runs the models of
# broadcast-in-run.test at several sizes of x and y and compares with plain
# loops. A tensor is (sizes, elements).
import itertools
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

tool, model, kind = sys.argv[1:4]


def make(*sizes):
    n = math.prod(sizes)
    return sizes, [((i * 37) % 23 - 11) / 8 for i in range(n)]


def write(path, tensor):
    sizes, values = tensor
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }" % "".join(
        "%d, " % s for s in sizes)
    text = text.ljust(117) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little"))
        out.write(text.encode() + struct.pack("<%df" % len(values), *values))


def read(path):
    data = open(path, "rb").read()
    length = int.from_bytes(data[8:10], "little")
    header = eval(data[10:10 + length])
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    n = math.prod(header["shape"])
    return header["shape"], list(struct.unpack("<%df" % n, data[10 + length:]))


def at(tensor, index):
    sizes, values = tensor
    place = 0
    for size, i in zip(sizes, index[len(index) - len(sizes):]):
        place = place * size + (0 if size == 1 else i)
    return values[place]


def wide(a, b):
    return tuple(y if x == 1 else x for x, y in zip(a, b))


def over(sizes, element):
    return sizes, [element(i) for i in itertools.product(*map(range, sizes))]


def pointwise(f, x, y):
    return over(wide(x[0], y[0]), lambda i: f(at(x, i), at(y, i)))


def sum_to(sizes, x):
    total = dict.fromkeys(itertools.product(*map(range, sizes)), 0.0)
    for i in itertools.product(*map(range, x[0])):
        total[tuple(0 if s == 1 else n for s, n in zip(sizes, i))] += at(x, i)
    return sizes, list(total.values())


def expected(a, b):
    if kind == "rows":
        x, y = make(a), make(b)
        rows = [((n // 4, 4), t[1]) for n, t in ((a, x), (b, y))]
        return x, y, [pointwise(lambda u, v: u * v, *rows)]
    if kind == "sum":
        x, y = make(a, 5), make(b, 5)
        added = pointwise(lambda u, v: u + v, x, y)
        return x, y, [pointwise(lambda u, v: u * v, added, x)]
    if kind == "many":
        x, y = make(a, 2, 3), make(b, 3, 2)
        n = wide((a,), (b,))[0]
        t = over((b, 2, 3), lambda i: at(y, (i[0], i[2], i[1])))
        product = over((n, 2, 2), lambda i: sum(
            at(x, (i[0], i[1], k)) * at(y, (i[0], k, i[2])) for k in range(3)))
        chosen = pointwise(lambda u, v: u if u > 0 else v, x, t)
        return x, y, [
            product, chosen,
            over((n, 2, 3), lambda i: at(x, i)),
            over((n, 2, 3), lambda i: -at(x, i)),
            over((n, 2, 3), lambda i: -at(t, i)),
            pointwise(lambda u, v: u + v, chosen, x)]
    x, y = make(a, 3), make(b, 3)
    slope = pointwise(lambda u, v: math.cos(u * v), x, y)
    return x, y, [
        pointwise(lambda u, v: math.sin(u * v), x, y),
        sum_to((a, 3), pointwise(lambda s, v: s * v, slope, y)),
        sum_to((b, 3), pointwise(lambda s, u: s * u, slope, x))]


for sizes in sys.argv[4:]:
    x, y, want = expected(*map(int, sizes.split(",")))
    with tempfile.TemporaryDirectory() as folder:
        for name, tensor in (("x", x), ("y", y)):
            write(os.path.join(folder, name + ".npy"), tensor)
        done = subprocess.run(
            [tool, "run", model, "--input", "x=%s/x.npy" % folder, "--input",
             "y=%s/y.npy" % folder, "--output", folder, "--json"],
            check=True, stdout=subprocess.PIPE)
        said = json.loads(done.stdout)
        files = said["outputs"] + said.get("gradients", [])
        have = [read(os.path.join(folder, f["file"])) for f in files]
    assert len(have) == len(want), said
    for entry, (shape, values), (right, numbers) in zip(files, have, want):
        assert shape == right, (sizes, entry, right)
        for u, v in zip(values, numbers):
            assert abs(u - v) <= 1e-5 * (1 + abs(v)), (sizes, entry, u, v)
