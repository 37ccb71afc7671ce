"""What gdb_hosts.py and lldb_hosts.py share: finds the threads of a program in its memory, by the table that the runtime has for that
(crates/lamprey/src/sched/inspect/layout.rs). It needs no types, so it reads release builds and core files.

A debugger gives it two functions: `read(address, count)` returns bytes or raises an exception, and `code(address, count)` does the
same for machine code. Words have 8 bytes, little endian.
"""

import struct

VERSION = int.from_bytes(b"lamprey1", "little")
NONE = (1 << 64) - 1
# Of the table: version, workers, then five slices and the offsets of a vector's pointer and length.
TABLE = struct.Struct("<14Q")
# What precedes the value in an `Arc`: two counters.
COUNTERS = 16
# More parasites of a worker than this are only counted.
MOST = 1000


class Failed(Exception):
    pass


def registers(machine, read, sp):
    """The registers with which a suspended thread goes on: see crates/swapstack/src/arch/, "A suspended context"."""
    if machine == "aarch64":
        x29, x19, pc, _ = struct.unpack("<4Q", read(sp, 32))
        return {"pc": pc, "sp": sp + 32, "x29": x29, "x19": x19}
    pc, rbx, rbp = struct.unpack("<3Q", read(sp, 24))
    return {"rip": pc, "rsp": sp + 24, "rbp": rbp, "rbx": rbx}


def constant_text(machine, code, address):
    """The pointer and the length that a function returns which does nothing else: `type_name` of a future. None if that is not
    what it looks like."""
    words = code(address, 48)
    if machine == "aarch64":
        return constant_text_aarch64(words, address)
    # lea rax, [rip + offset] and mov edx, length, in either order.
    at, mov = words.find(b"\x48\x8d\x05"), words.find(b"\xba")
    if at < 0 or mov < 0 or b"\xc3" not in words:
        return None
    if mov > at and mov < at + 7:
        mov = words.find(b"\xba", at + 7)
    (offset,) = struct.unpack_from("<i", words, at + 3)
    (length,) = struct.unpack_from("<I", words, mov + 1)
    return address + at + 7 + offset, length


def constant_text_aarch64(words, address):
    pointer = length = None
    for place, (word,) in enumerate(struct.iter_unpack("<I", words)):
        target = word & 31
        if word & 0x9F000000 == 0x90000000 and target == 0:  # adrp x0, page
            pages = (word >> 5 & 0x7FFFF) << 2 | word >> 29 & 3
            pages -= (pages & 1 << 20) << 1
            pointer = ((address + 4 * place) & ~0xFFF) + (pages << 12)
        elif word & 0xFF8003FF == 0x91000000 and pointer is not None:  # add x0, x0, offset
            pointer += word >> 10 & 0xFFF
        elif word & 0x7F80001F == 0x52800001:  # mov w1 or x1, length
            length = word >> 5 & 0xFFFF
        elif word == 0xD65F03C0:  # ret
            break
    return (pointer, length) if pointer is not None and length is not None else None


class Thread:
    """A host, or a stackful parasite."""

    def __init__(self, worker, address, is_running):
        threads, self.worker, self.address = worker.threads, worker, address
        field = threads.field
        self.is_running = is_running
        self.id = threads.word(address + field["thread.id"])
        self.sp = threads.word(address + field["thread.sp"])
        self.state = threads.byte(address + field["thread.state"])
        self.reason = threads.byte(address + field["thread.reason"])
        self.is_parasite = threads.byte(address + field["thread.kind"]) == field["kind Parasite"]
        self.name = threads.given_name(threads.word(address + field["thread.given"]))
        self.site = threads.site(threads.word(address + field["thread.spawn_site"]))

    def __str__(self):
        field = self.worker.threads.field
        kind = "parasite" if self.is_parasite else "host"
        name = f" `{self.name}`" if self.name else ""
        if self.is_running:
            does = "runs"
        elif self.state in (field["state Blocked"], field["state Committed"]):
            committed = " (its peer has it)" if self.state == field["state Committed"] else ""
            does = f"waits: {self.worker.threads.reason(self.reason)}{committed}"
        else:
            does = "is ready"
        return f"{kind} {self.id}{name} of worker {self.worker.index}, spawned at {self.site}, {does}"


class Parasite:
    """A stackless parasite."""

    def __init__(self, worker, address, body):
        threads, self.worker = worker.threads, worker
        field = threads.field
        life = address + field["task.life"]
        local, shared = threads.byte(life + field["life.local"]), threads.byte(life + field["life.shared"])
        state = shared if shared & field["life SHARED"] else local | shared & field["life DONE"]
        self.is_over = bool(state & field["life DONE"])
        self.is_active = bool(state & field["life ACTIVE"])
        self.reason = threads.byte(life + field["life.reason"])
        self.future = threads.future(threads.word(body + field["body.name"]))
        named = threads.word(body + field["body.named"])
        self.name = threads.given_name(threads.word(named + field["named.given"])) if named else None
        site = field["task.spawn_site"]
        self.site = "" if site == NONE else f", spawned at {threads.site(threads.word(address + site))}"

    def __str__(self):
        who = f"`{self.name}` ({self.future})" if self.name else f"`{self.future}`"
        does = "runs, or is about to" if self.is_active else f"waits: {self.worker.threads.reason(self.reason)}"
        return f"parasite {who} of worker {self.worker.index}{self.site}, {does}"


class Worker:
    def __init__(self, threads, address, remote):
        self.threads, self.address, self.remote = threads, address, remote
        self.index = threads.word(remote + threads.field["remote.index"])
        self.tid = threads.number(remote + threads.field["remote.tid"], "<i")

    def hosts(self):
        field, word = self.threads.field, self.threads.word
        running = word(self.address + field["worker.running"])
        host = word(self.address + field["worker.newest"])
        while host:
            yield Thread(self, host, host == running)
            host = word(host + field["thread.older"])

    def parasites(self):
        """All that are not over, the rest of more than MOST as a number."""
        rest = count = 0
        for address, body in self.blocks():
            count += 1
            if count > MOST:
                rest += 1
                continue
            parasite = Parasite(self, address, body)
            if not parasite.is_over:
                yield parasite
        if rest:
            yield f"(and {rest} more parasite{'' if rest == 1 else 's'} of worker {self.index})"

    def blocks(self):
        slabs = self.remote + self.threads.field["remote.slabs"]
        for shared in self.threads.words(slabs, 2):
            if shared:
                yield from self.blocks_of(shared)

    def blocks_of(self, shared):
        """The blocks with their mark: crates/lamprey/src/memory/slab.rs, invariant 1."""
        field, threads = self.threads.field, self.threads
        table = shared + field["slab shared.regions"] + field["regions.table"]
        first = threads.word(table + threads.vector[0])
        for number in range(threads.word(table + threads.vector[1])):
            region = first + number * field["size of region"]
            chunks, used = (threads.word(region + field[name]) for name in ("region.chunks", "region.used"))
            for at in range(64):
                if used >> at & 1:
                    yield from self.blocks_in(shared, number, chunks + at * field["size of chunk"])

    def blocks_in(self, shared, number, chunk):
        field, threads = self.threads.field, self.threads
        try:
            memory = threads.read(chunk, field["size of chunk"])
        except Exception:
            return  # a region that has been given back
        word = lambda at: int.from_bytes(memory[at : at + 8], "little")
        if word(field["chunk.shared"]) != shared or word(field["chunk.region"]) != number:
            return
        kind, first = (int.from_bytes(memory[at : at + 4], "little") for at in (field["chunk.class"], field["chunk.first"]))
        size = field["size of chunk"] if kind == field["huge class"] else threads.sizes[kind]
        for at in range(first, len(memory) - 15, size):
            mark = word(at + field["task.body"])
            if mark:
                yield chunk + at, mark


class Threads:
    """All threads of the runtimes whose table is at `table`."""

    def __init__(self, machine, read, table, code=None):
        self.machine, self.read, self.code = machine, read, code or read
        words = TABLE.unpack(read(table, TABLE.size))
        if words[0] != VERSION:
            raise Failed("the program has another version of lamprey than these scripts are for")
        self.first = words[1]
        # A slice is a pointer and a length, a text too.
        fields, slab, life, sizes, reasons = zip(words[2:12:2], words[3:12:2])
        self.vector = words[12:14]
        self.field = {}
        for start, length in (fields, slab, life):
            for at in range(length):
                name, count, value = self.words(start + 24 * at, 3)
                if count > 64:  # the other order of a tuple
                    value, name, count = name, count, value
                self.field[self.text(name, count)] = value
        self.sizes = self.words(*sizes)
        self.reasons = [self.text(*self.words(reasons[0] + 16 * at, 2)) for at in range(reasons[1])]

    def words(self, address, count):
        return struct.unpack(f"<{count}Q", self.read(address, 8 * count))

    def word(self, address):
        return self.words(address, 1)[0]

    def byte(self, address):
        return self.read(address, 1)[0]

    def number(self, address, form):
        return struct.unpack(form, self.read(address, struct.calcsize(form)))[0]

    def text(self, address, length):
        return bytes(self.read(address, length)).decode("utf-8", "replace") if length else ""

    def reason(self, number):
        return self.reasons[number] if number < len(self.reasons) else f"reason {number}"

    def given_name(self, given):
        """The name in an `Option<Arc<Given>>`: an `Option<Arc<str>>`."""
        if not given:
            return None
        name, length = self.words(given + COUNTERS + self.field["given.name"], 2)
        return self.text(name + COUNTERS, length) if name else None

    def site(self, location):
        file, length, lines = self.words(location, 3)
        return f"{self.text(file, length)}:{lines & 0xFFFFFFFF}:{lines >> 32}"

    def future(self, function):
        text = constant_text(self.machine, self.code, function)
        try:
            return self.text(*text) if text and text[1] < 4096 else "a future"
        except Exception:
            return "a future"

    def workers(self):
        entry = self.first
        found = []
        while entry:
            worker, remote, entry = self.words(entry, 3)
            if worker:
                found.append(Worker(self, worker, remote))
        return sorted(found, key=lambda worker: (worker.remote - worker.index, worker.index))
