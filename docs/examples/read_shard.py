#!/usr/bin/env python3
"""Reads a shard in a folder by docs/format.md alone: read_shard.py FOLDER [AS-OF], AS-OF in milliseconds (default: the last durable
time). Prints a JSON object a row, in no order, in the form of `tidemark snapshot`; --stats says on stderr what was read.

Python's standard library and libzstd are all it needs. It writes no hold, so it must be done within gc.keep; error rows and `spec`
don't concern it. Every checksum on the way is compared.
"""
import base64
import collections
import ctypes
import ctypes.util
import datetime
import decimal
import json
import math
import os
import re
import struct
import sys
import zlib

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
FRONTIERS = {"min": LEAST, "end": GREATEST}
TEXTS, BINARIES = ("CHAR", "VARCHAR", "STRING"), ("BINARY", "VARBINARY", "BYTES")
WIDTHS = {"BOOLEAN": 1, "TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "TIME": 4, "BIGINT": 8, "TIMESTAMP": 8, "TIMESTAMP_LTZ": 8}
seen = collections.Counter()


class Unreadable(Exception):
    """Why the shard can't be read, in one line."""


def check(right, message):
    if not right:
        raise Unreadable(message)


# ---- the log


def document(path):
    """A JSON object of a known format; None where there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
    except FileNotFoundError:
        return None
    check(read["format"].split(".")[0] == "1", f"{path}: format {read['format']} is not known here, only 1")
    return read


def newest_rollup(folder):
    """The newest rollup that reads whole: its version and facts; version 0 without facts where there is none."""
    names = os.listdir(f"{folder}/rollup") if os.path.isdir(f"{folder}/rollup") else []
    for name in sorted(names, reverse=True):
        try:
            rollup = document(f"{folder}/rollup/{name}")
            if rollup and rollup["command"] == "rollup" and f"{rollup['seqno']:020d}.json" == name:
                return rollup["seqno"], rollup["add"]
        except (ValueError, KeyError):
            print(f"rollup/{name} can't be read, an older one must do", file=sys.stderr)
    return 0, []


def identity(fact):
    """What tells a fact from others: its name and, where it has one, its id."""
    ((name, value),) = fact.items()
    return name, value.get("id") if isinstance(value, dict) else None


def state_of(folder):
    """The facts of the newest version that is there."""
    stale = None
    while True:
        base, added = newest_rollup(folder)
        state = {identity(fact): fact for fact in added}
        seqno = base + 1
        while (entry := document(f"{folder}/log/{seqno:020d}.json")) is not None:
            for fact in entry["remove"]:
                check(state.pop(identity(fact), None) == fact, f"version {seqno} removes what isn't there: {identity(fact)}")
            for fact in entry["add"]:
                check(identity(fact) not in state, f"version {seqno} adds what is there: {identity(fact)}")
                state[identity(fact)] = fact
            seqno += 1
        # A number that isn't there is the end of the log only where nothing of the block may have been deleted.
        if not os.path.exists(f"{folder}/log/closed/{(base + 1) // 1024:010d}.json"):
            check(state, f"{folder}: there is no shard")
            seen.update({"rollup at version": base, "versions read": seqno - 1 - base})
            return state
        check(base != stale, f"the log behind version {base} has been deleted, but no newer rollup can be read")
        stale = base


# ---- types


def type_of(text):
    """A declared type as (kind, numbers, children, names of fields)."""
    tokens = re.findall(r"`(?:[^`]|``)*`|\w+|[<>(),]", text)

    def one():
        kind, numbers, children, names = tokens.pop(0), [], [], []
        if tokens[:1] == ["("]:
            while tokens.pop(0) != ")":
                numbers.append(int(tokens.pop(0)))
        if tokens[:1] == ["<"]:
            while tokens.pop(0) != ">":
                if kind == "ROW":
                    name = tokens.pop(0)
                    names.append(name[1:-1].replace("``", "`") if name[0] == "`" else name)
                children.append(one())
        if tokens[:2] == ["NOT", "NULL"]:
            del tokens[:2]
        return kind, numbers, children, names

    return one()


def made(kind, numbers, value):
    """The value that a stored number stands for."""
    if kind == "BOOLEAN":
        return bool(value)
    if kind == "DECIMAL":
        return decimal.Decimal(value).scaleb(-numbers[1], decimal.Context(prec=40))
    if kind in ("FLOAT", "DOUBLE"):
        return math.nan if value != value else value + 0.0  # One NaN object, and -0.0 as 0.0: equal rows are equal.
    return value


def clock(micros):
    seconds, fraction = divmod(micros, 1_000_000)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return text + (f".{fraction:06}".rstrip("0") if fraction else "")


def printed(column_type, value):
    """A value as JSON, the way that `tidemark snapshot` has it."""
    kind, numbers, children, names = column_type
    if value is None:
        return "null"
    if kind in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        days, micros = divmod(value * (1000 if numbers[0] <= 3 else 1), 86_400_000_000)
        value = f"{day(days)}T{clock(micros)}{'Z' if kind == 'TIMESTAMP_LTZ' else ''}"
    elif kind == "DATE":
        value = day(value)
    elif kind == "TIME":
        value = clock(value * 1000)
    elif kind == "DECIMAL":
        return f"{value:f}"
    elif kind == "FLOAT" and math.isfinite(value):
        shortest = (text for n in range(1, 10) if struct.pack("<f", float(text := f"{value:.{n}g}")) == struct.pack("<f", value))
        return repr(float(next(shortest)))
    elif kind in ("FLOAT", "DOUBLE") and not math.isfinite(value):
        value = "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    elif kind in BINARIES:
        value = base64.b64encode(value).decode()
    elif kind == "ARRAY":
        return "[" + ",".join(printed(children[0], item) for item in value) + "]"
    elif kind == "ROW":
        return "{" + ",".join(f"{quoted(n)}:{printed(t, v)}" for n, t, v in zip(names, children, value)) + "}"
    elif kind == "MAP":
        pairs = [(printed(children[0], k), printed(children[1], v)) for k, v in value]
        if children[0][0] in TEXTS:
            return "{" + ",".join(f"{k}:{v}" for k, v in pairs) + "}"
        return "[" + ",".join(f"[{k},{v}]" for k, v in pairs) + "]"
    return quoted(value)


def quoted(value):
    return json.dumps(value, ensure_ascii=False)


def day(days):
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=days)).isoformat()


# ---- bytes


def zstd():
    """A function that decompresses a zstd frame into so many bytes."""
    name = ctypes.util.find_library("zstd") or "libzstd.so.1"
    try:
        library = ctypes.CDLL(name)
    except OSError:
        raise Unreadable(f"{name} is missing: install libzstd (apt install libzstd1)") from None
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

    def decompress(frame, size):
        target = ctypes.create_string_buffer(max(1, size))
        check(library.ZSTD_decompress(target, size, frame, len(frame)) == size, "a zstd frame can't be decompressed")
        return target.raw[:size]

    return decompress


def crc32c(data, table=[]):
    if not table:
        for value in range(256):
            for _ in range(8):
                value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
            table.append(value)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def zigzag(value):
    return value >> 1 ^ -(value & 1)


# ---- inline parts: row blocks


def encoded(column_type, row, at):
    """One value of an encoded row, and where the next one begins."""
    kind, numbers, children, _ = column_type
    if row[at] == 0:
        return None, at + 1
    at += 1
    if kind in TEXTS or kind in BINARIES:
        end = at
        while row[end] or row[end + 1]:
            end += 2 if row[end] == 0 else 1
        value = row[at:end].replace(b"\0\xff", b"\0")
        return value.decode("utf-8") if kind in TEXTS else value, end + 2
    if kind in ("FLOAT", "DOUBLE"):
        width, form = (4, ">f") if kind == "FLOAT" else (8, ">d")
        bits, sign = int.from_bytes(row[at : at + width], "big"), 1 << (8 * width - 1)
        bits = bits ^ (sign if bits & sign else 2 * sign - 1)
        return made(kind, numbers, struct.unpack(form, bits.to_bytes(width, "big"))[0]), at + width
    if kind == "ROW":
        fields = []
        for child in children:
            field, at = encoded(child, row, at)
            fields.append(field)
        return tuple(fields), at
    if kind in ("ARRAY", "MAP"):
        items = []
        while row[at]:
            item, at = encoded(children[0], row, at + 1)
            if kind == "MAP":
                value, at = encoded(children[1], row, at)
                item = item, value
            items.append(item)
        return tuple(items), at + 1
    width = (8 if numbers[0] <= 18 else 16) if kind == "DECIMAL" else WIDTHS[kind]
    value = int.from_bytes(row[at : at + width], "big") - (0 if kind == "BOOLEAN" else 1 << (8 * width - 1))
    return made(kind, numbers, value), at + width


def inline(part, schema, wanted, decompress):
    """The updates of an inline part, as (row, time, diff)."""
    block = base64.b64decode(part["inline"])
    check(block[0] == 1, f"row block version {block[0]} is not known here, only 1")
    check(crc32c(block[:-4]) == int.from_bytes(block[-4:], "little"), "a row block's checksum is wrong")
    count, at = varint(block, 1)
    size, at = varint(block, at)
    data = decompress(block[at:-4], size)
    columns = {column["name"]: column for column in schema["columns"]}
    names = schema["key"] + [name for name in columns if name not in schema["key"]]
    order = [(columns[name]["id"], type_of(columns[name]["type"])) for name in names]
    at = time = 0
    for _ in range(count):
        size, at = varint(data, at)
        row, at = data[at : at + size], at + size
        delta, at = varint(data, at)
        diff, at = varint(data, at)
        time = (time + zigzag(delta) - LEAST) % (1 << 64) + LEAST
        values, position = {}, 0
        for column, column_type in order:
            values[column], position = encoded(column_type, row, position)
        yield tuple(values.get(column) for column, _ in wanted), time, zigzag(diff)


# ---- stored parts: Parquet


def thrift(data, at):
    """A struct in Thrift's compact protocol, as {field id: value}, and what comes behind it."""
    fields, last = {}, 0
    while data[at]:
        kind, step = data[at] & 15, data[at] >> 4
        at += 1
        if not step:
            step, at = varint(data, at)
            step = zigzag(step) - last
        last += step
        fields[last], at = (kind == 1, at) if kind in (1, 2) else thrift_value(kind, data, at)
    return fields, at + 1


def thrift_value(kind, data, at):
    if kind in (1, 2, 3):
        return data[at], at + 1
    if kind in (4, 5, 6):
        value, at = varint(data, at)
        return zigzag(value), at
    if kind == 7:
        return struct.unpack_from("<d", data, at)[0], at + 8
    if kind == 8:
        size, at = varint(data, at)
        return data[at : at + size], at + size
    if kind in (9, 10):
        size, kind, at = data[at] >> 4, data[at] & 15, at + 1
        if size == 15:
            size, at = varint(data, at)
        items = []
        for _ in range(size):
            item, at = thrift_value(kind, data, at)
            items.append(item)
        return items, at
    check(kind == 12, f"a footer has a field of Thrift type {kind}")
    return thrift(data, at)


class Node:
    """A column or group of a Parquet schema: the levels from which on it is there, what is below, and the leaf's entries."""

    def __init__(self, elements, definition=0, repetition=0):
        element = elements.pop(0)
        self.definition = definition + (element.get(3, 0) > 0)
        self.repetition = repetition + (element.get(3, 0) == 2)
        self.id, self.name, self.physical, self.length = element.get(9), element[4].decode(), element.get(1), element.get(2)
        self.children = [Node(elements, self.definition, self.repetition) for _ in range(element.get(5, 0))]
        self.leaves = [leaf for child in self.children for leaf in child.leaves] or [self]

    def fill(self, data, meta, decompress):
        """Reads the leaf's column of a row group."""
        check(meta[4] == 6, "a column is not compressed with zstd")
        self.definitions, self.repetitions, self.values, self.at = [], [], [], 0
        left, at = meta[5], meta[9]
        while left:
            header, at = thrift(data, at)
            page = data[at : at + header[3]]
            at += header[3]
            check(header[1] == 0 and header[5][2] == 0, "a page is no PLAIN data page of version 1")
            check(zlib.crc32(page) == header[4] & 0xFFFFFFFF, "a page's checksum is wrong")
            self.page(decompress(page, header[2]), header[5][1])
            left -= header[5][1]

    def page(self, data, count):
        begin, present = 0, count
        for most, levels in (self.repetition, self.repetitions), (self.definition, self.definitions):
            if most:
                (size,) = struct.unpack_from("<I", data, begin)
                found = hybrid(data[begin + 4 : begin + 4 + size], most.bit_length(), count)
                begin += 4 + size
            else:
                found = [0] * count
            levels += found
        if self.definition:
            present = found.count(self.definition)
        values = iter(self.plain(data[begin:], present))
        self.values += values if present == count else (next(values) if d == self.definition else None for d in found)

    def plain(self, data, count):
        if self.physical == 0:
            return [data[i >> 3] >> (i & 7) & 1 for i in range(count)]
        if self.physical in (1, 2, 4, 5):
            return struct.unpack_from(f"<{count}{'.iq.fd'[self.physical]}", data)
        if self.physical == 7:
            size = self.length
            return [int.from_bytes(data[i * size : (i + 1) * size], "big", signed=True) for i in range(count)]
        check(self.physical == 6, f"a column has Parquet's type {self.physical}")
        values, at = [], 0
        for _ in range(count):
            (size,) = struct.unpack_from("<I", data, at)
            values.append(data[at + 4 : at + 4 + size])
            at += 4 + size
        return values

    def take(self, column_type):
        """The next value of what is below, put together from the leaves."""
        kind, numbers, types, _ = column_type
        first = self.leaves[0]
        if self.leaves == [self]:
            value = self.values[self.at]
            self.at += 1
            if value is None or kind in BINARIES:
                return value
            return value.decode("utf-8") if kind in TEXTS else made(kind, numbers, value)
        there = first.definitions[first.at]
        repeated = None if kind == "ROW" else self.children[0]
        if there < self.definition or (repeated and there < repeated.definition):
            for leaf in self.leaves:
                leaf.at += 1
            return None if there < self.definition else ()
        if kind == "ROW":
            return tuple(child.take(one) for child, one in zip(self.children, types))
        items = []
        while not items or (first.at < len(first.repetitions) and first.repetitions[first.at] == repeated.repetition):
            item = tuple(child.take(one) for child, one in zip(repeated.children, types))
            items.append(item if kind == "MAP" else item[0])
        return tuple(items)


def hybrid(data, width, count):
    """Levels, as runs of one level and runs of packed bits."""
    levels, at = [], 0
    while len(levels) < count:
        header, at = varint(data, at)
        if header & 1:
            size = (header >> 1) * width
            bits = int.from_bytes(data[at : at + size], "little")
            levels += [bits >> i * width & (1 << width) - 1 for i in range((header >> 1) * 8)]
        else:
            size = 1
            levels += [data[at]] * (header >> 1)
        at += size
    return levels[:count]


def stored(path, part, wanted, decompress):
    """The updates of a Parquet part, as (row, time, diff)."""
    with open(path, "rb") as file:
        data = file.read()
    check(len(data) == part["size"] and crc32c(data) == int(part["crc32c"], 16), f"{path}: its size or checksum is not the log's")
    check(data[-4:] == b"PAR1", f"{path}: this is no Parquet file")
    footer, _ = thrift(data, len(data) - 8 - int.from_bytes(data[-8:-4], "little"))
    written = {pair[1]: pair[2] for pair in footer[5]}[b"tidemark.format"].decode()
    check(written.split(".")[0] == "1", f"{path}: format {written} is not known here, only 1")
    root = Node(list(footer[2]))
    columns = [next((child for child in root.children if child.id == column), None) for column, _ in wanted]
    times, diffs = (next(child for child in root.children if child.name == name) for name in ("__time", "__diff"))
    for group in footer[4]:
        for leaf, chunk in zip(root.leaves, group[1]):
            leaf.fill(data, chunk[3], decompress)
        for time, diff in zip(times.values, diffs.values):
            yield tuple(node and node.take(column_type) for node, (_, column_type) in zip(columns, wanted)), time, diff


# ---- the shard


def snapshot(folder, as_of):
    """The rows at a time, how often each is there, and their columns."""
    decompress = zstd()
    state = state_of(folder)
    since, upper = (FRONTIERS.get(value, value) for value in (state[name, None][name] for name in ("since", "upper")))
    time = upper - 1 if as_of is None else as_of
    seen["as of"] = f"{time} since {since} upper {upper}"
    check(since <= time < upper, f"{folder} can't be read as of {time}: since is {since}, upper {upper}")
    schemas = {key[1]: fact["schema"] for key, fact in state.items() if key[0] == "schema"}
    columns = schemas[max(schemas)]["columns"]
    wanted = [(column["id"], type_of(column["type"])) for column in columns]
    rows = collections.Counter()
    for batch in (fact["batch"] for key, fact in state.items() if key[0] == "batch"):
        lower, end = (FRONTIERS.get(batch[bound], batch[bound]) for bound in ("lower", "upper"))
        if lower > time:
            continue
        seen["batches"] += 1
        seen["merged batches"] += batch["since"] != "min"
        seen["cut batches"] += batch["cut"]
        for part in (part for run in batch["runs"] for part in run):
            seen["inline parts" if "inline" in part else "stored parts"] += 1
            if "inline" in part:
                updates = inline(part, schemas[batch["schema"]], wanted, decompress)
            else:
                updates = stored(f"{folder}/{part['key']}", part, wanted, decompress)
            for row, at, diff in updates:
                seen["updates"] += 1
                if at <= time and (not batch["cut"] or lower <= at < end):
                    rows[row] += diff
    return {row: count for row, count in rows.items() if count}, [(c["name"], t) for c, (_, t) in zip(columns, wanted)]


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != "--stats"]
    if len(arguments) not in (1, 2) or not re.fullmatch(r"-?\d+", (arguments + ["0"])[1]):
        sys.exit("usage: read_shard.py FOLDER [AS-OF MILLISECONDS] [--stats]")
    try:
        rows, columns = snapshot(arguments[0], int(arguments[1]) if arguments[1:] else None)
        for row, count in rows.items():
            fields = [f"{quoted(name)}:{printed(one, value)}" for (name, one), value in zip(columns, row)]
            print("{" + ",".join(fields + ([] if count == 1 else [f'"__diff":{count}'])) + "}")
    except Unreadable as why:
        sys.exit(f"read_shard: {why}")
    except FileNotFoundError as gone:
        sys.exit(f"read_shard: {gone.filename} is gone: read again, within gc.keep")
    if len(arguments) < len(sys.argv) - 1:
        print(", ".join(f"{what} {figure}" for what, figure in seen.items() if figure), file=sys.stderr)


if __name__ == "__main__":
    main()
