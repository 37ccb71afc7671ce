"""Tests of what gdb_hosts.py and lldb_hosts.py share that no live program of this machine shows: python3 tools/test_debuggers.py"""

import os
import pathlib
import struct
import sys
import tempfile
import types
import unittest

import lamprey_threads

# As an lldb has it that does not find its own module.
sys.modules["lldb"] = types.ModuleType("lldb")
import lldb_hosts


def memory(base, data):
    return lambda address, count: data[address - base : address - base + count]


class Registers(unittest.TestCase):
    """The words that the switches push: the pictures in crates/swapstack/src/arch/."""

    def test_x86_64(self):
        read = memory(0x1000, struct.pack("<3Q", 0xAA, 0xBB, 0xCC))
        known = lamprey_threads.registers("x86_64", read, 0x1000)
        self.assertEqual(known, {"rip": 0xAA, "rbx": 0xBB, "rbp": 0xCC, "rsp": 0x1018})

    def test_aarch64(self):
        read = memory(0x1000, struct.pack("<4Q", 0x29, 0x19, 0xAA, 0))
        known = lamprey_threads.registers("aarch64", read, 0x1000)
        self.assertEqual(known, {"pc": 0xAA, "sp": 0x1020, "x29": 0x29, "x19": 0x19})


class ConstantText(unittest.TestCase):
    """The code of a function that returns a text."""

    def check(self, machine, code, expected):
        read = memory(0x40000, code.ljust(64, b"\0"))
        self.assertEqual(lamprey_threads.constant_text(machine, read, 0x40000), expected)

    def test_x86_64(self):
        lea, mov = b"\x48\x8d\x05" + struct.pack("<i", 0x100), b"\xba" + struct.pack("<I", 37)
        self.check("x86_64", lea + mov + b"\xc3", (0x40107, 37))
        self.check("x86_64", mov + lea + b"\xc3", (0x4010C, 37))
        # A length byte like the code of `mov` within the offset.
        lea = b"\x48\x8d\x05" + struct.pack("<i", 0xBA)
        self.check("x86_64", lea + mov + b"\xc3", (0x400C1, 37))
        self.check("x86_64", b"\x31\xc0\xc3", None)

    def test_aarch64(self):
        adrp = 0x90000000 | 2 << 29  # two pages on
        add, mov, ret = 0x91000000 | 0x123 << 10, 0x52800001 | 37 << 5, 0xD65F03C0
        self.check("aarch64", struct.pack("<4I", adrp, add, mov, ret), (0x42123, 37))
        self.check("aarch64", struct.pack("<4I", mov, adrp, add, ret), (0x42123, 37))
        back = 0x90000000 | (0x1FFFFF & 3) << 29 | (0x1FFFFF >> 2) << 5  # one page back
        self.check("aarch64", struct.pack("<4I", back, add, mov, ret), (0x3F123, 37))
        self.check("aarch64", struct.pack("<2I", mov, ret), None)


class OwnModule(unittest.TestCase):
    """What is said where lldb does not find its own Python module."""

    def test_its_folder_is_named_or_what_to_install(self):
        self.assertFalse(lldb_hosts.has_own_module())
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(os.path.realpath(folder))
            self.assertIn("Install it", lldb_hosts.how_to_find(prefix / "bin/lldb"))
            module = prefix / f"lib/python{sys.version_info[0]}.{sys.version_info[1]}/dist-packages/lldb/embedded_interpreter.py"
            module.parent.mkdir(parents=True)
            module.touch()
            self.assertIn(f"PYTHONPATH={module.parent.parent} ", lldb_hosts.how_to_find(prefix / "bin/lldb"))


if __name__ == "__main__":
    unittest.main()
