"""Lists the threads of a running program or of a core file, with what each waits for and its stack.

    gdb -p PID -batch -x tools/gdb_hosts.py -ex 'lamprey-hosts bt'
    gdb PROGRAM CORE -batch -x tools/gdb_hosts.py -ex lamprey-hosts -ex lamprey-parasites -ex 'lamprey-bt 7'

    lamprey-hosts [bt]   started hosts, and stackful parasites that have blocked; with `bt`, the innermost calls on their stacks
    lamprey-bt N         the stack of the host with this number, whole
    lamprey-parasites    stackless parasites

For programs with symbols; types and lines are not needed (without lines the stacks have only names). Nothing is called or changed in the
program. lldb_hosts.py is its twin.
"""

import os
import re
import sys

import gdb
import gdb.unwinder

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lamprey_threads

# The calls that `lamprey-hosts bt` shows.
CALLS = 24


def read(address, count):
    return gdb.selected_inferior().read_memory(address, count).tobytes()


def machine():
    return "aarch64" if "aarch64" in gdb.selected_inferior().architecture().name() else "x86_64"


def tables():
    found = gdb.execute(r"info variables -q lamprey::sched::inspect::layout::TABLE", to_string=True)
    addresses = sorted({int(address, 16) for address in re.findall(r"^(0x[0-9a-f]+)\s+\S*TABLE", found, re.MULTILINE)})
    if not addresses:
        for line in re.findall(r"^\d+:\s+.*?(\S*TABLE\S*);", found, re.MULTILINE):
            addresses.append(int(gdb.parse_and_eval(f"(unsigned long)&'{line}'")))
    if not addresses:
        addresses = by_symbol()
    if not addresses:
        raise gdb.GdbError("no lamprey in this program, or no symbols")
    return addresses


def by_symbol():
    """Where gdb knows the variable's type, it lists it without its address."""
    for name in ("lamprey::sched::inspect::layout::TABLE",):
        told = gdb.execute(f"info address {name}", to_string=True)
        found = re.search(r"0x[0-9a-f]+", told)
        if found:
            return [int(found[0], 16)]
    return []


def all_threads():
    for table in tables():
        yield lamprey_threads.Threads(machine(), read, table)


class Suspended(gdb.unwinder.Unwinder):
    """Makes a suspended thread the caller of the kernel thread's innermost frame, so that gdb walks on there: a core file's
    registers cannot be set."""

    def __init__(self):
        super().__init__("lamprey")
        self.enabled = False
        self.registers = None
        self.innermost = None

    def __call__(self, pending):
        stack = "sp" if machine() == "aarch64" else "rsp"
        sp, pc = (int(pending.read_register(name)) & lamprey_threads.NONE for name in (stack, "pc"))
        if self.registers is None or (sp, pc) != self.innermost:
            return None
        # Below every stack: gdb ends a walk that seems to go down.
        info = pending.create_unwind_info(FrameId(16, pc))
        for name, word in self.registers.items():
            kind = pending.read_register(name).type
            info.add_saved_register(name, gdb.Value(word.to_bytes(8, "little"), kind))
        return info

    def walk(self, registers, most):
        stack = "sp" if machine() == "aarch64" else "rsp"
        frame = gdb.newest_frame()
        self.innermost = tuple(int(frame.read_register(name)) & lamprey_threads.NONE for name in (stack, "pc"))
        self.registers, self.enabled = registers, True
        gdb.invalidate_cached_frames()
        try:
            told = gdb.execute(f"bt {most}", to_string=True)
        except gdb.error as error:
            told = f"#1 no stack: {error}\n"
        finally:
            self.registers, self.enabled = None, False
            gdb.invalidate_cached_frames()
        # Without the kernel thread's own frame.
        print("".join(line + "\n" for line in told.splitlines() if not line.startswith("#0 ")), end="")
        return sum(line.startswith("#") for line in told.splitlines())


class FrameId:
    def __init__(self, sp, pc):
        self.sp, self.pc = gdb.Value(sp), gdb.Value(pc)


UNWINDER = Suspended()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)


def show_stack(threads, host, most=""):
    if not host.is_running:
        if UNWINDER.walk(lamprey_threads.registers(threads.machine, read, host.sp), most) == most:
            print(f"    and more: lamprey-bt {host.id}")
        return
    for thread in gdb.selected_inferior().threads():
        if host.worker.tid in thread.ptid:
            before = gdb.selected_thread()
            thread.switch()
            gdb.execute(f"bt {most}")
            before.switch()
            return
    print("    the kernel thread of its worker is not there")


class Hosts(gdb.Command):
    """lamprey-hosts [bt]: the started hosts of each worker, with `bt` and their stacks."""

    def __init__(self):
        super().__init__("lamprey-hosts", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        count = 0
        for threads in all_threads():
            for worker in threads.workers():
                for host in worker.hosts():
                    count += 1
                    print(host)
                    if argument == "bt":
                        show_stack(threads, host, CALLS)
        print(f"{count} host{'' if count == 1 else 's'}")


class Backtrace(gdb.Command):
    """lamprey-bt N: the stack of the host with this number, whole."""

    def __init__(self):
        super().__init__("lamprey-bt", gdb.COMMAND_STACK)

    def invoke(self, argument, _from_tty):
        if not argument.isdigit():
            raise gdb.GdbError("lamprey-bt takes the number of a host, see lamprey-hosts")
        found = 0
        for threads in all_threads():
            for worker in threads.workers():
                for host in worker.hosts():
                    if host.id == int(argument):
                        found += 1
                        print(host)
                        show_stack(threads, host)
        if not found:
            raise gdb.GdbError(f"there is no host {argument}")


class Parasites(gdb.Command):
    """lamprey-parasites: the stackless parasites of each worker."""

    def __init__(self):
        super().__init__("lamprey-parasites", gdb.COMMAND_STACK)

    def invoke(self, _argument, _from_tty):
        for threads in all_threads():
            for worker in threads.workers():
                for parasite in worker.parasites():
                    print(parasite)


Hosts()
Backtrace()
Parasites()
