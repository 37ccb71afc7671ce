//! Random reads of a large file that pass the kernel's cache by, by many threads at a time.

use crate::harness::Sample;
use anyhow::{Context, Result, ensure};
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The bytes of a read.
pub const BLOCK: usize = 4 << 10;
/// The file: 1 GiB, and for a tiny run 4 MiB.
const BLOCKS: [u64; 2] = [1 << 18, 1 << 10];
/// How many threads read at a time.
pub const THREADS: [u64; 5] = [1, 16, 256, 4096, 65_536];
/// The most threads for each read that a run has, so that a tiny run is tiny.
const THREADS_PER_READ: u64 = 16;

/// What is read, and by whom.
pub struct Plan {
    /// The file.
    pub path: PathBuf,
    blocks: u64,
    reads: u64,
}

impl Plan {
    /// A run of `reads` reads by each number of threads. The file is made if it is not there.
    pub fn new(reads: u64) -> Result<Self> {
        let blocks = BLOCKS[usize::from(reads < 1000)];
        Ok(Self { path: file(blocks)?, blocks, reads })
    }

    /// The file, whose reads must be of aligned memory.
    pub fn open(&self) -> Result<File> {
        let file = OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(&self.path);
        file.with_context(|| format!("no O_DIRECT in the file system of {}", self.path.display()))
    }

    /// The numbers of threads, of which there are at most `most`.
    pub fn crowds(&self, all: &[u64], most: u64) -> Vec<u64> {
        let most = most.min(self.reads * THREADS_PER_READ);
        all.iter().copied().filter(|&threads| threads <= most).collect()
    }

    /// How many reads each of so many threads makes.
    pub fn each(&self, threads: u64) -> u64 {
        (self.reads / threads).max(1)
    }

    /// Has `read` make the reads for each number of threads up to `most`, as [`Reads`] says. It returns their time.
    pub fn samples(
        &self,
        all: &[u64],
        most: u64,
        mut read: impl FnMut(u64, &'static AtomicU64) -> Result<Duration>,
    ) -> Result<Vec<Sample>> {
        let mut samples = Vec::new();
        for threads in self.crowds(all, most) {
            let done: &'static AtomicU64 = Box::leak(Box::default());
            let took = read(threads, done)?;
            let reads = self.each(threads) * threads;
            // Relaxed: all threads have been joined.
            let done = done.load(Relaxed);
            ensure!(done == reads, "{done} of {reads} reads have been made");
            samples.push(Sample::ns_each(&format!("read_{threads}"), took, reads));
        }
        Ok(samples)
    }

    /// The reads of one of so many threads.
    pub fn reads(&self, thread: u64, threads: u64, done: &'static AtomicU64) -> Reads {
        // Different for each thread, and not 0.
        let random = (thread + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        Reads { random, blocks: self.blocks, left: self.each(threads), block: 0, done }
    }
}

/// Where a thread reads: an iterator over offsets.
pub struct Reads {
    random: u64,
    blocks: u64,
    left: u64,
    block: u64,
    done: &'static AtomicU64,
}

impl Reads {
    /// Fails unless this is what is in the file at the last offset.
    pub fn check(&self, read: usize, bytes: &[u8]) {
        let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        assert_eq!((read, word(0), word(BLOCK - 8)), (BLOCK, self.block, self.block), "a block of the file");
        // Relaxed: only a count.
        self.done.fetch_add(1, Relaxed);
    }
}

impl Iterator for Reads {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        self.left = self.left.checked_sub(1)?;
        // Marsaglia's xorshift.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.block = self.random % self.blocks;
        Some(self.block * BLOCK as u64)
    }
}

/// The file of so many blocks, beside this program. It stays there for the next run.
fn file(blocks: u64) -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name(format!("lamprey-bench-disk-{blocks}"));
    if !is_whole(&path, blocks) {
        let dir = path.parent().context("a program is in a directory")?;
        // Under its name only when it is whole.
        let made = tempfile::NamedTempFile::new_in(dir).context("cannot make the file to read")?;
        let mut bytes = BufWriter::with_capacity(1 << 20, made.as_file());
        for block in 0..blocks {
            bytes
                .write_all(&block.to_ne_bytes().repeat(BLOCK / 8))
                .context("cannot fill the file to read")?;
        }
        bytes.flush()?;
        drop(bytes);
        made.as_file().sync_all()?;
        made.persist(&path)?;
    }
    Ok(path)
}

fn is_whole(path: &Path, blocks: u64) -> bool {
    let mut last = [0; 8];
    let has_length = fs::metadata(path).is_ok_and(|data| data.len() == blocks * BLOCK as u64);
    let mut read = || File::open(path)?.read_exact_at(&mut last, (blocks - 1) * BLOCK as u64);
    has_length && read().is_ok() && last == (blocks - 1).to_ne_bytes()
}
