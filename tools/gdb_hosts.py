"""Lists every started host of a running program or of a core file, with what it waits for and its stack.

    gdb -p PID -batch -x tools/gdb_hosts.py -ex 'lamprey-hosts bt'

For programs with full debug information (cargo's dev profile). `bt` adds the stacks; it borrows the registers of the
worker's kernel thread to walk them, so it needs a live process, and gives them back.
"""

import re

import gdb


def plain(value):
    """What is inside the cells, pointers to non-null and newtypes around a value."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT and len(value.type.fields()) >= 1:
        fields = [field for field in value.type.fields() if field.name in ("value", "pointer", "__0")]
        if len(fields) != 1:
            break
        value = value[fields[0]]
    return value


def text(pointer, length):
    return pointer.cast(gdb.lookup_type("unsigned char").pointer()).string("utf-8", "replace", int(length)) if length else ""


def words(address, count):
    memory = gdb.selected_inferior().read_memory(int(address), 8 * count)
    return [int.from_bytes(memory[i : i + 8].tobytes(), "little") for i in range(0, 8 * count, 8)]


def name_of(label):
    """`label.given` is an `Option<Arc<Given>>`: null for none. `Given::name` is an `Option<Arc<str>>`: a fat pointer
    to two counters and the bytes, null for none."""
    (given,) = words(label["given"].address, 1)
    if not given:
        return "-"
    inner = gdb.lookup_type("alloc::sync::ArcInner<lamprey::sched::hints::Given>").pointer()
    data, length = words(gdb.Value(given).cast(inner).dereference()["data"]["name"].address, 2)
    return text(gdb.Value(data + 16).cast(gdb.lookup_type("unsigned char").pointer()), length) if data else "-"


def site_of(label):
    site = label["spawn_site"]["value"]["value"].dereference()
    file = next(field for field in site.type.fields() if field.name.startswith("file"))
    words = gdb.selected_inferior().read_memory(int(site[file].address), 16)
    data, length = (int.from_bytes(words[i : i + 8].tobytes(), "little") for i in (0, 8))
    name = text(gdb.Value(data).cast(gdb.lookup_type("unsigned char").pointer()), length).rstrip("\0")
    return f"{name}:{int(site['line'])}"


def worker():
    """The worker of the selected kernel thread, or None."""
    found = gdb.execute("info variables -q lamprey::sched::worker::WORKER::", to_string=True)
    symbol = re.search(r"^0x\S+\s+(lamprey::sched::worker::WORKER::\S+)$", found, re.MULTILINE)
    if not symbol:
        raise gdb.GdbError("no lamprey in this program, or no debug information")
    pointer = gdb.lookup_type("lamprey::sched::worker::Worker").pointer()
    try:
        address = int(gdb.parse_and_eval(f"&'{symbol[1]}'"))
    except gdb.error:
        return None
    word = gdb.selected_inferior().read_memory(address, 8).tobytes()
    value = gdb.Value(int.from_bytes(word, "little"))
    return value.cast(pointer).dereference() if int(value) else None


def stack(sp):
    """Walks a suspended host. `arch/x86_64.rs` has the picture: resume address, rbx, rbp, then the frame."""
    words = gdb.selected_inferior().read_memory(sp, 24)
    pc, rbx, rbp = (int.from_bytes(words[i : i + 8].tobytes(), "little") for i in (0, 8, 16))
    there = {"rip": pc, "rbx": rbx, "rbp": rbp, "rsp": sp + 24}
    gdb.newest_frame().select()
    here = {name: int(gdb.parse_and_eval(f"(unsigned long)${name}")) for name in there}
    try:
        for name, word in there.items():
            gdb.execute(f"set ${name} = {word}")
        gdb.execute("bt 24")
    except gdb.error as error:
        print(f"    no stack: {error}")
    finally:
        for name, word in here.items():
            gdb.execute(f"set ${name} = {word}")


class Hosts(gdb.Command):
    """lamprey-hosts [bt]: the started hosts of each worker; with `bt`, the stacks of those that do not run."""

    def __init__(self):
        super().__init__("lamprey-hosts", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        count = 0
        # gdb's parser for Rust cannot name the thread-local of a worker.
        gdb.execute("set language c")
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda thread: thread.num):
            thread.switch()
            found = worker()
            if found is None:
                continue
            print(f"== {thread.name or thread.num}: {int(plain(found['hosts']))} hosts ==")
            host = plain(found["newest"])
            running = int(plain(found["running"]))
            while int(host):
                count += 1
                self.show(host.dereference(), int(host) == running, argument == "bt")
                host = plain(host.dereference()["older"])
        print(f"{count} hosts")

    def show(self, host, is_running, stacks):
        state = "running" if is_running else str(plain(host["state"])).rsplit("::", 1)[-1]
        reason = str(plain(host["reason"])).rsplit("::", 1)[-1] if state in ("Blocked", "Committed") else ""
        label = host["label"]
        print(f"host {int(label['id']['value']['value'])} {name_of(label)!r} {state} {reason} (spawned at {site_of(label)})")
        if stacks and is_running:
            gdb.execute("bt 24")
        elif stacks:
            stack(int(plain(host["sp"]).cast(gdb.lookup_type("unsigned long"))))


Hosts()
