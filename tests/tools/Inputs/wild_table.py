# wild_table.py IN.so OUT.so: the string table that the dynamic section names is
# at an address that no process has, as after a bad copy.
import struct
import sys

with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
table, = struct.unpack_from("<Q", data, 32)
size, count = struct.unpack_from("<HH", data, 54)
for at in range(table, table + size * count, size):
    kind, = struct.unpack_from("<I", data, at)
    offset, = struct.unpack_from("<Q", data, at + 8)
    length, = struct.unpack_from("<Q", data, at + 32)
    if kind != 2:  # PT_DYNAMIC
        continue
    for entry in range(offset, offset + length, 16):
        if data[entry] == 5:  # DT_STRTAB
            struct.pack_into("<Q", data, entry + 8, 1 << 46)
with open(sys.argv[2], "wb") as f:
    f.write(data)
