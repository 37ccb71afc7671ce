//! Computes the calls that a [`Sample`] shows: with `framehop`, from the unwind tables (`.eh_frame`, which
//! optimised builds have too) of the loaded programs and libraries as they are in memory.
//!
//! Nothing here trusts the sample: each read is checked against what was copied, and each address against the
//! code that is known. A value that does not fit ends the walk.
//!
//! # Rejected
//! * `dl_iterate_phdr`: it takes the loader's lock, which a thread that computes in a library's constructor
//!   holds as long as it computes; and what it lists may be unloaded before it is read. `/proc/self/maps` and
//!   copies take no lock. (Without `/proc` there are no backtraces.)
//! * Frame pointers: optimised code has none.

use super::sample::{Registers, Sample, read_own};
use framehop::{ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind, Module, Unwinder as _};
use std::ops::Range;

#[cfg(test)]
mod tests;

type Unwinder = framehop::UnwinderNative<Vec<u8>, MayAllocateDuringUnwind>;
type Cache = framehop::CacheNative<MayAllocateDuringUnwind>;

/// Most frames of a stack that are kept.
pub(in crate::sched) const DEPTH: usize = 64;

/// The code that was loaded when this was made, and its unwind tables.
pub(in crate::sched) struct Code {
    unwinder: Unwinder,
    /// The address ranges of the code, in ascending order.
    ranges: Vec<Range<u64>>,
}

/// Unwinds one sample after the other.
pub(in crate::sched) struct Walker<'a> {
    code: &'a Code,
    cache: Cache,
}

impl Code {
    /// Copies the tables of all loaded files; empty if `/proc/self/maps` cannot be read.
    pub(in crate::sched) fn read() -> Self {
        let mut this = Self { unwinder: Unwinder::new(), ranges: Vec::new() };
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        // The first mapping of a file, whose code may be on the next lines.
        let mut header: Option<Mapping<'_>> = None;
        for mapping in maps.lines().filter_map(Mapping::parse) {
            if mapping.offset == 0 {
                header = Some(mapping.clone());
            }
            let header = header.as_ref().filter(|header| mapping.is_code && header.file == mapping.file);
            if let Some(header) = header {
                this.add(header.range.start, mapping.range);
            }
        }
        this
    }

    fn add(&mut self, header: u64, range: Range<u64>) {
        let Some(Tables { index, frames }) = Tables::read(header) else { return };
        let sections = ExplicitModuleSectionInfo {
            // The tables have been relocated in memory: stated addresses (SVMA) are actual addresses.
            base_svma: header,
            text_svma: Some(range.clone()),
            eh_frame_hdr_svma: Some(index.range()),
            eh_frame_hdr: Some(index.bytes),
            eh_frame_svma: Some(frames.range()),
            eh_frame: Some(frames.bytes),
            ..ExplicitModuleSectionInfo::default()
        };
        self.ranges.push(range.clone());
        self.unwinder.add_module(Module::new(String::new(), range, header, sections));
    }

    fn knows(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.start <= address);
        after > 0 && self.ranges[after - 1].contains(&address)
    }

    pub(in crate::sched) fn walker(&self) -> Walker<'_> {
        Walker { code: self, cache: Cache::new() }
    }
}

impl Walker<'_> {
    /// An address within each call, the innermost first: of the innermost the address of its next
    /// instruction, of the others the address just before the return address.
    pub(in crate::sched) fn walk(&mut self, sample: &Sample) -> Vec<usize> {
        self.walk_up(sample.registers, DEPTH, |address| sample.word(address))
    }

    /// As [`walk`](Self::walk), with at most `depth` calls; `word` reads a word of the stack by its address.
    pub(in crate::sched) fn walk_up(
        &mut self,
        from: Registers,
        depth: usize,
        word: impl Fn(u64) -> Option<u64>,
    ) -> Vec<usize> {
        let mut calls = Vec::new();
        // Quietly: a panic of the unwinder on a garbage sample must not end the process.
        crate::bug::quietly(|| self.walk_into(from, depth, word, &mut calls));
        calls
    }

    fn walk_into(
        &mut self,
        from: Registers,
        depth: usize,
        word: impl Fn(u64) -> Option<u64>,
        calls: &mut Vec<usize>,
    ) {
        let mut registers = native(from);
        let mut read = |address| word(address).ok_or(());
        let mut at = FrameAddress::from_instruction_pointer(from.pc as u64);
        while calls.len() < depth {
            let call = at.address_for_lookup();
            if !self.code.knows(call) {
                break;
            }
            calls.push(call as usize);
            let caller = self.code.unwinder.unwind_frame(at, &mut registers, &mut self.cache, &mut read);
            let Ok(Some(address)) = caller else { break };
            let Some(next) = FrameAddress::from_return_address(address) else { break };
            at = next;
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn native(from: Registers) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(from.pc as u64, from.sp as u64, from.fp as u64)
}

#[cfg(target_arch = "aarch64")]
fn native(from: Registers) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(from.lr as u64, from.sp as u64, from.fp as u64)
}

/// A line of `/proc/self/maps` for a part of a program or library.
#[derive(Clone)]
struct Mapping<'a> {
    range: Range<u64>,
    is_code: bool,
    offset: u64,
    /// Device, inode and path.
    file: &'a str,
}

impl<'a> Mapping<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.splitn(4, ' ');
        let (start, end) = parts.next()?.split_once('-')?;
        let rights = parts.next()?;
        let offset = parts.next()?;
        let file = parts.next()?;
        let hex = |text| u64::from_str_radix(text, 16).ok();
        // The vDSO is a library without a file.
        let is_file = file.split(' ').nth(1)? != "0" || file.ends_with("[vdso]");
        let (range, offset) = (hex(start)?..hex(end)?, hex(offset)?);
        is_file.then_some(Self { range, is_code: rights.as_bytes().get(2) == Some(&b'x'), offset, file })
    }
}

/// A copied part of a loaded file, and its address.
struct Part {
    address: u64,
    bytes: Vec<u8>,
}

impl Part {
    /// `None` if it cannot be read to its end.
    fn read(address: u64, length: u64) -> Option<Self> {
        let mut bytes = vec![0; usize::try_from(length).ok().filter(|&length| length <= LARGEST)?];
        let is_all = read_own(usize::try_from(address).ok()?, &mut bytes) == bytes.len();
        is_all.then_some(Self { address, bytes })
    }

    fn range(&self) -> Range<u64> {
        self.address..self.address + self.bytes.len() as u64
    }

    fn get<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.get(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.get(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: usize) -> Option<u64> {
        self.get(at).map(u64::from_le_bytes)
    }
}

/// Most bytes that are copied of one part of a file.
const LARGEST: usize = 1 << 30;

/// The unwind tables of a loaded file: `.eh_frame_hdr` and `.eh_frame`.
struct Tables {
    index: Part,
    frames: Part,
}

const PT_LOAD: u32 = 1;
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

/// How all linkers encode the address of `.eh_frame` (DW_EH_PE_pcrel | DW_EH_PE_sdata4): four bytes, signed,
/// relative to their own address.
const RELATIVE: u8 = 0x1b;

impl Tables {
    /// Copies the tables of the ELF file whose header was loaded at `header`. `None` if there is no ELF
    /// header, or no table.
    fn read(header: u64) -> Option<Self> {
        const SIZE: usize = 56;
        let elf = Part::read(header, 64)?;
        // 64 bits, little-endian.
        if elf.get(0)? != *b"\x7fELF\x02\x01" || usize::from(elf.u16(54)?) != SIZE {
            return None;
        }
        let list = &Part::read(header.checked_add(elf.u64(32)?)?, u64::from(elf.u16(56)?) * SIZE as u64)?;
        let of_type = |wanted| {
            let segments = (0..list.bytes.len() / SIZE).map(|n| n * SIZE);
            segments.filter(move |&at| list.u32(at) == Some(wanted))
        };
        let field = |at: usize, offset| list.u64(at + offset);
        let (file_offset, address, file_size) = (8, 16, 32);
        let first = of_type(PT_LOAD).find(|&at| field(at, file_offset) == Some(0))?;
        let moved_by = header.wrapping_sub(field(first, address)?);
        let found = of_type(PT_GNU_EH_FRAME).next()?;
        let index = Part::read(moved_by.wrapping_add(field(found, address)?), field(found, file_size)?)?;
        if *index.bytes.get(1)? != RELATIVE {
            return None;
        }
        let frames = (index.address + 4).wrapping_add_signed(i64::from(i32::from_le_bytes(index.get(4)?)));
        // To the end of its segment: the length of `.eh_frame` is not recorded.
        let end = of_type(PT_LOAD).find_map(|at| {
            let start = moved_by.wrapping_add(field(at, address)?);
            let end = start.checked_add(field(at, file_size)?)?;
            (start..end).contains(&frames).then_some(end)
        })?;
        Some(Self { index, frames: Part::read(frames, end - frames)? })
    }
}
