"""Lists the threads of a running program or of a core file, with what each waits for and its stack: gdb_hosts.py for lldb.

    lldb -b -p PID -o 'command script import tools/lldb_hosts.py' -o 'lamprey-hosts bt'
    lldb -b PROGRAM -c CORE -o 'command script import tools/lldb_hosts.py' -o lamprey-hosts -o lamprey-parasites -o 'lamprey-bt 7'

Debian's lldb looks for its own Python module in a folder that does not exist ("No module named 'lldb.embedded_interpreter'"). Start it with
PYTHONPATH set to the folder that has it; this file finds that folder, says so, and does nothing else. For lldb 14 of Debian 12:

    PYTHONPATH=/usr/lib/llvm-14/lib/python3.11/dist-packages lldb -p PID ...

The commands are those of gdb_hosts.py. lldb walks the stacks of suspended hosts as those of kernel threads of its own (an "operating
system plug-in", this file again); nothing is called or changed in the program.
"""

import glob
import os
import re
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import lamprey_threads
import lldb


def has_own_module():
    """False where lldb has not found its own Python module at its start: nothing that it hands over then has a class."""
    return hasattr(lldb, "SBDebugger")


def how_to_find(program):
    """What to do where it is missing, for the lldb that is `program`: the module lies beside that, if it is installed."""
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = sorted(glob.glob(f"{prefix}/lib*/{version}/*-packages/lldb/embedded_interpreter.py"))
    if found:
        return f"start it with PYTHONPATH={os.path.dirname(os.path.dirname(found[0]))} lldb ..."
    return (
        f"it is not below {prefix}/lib/{version} either. Install it (on Debian python3-lldb-14, with the number of this lldb), and start lldb "
        "with PYTHONPATH set to the folder that has lldb/embedded_interpreter.py"
    )

TABLE = "lamprey::sched::inspect::layout::TABLE"
# The calls that `lamprey-hosts bt` shows.
CALLS = 24
# Numbers of kernel threads are smaller.
FIRST_THREAD = 1 << 32


def machine(target):
    return "aarch64" if target.GetTriple().startswith(("aarch64", "arm64")) else "x86_64"


def reader(process):
    def read(address, count):
        error = lldb.SBError()
        memory = process.ReadMemory(address, count, error)
        if memory is None or len(memory) < count:
            # A core file leaves out what is in the program's file.
            target = process.GetTarget()
            memory = target.ReadMemory(lldb.SBAddress(address, target), count, error)
        if memory is None or len(memory) < count:
            raise lamprey_threads.Failed(f"{count} bytes at {address:#x} cannot be read: {error}")
        return memory

    return read


def tables(target):
    for module in target.modules:
        for symbol in module:
            if (symbol.GetName() or "").startswith(TABLE) and symbol.GetType() == lldb.eSymbolTypeData:
                address = symbol.GetStartAddress().GetLoadAddress(target)
                if address != lldb.LLDB_INVALID_ADDRESS:
                    yield address


def all_threads(process):
    target = process.GetTarget()
    found = [lamprey_threads.Threads(machine(target), reader(process), table) for table in tables(target)]
    if not found:
        raise lamprey_threads.Failed("no lamprey in this program, or no symbols")
    return found


def hosts_of(process):
    return [host for threads in all_threads(process) for worker in threads.workers() for host in worker.hosts()]


class OperatingSystemPlugIn:
    """Shows lldb each suspended host as a thread."""

    NAMES = {
        "x86_64": ["rax", "rbx", "rcx", "rdx", "rdi", "rsi", "rbp", "rsp", *(f"r{n}" for n in range(8, 16)), "rip"],
        "aarch64": [*(f"x{n}" for n in range(31)), "sp", "pc"],
    }
    # The numbers that DWARF, and so the unwinder, has for them.
    DWARF = {
        "x86_64": [0, 3, 2, 1, 5, 4, 6, 7, *range(8, 16), 16],
        "aarch64": [*range(31), 31, 32],
    }
    GENERIC = {"rip": "pc", "rsp": "sp", "rbp": "fp", "pc": "pc", "sp": "sp", "x29": "fp", "x30": "lr"}

    def __init__(self, process):
        self.process = process
        self.machine = machine(process.GetTarget())

    def get_thread_info(self):
        try:
            self.hosts = {FIRST_THREAD + host.id: host for host in hosts_of(self.process) if not host.is_running}
        except Exception:
            self.hosts = {}
        return [
            {"tid": tid, "name": host.name or "", "queue": f"host {host.id}", "state": "stopped", "stop_reason": "none"}
            for tid, host in self.hosts.items()
        ]

    def get_register_info(self):
        registers = []
        for place, name in enumerate(self.NAMES[self.machine]):
            register = {"name": name, "bitsize": 64, "offset": 8 * place, "encoding": "uint", "format": "hex", "set": 0}
            register["gcc"] = register["dwarf"] = self.DWARF[self.machine][place]
            if name in self.GENERIC:
                register["generic"] = self.GENERIC[name]
            registers.append(register)
        return {"sets": ["General Purpose Registers"], "registers": registers}

    def get_register_data(self, tid):
        host = self.hosts.get(tid)
        if host is None:
            return None
        known = lamprey_threads.registers(self.machine, reader(self.process), host.sp)
        names = self.NAMES[self.machine]
        return struct.pack(f"<{len(names)}Q", *(known.get(name, 0) for name in names))


def plain(name):
    """A symbol as Rust writes it: without its hash, and without the marks of the older encoding, which lldb does not know."""
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    marks = {"LT": "<", "GT": ">", "RF": "&", "BP": "*", "LP": "(", "RP": ")", "C": ",", "u20": " ", "u7b": "{", "u7d": "}"}
    name = re.sub(r"\$(\w+?)\$", lambda mark: marks.get(mark[1], mark[0]), name)
    return re.sub(r"(^|::)_(?=[<{])", r"\1", name).replace("..", "::")


def show_stack(process, host, result, most=None):
    tid = host.worker.tid if host.is_running else FIRST_THREAD + host.id
    thread = process.GetThreadByID(tid)
    if not thread.IsValid():
        result.AppendMessage("    its stack cannot be shown")
        return
    frames = list(thread.frames)
    for frame in frames[:most]:
        line, name = frame.GetLineEntry(), frame.GetDisplayFunctionName() or hex(frame.pc)
        at = f" at {line.GetFileSpec().fullpath}:{line.GetLine()}" if line.IsValid() else ""
        result.AppendMessage(f"#{frame.idx:<2} {plain(name)}{at}")
    if len(frames[:most]) < len(frames):
        result.AppendMessage(f"    and more: lamprey-bt {host.id}")


def command(act):
    def run(debugger, argument, exe_ctx, result, _dict):
        process = exe_ctx.GetProcess()
        try:
            act(process, argument.strip(), result)
        except lamprey_threads.Failed as error:
            result.SetError(str(error))

    return run


def hosts(process, argument, result):
    found = hosts_of(process)
    for host in found:
        result.AppendMessage(str(host))
        if argument == "bt":
            show_stack(process, host, result, CALLS)
    result.AppendMessage(f"{len(found)} host{'' if len(found) == 1 else 's'}")


def backtrace(process, argument, result):
    found = [host for host in hosts_of(process) if str(host.id) == argument]
    if not found:
        raise lamprey_threads.Failed(f"there is no host `{argument}`: lamprey-bt takes a number, see lamprey-hosts")
    for host in found:
        result.AppendMessage(str(host))
        show_stack(process, host, result)


def parasites(process, _argument, result):
    for threads in all_threads(process):
        for worker in threads.workers():
            for parasite in worker.parasites():
                result.AppendMessage(str(parasite))


lamprey_hosts, lamprey_bt, lamprey_parasites = command(hosts), command(backtrace), command(parasites)


def __lldb_init_module(debugger, _dict):
    if not has_own_module():
        # Nothing else works here, not even telling lldb that this has failed.
        print(f"lldb_hosts.py: this lldb does not find its own Python module; {how_to_find('/proc/self/exe')}", file=sys.stderr)
        return
    # lldb loads this file again, as the plug-in that is set below. What is known of that lies where a second load does not reach.
    known = vars(lldb).setdefault("_debuggers_with_lamprey", set())
    if debugger.GetID() in known:
        return
    known.add(debugger.GetID())
    for name in ("hosts", "bt", "parasites"):
        debugger.HandleCommand(f"command script add -f {__name__}.lamprey_{name} lamprey-{name}")
    debugger.HandleCommand(f"settings set target.process.python-os-plugin-path {os.path.abspath(__file__)}")
