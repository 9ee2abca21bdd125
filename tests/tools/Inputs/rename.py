# rename.py IN.pt2 NAME NEW OUT.pt2: the buffer or parameter NAME is NEW.
import sys
import zipfile

source, old, new, target = sys.argv[1:]
quoted = [f'"{name}"'.encode() for name in (old, new)]
with zipfile.ZipFile(source) as read, zipfile.ZipFile(target, "w") as write:
    for name in read.namelist():
        data = read.read(name)
        if name.endswith(".json"):
            data = data.replace(*quoted)
        write.writestr(zipfile.ZipInfo(name), data)
