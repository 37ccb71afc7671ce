//! Batches: several reads or writes of one file, which the kernel is given together.

use super::File;
use super::direct::Transfer;
use super::perform::block;
use crate::driver::uring::Answer;
use crate::driver::uring::here::{Here, here};
use crate::driver::uring::op::{read, write};
use crate::io::offset::check_offset;
use crate::sched::coop;
use std::io;
use std::os::unix::fs::FileExt;

impl File {
    /// Reads at several offsets, in no order, and returns for each what [`read_at`](Self::read_at) would.
    ///
    /// With io_uring the kernel is given all of them by one system call, and the disk works on them at the same time;
    /// with epoll one thread of the pool makes them, one after the other.
    ///
    /// # Examples
    /// ```
    /// let found = lamprey::run(|| -> std::io::Result<_> {
    ///     let file = lamprey::fs::File::open("Cargo.toml")?;
    ///     let (mut a, mut b) = ([0; 4], [0; 4]);
    ///     let counts = file.read_batch(&mut [(0, &mut a), (8, &mut b)]);
    ///     counts.into_iter().map(Result::unwrap).for_each(|count| assert_eq!(count, 4));
    ///     Ok([a, b])
    /// })?;
    /// let text = std::fs::read("Cargo.toml")?;
    /// assert_eq!(found[0], text[..4]);
    /// assert_eq!(found[1], text[8..12]);
    /// # std::io::Result::Ok(())
    /// ```
    ///
    /// # Errors
    /// Each result has its own, as for `read_at`.
    ///
    /// # Cancellation
    /// A cancelled thread waits for those that the kernel has begun, and unwinds from here if others were given up.
    ///
    /// # Blocking
    /// As [`File`]'s other calls.
    pub fn read_batch(&self, parts: &mut [(u64, &mut [u8])]) -> Vec<io::Result<usize>> {
        if self.key().is_some() {
            return parts.iter_mut().map(|(offset, buf)| self.read_at(buf, *offset)).collect();
        }
        let ring = ring_for(parts.iter().map(|(offset, _)| *offset));
        let answers = ring.map(|here| read::read_all(here, self.as_fd_of_file(), parts));
        let calls = parts.iter_mut();
        let done = finish(answers, calls.map(|(offset, buf)| (*offset, || self.file.read_at(buf, *offset))));
        self.all_explained(done, parts.iter().map(|(offset, buf)| Transfer::of(buf, *offset)))
    }

    /// Writes at several offsets, in no order, and returns for each what [`write_at`](Self::write_at) would.
    ///
    /// # Errors
    /// As for [`read_batch`](Self::read_batch).
    ///
    /// # Cancellation
    /// As for `read_batch`; some may have been written.
    ///
    /// # Blocking
    /// As for `read_batch`.
    pub fn write_batch(&self, parts: &[(u64, &[u8])]) -> Vec<io::Result<usize>> {
        if self.key().is_some() {
            return parts.iter().map(|(offset, buf)| self.write_at(buf, *offset)).collect();
        }
        let ring = ring_for(parts.iter().map(|(offset, _)| *offset));
        let answers = ring.map(|here| write::write_all(here, self.as_fd_of_file(), parts));
        let calls = parts.iter();
        let done = finish(answers, calls.map(|(offset, buf)| (*offset, || self.file.write_at(buf, *offset))));
        self.all_explained(done, parts.iter().map(|(offset, buf)| Transfer::of(buf, *offset)))
    }

    fn all_explained(
        &self,
        done: Vec<io::Result<usize>>,
        what: impl IntoIterator<Item = Transfer>,
    ) -> Vec<io::Result<usize>> {
        done.into_iter().zip(what).map(|(done, what)| self.explained(done, what)).collect()
    }
}

/// The ring for a batch; `None` if one of the offsets is beyond all files, which may mean the cursor to the kernel.
fn ring_for(mut offsets: impl Iterator<Item = u64>) -> Option<Here> {
    coop::call(coop::SYSTEM);
    here().filter(|_| offsets.all(|offset| check_offset(offset).is_ok()))
}

/// The results of a batch: what the kernel has answered, and what the pool finds out by the calls of the other parts.
fn finish<C: FnOnce() -> io::Result<usize>>(
    answers: Option<Vec<Option<Answer>>>,
    calls: impl Iterator<Item = (u64, C)> + Send,
) -> Vec<io::Result<usize>> {
    let is_done = answers.as_ref().is_some_and(|answers| answers.iter().all(Option::is_some));
    let answers = answers.unwrap_or_default();
    let finish = |(at, (offset, call)): (usize, (u64, C))| {
        check_offset(offset)?;
        answers.get(at).copied().flatten().map_or_else(call, Answer::value)
    };
    let finish_all = || calls.enumerate().map(finish).collect();
    if is_done { finish_all() } else { block(finish_all) }
}
