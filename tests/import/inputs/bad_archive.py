# Writes one broken archive: bad_archive.py CASE GOOD.pt2 OUT.pt2
#
# Each case changes one thing of a good archive, most of them in the JSON of the
# program; the ones below `raw` build the zip structure itself.
import io
import json
import struct
import sys
import zipfile
import zlib


def read(path):
    with zipfile.ZipFile(path) as z:
        return {i.filename: z.read(i) for i in z.infolist()}


def write(entries, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        for name, data in entries.items():
            z.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def local(name, data, method=0, size=None):
    size = len(data) if size is None else size
    return struct.pack("<IHHHIIIIHH", 0x04034B50, 20, 0, method, 0, 0,
                       len(data), size, len(name), 0) + name + data


def central(name, data, offset, method=0, size=None):
    size = len(data) if size is None else size
    return struct.pack("<IHHHHIIIIHHHHHII", 0x02014B50, 20, 20, 0, method, 0, 0,
                       len(data), size, len(name), 0, 0, 0, 0, 0,
                       offset) + name


def end(count, size, offset):
    return struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, size,
                       offset, 0)


def end64(count, size, offset):
    at = offset + size
    return (struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, count,
                        count, size, offset)
            + struct.pack("<IIQI", 0x07064B50, 0, at, 1)
            + end(0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF))


def pytorch_like(entries):
    """Stored entries and a ZIP64 end record, as PyTorch's writer leaves them."""
    files = records = b""
    for name, data in entries.items():
        crc = zlib.crc32(data)
        record = central(name.encode(), data, len(files))
        records += record[:16] + struct.pack("<I", crc) + record[20:]
        file = local(name.encode(), data)
        files += file[:14] + struct.pack("<I", crc) + file[18:]
    return files + records + end64(len(entries), len(records), len(files))


def flipped(raw, data):
    """One bit in the middle of `data` is another."""
    at = raw.index(data) + len(data) // 2
    return raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1:]


def single(header, record):
    return header + record + end(1, len(record), len(header))


def main(case, good, target):
    entries = read(good)
    root = next(iter(entries)).split("/")[0] + "/"
    model = root + "models/model.json"
    weights = root + "data/weights/model_weights_config.json"
    program = json.loads(entries[model])
    config = json.loads(entries[weights])
    graph = program["graph_module"]["graph"]
    first = next(iter(config["config"].values()))
    raw = None

    if case == "good":
        pass
    elif case == "pytorch-like":
        raw = pytorch_like(entries)
    elif case == "deflated":
        raw = write(entries, zipfile.ZIP_DEFLATED)
    # The zip archive.
    elif case == "not-a-zip":
        raw = b"\x00\x01\x02 not a zip archive"
    elif case == "empty":
        raw = b""
    elif case == "truncated":
        raw = write(entries)[:-100]
    elif case == "beyond-the-end":
        raw = single(local(b"m/a", b"x"), central(b"m/a", b"x" * 1000, 0))
    elif case == "overlapping":
        inner = local(b"m/b", b"world")
        header = local(b"m/a", inner)
        records = central(b"m/a", inner, 0) + central(b"m/b", b"world", 33)
        raw = header + records + end(2, len(records), len(header))
    elif case == "million-entries":
        header = local(b"m/a", b"x")
        record = central(b"m/a", b"x", 0)
        raw = header + record + end64(1000000, len(record), len(header))
    elif case == "dot-dot":
        entries = {root + "../../etc/passwd": b"x"}
    elif case == "bomb":
        data = zlib.compress(b"\0" * 10_000_000, 9)[2:-4]
        name = model.encode()
        raw = single(local(name, data, 8, 100), central(name, data, 0, 8, 100))
    elif case == "flipped-json":
        raw = flipped(write(entries), entries[model])
    elif case in ("flipped-weight", "no-checksum"):
        name = root + "data/weights/" + first["path_name"]
        raw = write(entries)
        if case == "no-checksum":
            crc = struct.pack("<I", zlib.crc32(entries[name]))
            assert raw.count(crc) == 2  # in both headers
            raw = raw.replace(crc, bytes(4))
        raw = flipped(raw, entries[name])
    elif case == "twice":
        raw = 2 * pytorch_like(entries)
    elif case == "prefixed":
        raw = b"#!/bin/sh\n" + write(entries)
    elif case == "prefixed-by-a-zip":
        raw = write({"a/b": b"c"}) + write(entries)
    # Good: two entries that the directory no longer names are left behind.
    elif case == "appended":
        out = io.BytesIO(write({"a/b": b"c"}))
        with zipfile.ZipFile(out, "a") as z:
            for name, data in entries.items():
                z.writestr(zipfile.ZipInfo(name), data)
            del z.filelist[0]
        raw = out.getvalue()
    # Good: the second and third node move into a region.
    elif case in ("no-grad", "autocast-off", "autocast-on", "no-grad-short"):
        inner = graph["nodes"][1:3]
        start = graph["nodes"][0]["outputs"][0]["as_tensor"]["name"]
        taken = [a["arg"] for n in inner for a in n["inputs"]
                 if "as_tensor" in a["arg"]]
        taken = [a for a in taken if a["as_tensor"]["name"] not in
                 (n["outputs"][0]["as_tensor"]["name"] for n in inner)]
        region = {"inputs": taken, "outputs": inner[-1]["outputs"],
                  "nodes": inner, "tensor_values": graph["tensor_values"],
                  "sym_int_values": {}, "sym_bool_values": {}}
        arg = {"as_graph": {"name": "submod_1", "graph": region}}
        leading = {"no-grad": [{"as_bool": False}, arg],
                   "no-grad-short": [{"as_bool": False}, arg]}.get(case, [
                       {"as_string": "cpu"}, {"as_none": True},
                       {"as_bool": case == "autocast-on"},
                       {"as_none": True}, arg])
        if case == "no-grad-short":
            taken = taken[:-1]
        graph["nodes"][1:3] = [{
            "target": "torch.ops.higher_order." +
                      ("wrap_with_set_grad_enabled" if "grad" in case else
                       "wrap_with_autocast"),
            "inputs": [{"name": "", "arg": a, "kind": 1}
                       for a in leading + taken],
            "outputs": inner[-1]["outputs"], "metadata": {}, "name": "wrap"}]
    # Good: guards about sizes that are symbols, and others.
    elif case == "guards":
        program["guards_code"] = [
            "L['x'].size()[0] <= 100",
            "L['x'].size()[0] % 4 == 0 and L['keep'].size()[0] >= 2",
            "L['keep'].size()[0] == L['x'].size()[0]",
            "L['x'].size()[0] < L['keep'].size()[0]",
            "L['nobody'].size()[0] == 1",
            "L['x'].dtype == torch.float32"]
        program["range_constraints"]["3*s18"] = {"min_val": 10, "max_val": 900}
    # Other kinds of files.
    elif case == "aotinductor":
        entries = {root + "data/aotinductor/model/x.so": b"\x7fELF"}
    elif case == "torch-2-6":
        entries = {"version": b"6", "serialized_exported_program.json": b"{}",
                   "serialized_state_dict.pt": b"PK"}
    elif case == "torch-2-8":
        del entries[weights]
        entries[root + "data/weights/model.pt"] = b"PK"
    elif case == "torchscript":
        entries = {root + "constants.pkl": b"", root + "code/m.py": b""}
    elif case == "checkpoint":
        entries = {root + "data.pkl": b"", root + "data/0": b""}
    elif case == "some-zip":
        entries = {"readme.txt": b"hello"}
    elif case == "onnx":
        raw = b"\x08\x07\x12\x07pytorch\x1a\x052.1.0:\x10"
    elif case == "mlir-bytecode":
        raw = b"ML\xefR\x0d"
    # The JSON of the program.
    elif case == "json-cut":
        entries[model] = entries[model][:-1000]
        program = None
    elif case == "json-deep":
        entries[model] = b"[" * 100000
        program = None
    elif case == "wrong-type":
        graph["nodes"][0]["target"] = 7
    elif case == "missing-key":
        del graph["nodes"][0]["inputs"]
    elif case == "unknown-argument":
        graph["nodes"][0]["inputs"][0]["arg"] = {"as_magic": 1}
    elif case == "negative-size":
        graph["tensor_values"]["x"]["sizes"][0] = {"as_int": -2}
    elif case == "schema-major":
        program["schema_version"]["major"] = 9
    elif case == "old-schema":
        program["schema_version"]["major"] = 7
    elif case == "unknown-op":
        graph["nodes"][0]["target"] = "torch.ops.aten.twirl.default"
        graph["nodes"][1]["target"] = "torch.ops.aten.swirl.out"
        graph["nodes"][2]["target"] = "torch.ops.aten.twirl.default"
    elif case == "unknown-value":
        graph["nodes"][0]["inputs"][0]["arg"]["as_tensor"]["name"] = "nobody"
    elif case == "defined-twice":
        graph["nodes"].append(graph["nodes"][0])
    elif case == "no-such-argument":
        graph["nodes"][0]["inputs"][0]["name"] = "twist"
    elif case == "missing-argument":
        del graph["nodes"][0]["inputs"][0]
    elif case == "wrong-argument":
        graph["nodes"][0]["inputs"][0]["arg"] = {"as_string": "x"}
    elif case == "specs":
        del program["graph_module"]["signature"]["input_specs"][0]
    elif case == "expression":
        graph["tensor_values"]["x"]["sizes"][0] = {
            "as_expr": {"expr_str": "Foo(Symbol('s0'))", "hint": None}}
    elif case == "deep-expression":
        graph["tensor_values"]["x"]["sizes"][0] = {
            "as_expr": {"expr_str": "Add(" * 5000, "hint": None}}
    elif case == "sparse":
        graph["tensor_values"]["x"]["layout"] = 2
    elif case == "device":
        graph["tensor_values"]["x"]["device"]["type"] = "xpu"
    # The weights.
    elif case == "short-record":
        name = root + "data/weights/" + first["path_name"]
        entries[name] = entries[name][:-1]
    elif case == "huge-strides":
        first["tensor_meta"]["strides"] = [
            {"as_int": 2**62} for _ in first["tensor_meta"]["strides"]]
    elif case == "negative-offset":
        first["tensor_meta"]["storage_offset"] = {"as_int": -1}
    elif case == "no-record":
        del entries[root + "data/weights/" + first["path_name"]]
    elif case == "no-entry":
        config["config"].pop(next(iter(config["config"])))
    elif case == "other-shape":
        first["tensor_meta"]["sizes"][0] = {"as_int": 1}
    else:
        sys.exit("no such case: " + case)

    if raw is None:
        if model in entries and program is not None:
            entries[model] = json.dumps(program)
        if weights in entries:
            entries[weights] = json.dumps(config)
        raw = write(entries)
    with open(target, "wb") as f:
        f.write(raw)


main(*sys.argv[1:])
