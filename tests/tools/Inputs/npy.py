# npy.py DESCR FORTRAN_ORDER SHAPE [VALUES] > file.npy: zeros, or float32 values,
# as numpy.save writes them.
# `npy.py '<f4' False 2,16`. Sizes of the data follow from DESCR's digits.
import struct
import sys

descr, fortran, shape = sys.argv[1:4]
dims = [int(d) for d in shape.split(",") if d]
count = 1
for d in dims:
    count *= d
text = "{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }" % (
    descr, fortran, "".join("%d, " % d for d in dims))
text = text.ljust(117) + "\n"
out = sys.stdout.buffer
out.write(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little"))
out.write(text.encode())
if len(sys.argv) > 4:
    out.write(struct.pack("<%df" % count, *map(float, sys.argv[4].split(","))))
else:
    out.write(bytes(count * int(descr[2:])))
