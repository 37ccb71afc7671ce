//! Files in a simulation: each call is one of the simulated disk of its machine ([`world::disk`](crate::world::disk)).
//!
//! The thread waits for as long as the disk takes, and then the call is performed at once. A host that is cancelled before
//! unwinds, and nothing has happened. The call of a future is performed before or after the wait, as chance has it: so a
//! future that is dropped may have had its effect, as outside of simulations.

use super::metadata::Metadata;
use super::{File, Kind};
use crate::driver::{block, block_async};
use crate::sched::wait::wait;
use crate::sched::{Wait, coop};
use crate::time;
use crate::world::disk::{Call, Disks, Key};
use crate::world::{self, MachineId, World};
use rustix::fs::FlockOperation;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

/// In a simulation, the machine of the caller: its paths are those of that machine's disk.
#[inline]
pub(super) fn machine() -> Option<MachineId> {
    if world::is_simulated() { world::with(World::machine) } else { None }
}

/// Performs a call of the caller's simulation.
fn perform<T>(call: impl FnOnce(&World, &Disks) -> io::Result<T>) -> io::Result<T> {
    world::with(|world| call(world, &world.disks)).unwrap_or_else(|| Err(is_over()))
}

/// Of a future that began in a simulation, and is polled elsewhere.
fn is_over() -> io::Error {
    io::Error::other("a call of a simulated disk was to be made outside of its simulation")
}

fn takes(machine: MachineId, call: Call) -> Duration {
    world::with(|world| world.disks.takes(world, machine, call)).unwrap_or_default()
}

/// Blocks for as long as the disk of `machine` takes, and performs a call.
pub(super) fn on_disk<T>(
    machine: MachineId,
    kind: Call,
    call: impl FnOnce(&World, &Disks) -> io::Result<T>,
) -> io::Result<T> {
    let takes = takes(machine, kind);
    if takes.is_zero() {
        coop::call(coop::SYSTEM);
    } else {
        // In no wait queue: only the deadline or a cancellation ends it. A host that is unwinding does not wait.
        wait(Wait::Blocking, time::deadline(takes), |_| true, |_| true).unwind_if_cancelled();
    }
    perform(call)
}

/// The awaitable form of [`on_disk`].
pub(super) async fn on_disk_async<T>(
    machine: MachineId,
    kind: Call,
    call: impl FnOnce(&World, &Disks) -> io::Result<T>,
) -> io::Result<T> {
    let takes = takes(machine, kind);
    if world::with(|world| world.chance.below(2)) == Some(1) {
        let done = perform(call);
        crate::sleep::sleep_async(takes).await;
        return done;
    }
    crate::sleep::sleep_async(takes).await;
    perform(call)
}

/// Performs a call on the simulated disk of the caller's machine, or, outside of simulations, on the pool.
pub(super) fn call<T: Send>(
    kind: Call,
    simulated: impl FnOnce((&World, MachineId), &Disks) -> io::Result<T>,
    real: impl FnOnce() -> io::Result<T> + Send,
) -> io::Result<T> {
    match machine() {
        Some(at) => on_disk(at, kind, |world, disks| simulated((world, at), disks)),
        None => block(real),
    }
}

/// The awaitable form of [`call`].
pub(super) async fn call_async<T: Send + 'static>(
    kind: Call,
    simulated: impl FnOnce((&World, MachineId), &Disks) -> io::Result<T>,
    real: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    match machine() {
        Some(at) => on_disk_async(at, kind, |world, disks| simulated((world, at), disks)).await,
        None => block_async(real).await,
    }
}

/// An open file of a simulated disk.
pub(super) fn opened((fd, key): (OwnedFd, Key)) -> File {
    File { kind: Kind::Simulated(key), ..File::from(std::fs::File::from(fd)) }
}

/// What refuses the options of the standard library, which nobody but it can read.
pub(super) fn refuse_foreign_options(path: &Path) -> io::Result<()> {
    if !world::is_simulated() {
        return Ok(());
    }
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        format!(
            "a simulated disk cannot read std's OpenOptions: open {path:?} with lamprey::fs::OpenOptions"
        ),
    ))
}

impl File {
    /// What it is of, if it is on a simulated disk and this is a simulation.
    #[inline]
    pub(super) fn key(&self) -> Option<Key> {
        match self.kind {
            Kind::Simulated(key) if world::is_simulated() => Some(key),
            _ => None,
        }
    }

    /// Performs a call on the simulated disk that the file is on, or, outside of simulations, on the pool.
    pub(super) fn call<T: Send>(
        &self,
        kind: Call,
        simulated: impl FnOnce((&World, Key), &Disks) -> io::Result<T>,
        real: impl FnOnce(&std::fs::File) -> io::Result<T> + Send,
    ) -> io::Result<T> {
        match self.key() {
            Some(key) => on_disk(key.machine(), kind, |world, disks| simulated((world, key), disks)),
            None => block(|| real(&self.file)),
        }
    }

    /// The awaitable form of [`call`](Self::call).
    pub(super) async fn call_async<T: Send + 'static>(
        &self,
        kind: Call,
        simulated: impl FnOnce((&World, Key), &Disks) -> io::Result<T>,
        real: impl FnOnce(&std::fs::File) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        match self.key() {
            Some(key) => {
                on_disk_async(key.machine(), kind, |world, disks| simulated((world, key), disks)).await
            }
            None => self.on_pool(real).await,
        }
    }

    /// Locks or unlocks the file, or finds that it is locked; waits for nothing.
    pub(super) fn lock_simulated(&self, key: Key, operation: FlockOperation) -> io::Result<()> {
        perform(|world, disks| disks.lock(world, key, self.file.as_fd(), operation))
    }

    pub(super) fn read_simulated(&self, key: Key, buf: &mut [u8], at: Option<u64>) -> io::Result<usize> {
        let read = |world: &World, disks: &Disks| disks.read((world, key), self.file.as_fd(), buf, at);
        on_disk(key.machine(), Call::Read, read)
    }

    pub(super) fn write_simulated(&self, key: Key, buf: &[u8], at: Option<u64>) -> io::Result<usize> {
        let write = |world: &World, disks: &Disks| disks.write((world, key), self.file.as_fd(), buf, at);
        on_disk(key.machine(), Call::Write, write)
    }

    pub(super) async fn read_simulated_async(
        &self,
        key: Key,
        buf: &mut [u8],
        at: Option<u64>,
    ) -> io::Result<usize> {
        let read = |world: &World, disks: &Disks| disks.read((world, key), self.file.as_fd(), buf, at);
        on_disk_async(key.machine(), Call::Read, read).await
    }

    pub(super) async fn write_simulated_async(
        &self,
        key: Key,
        buf: &[u8],
        at: Option<u64>,
    ) -> io::Result<usize> {
        let write = |world: &World, disks: &Disks| disks.write((world, key), self.file.as_fd(), buf, at);
        on_disk_async(key.machine(), Call::Write, write).await
    }

    pub(super) fn sync_simulated(&self, key: Key) -> impl FnOnce(&World, &Disks) -> io::Result<()> {
        move |world, disks| disks.sync(world, key)
    }

    pub(super) fn stat_simulated(&self, key: Key) -> impl FnOnce(&World, &Disks) -> io::Result<Metadata> {
        move |world, disks| disks.stat(world, key, self.file.as_fd()).map(Metadata::simulated)
    }

    pub(super) fn set_len_simulated(
        &self,
        key: Key,
        len: u64,
    ) -> impl FnOnce(&World, &Disks) -> io::Result<()> {
        move |world, disks| disks.set_len(world, key, self.file.as_fd(), len)
    }
}

/// Finds a descriptor again that was converted to another type.
pub(super) fn kind_of(file: &std::fs::File) -> Option<Kind> {
    if !world::is_simulated() {
        return None;
    }
    world::with(|world| world.disks.key_of(file)).flatten().map(Kind::Simulated)
}
