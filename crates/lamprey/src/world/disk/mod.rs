//! The disks of a world's machines, on which `lamprey::fs` works in a simulation.
//!
//! A call of the program comes here when the time has passed that it takes ([`Disks::takes`]), and is performed at once.
//! What is by chance of it is drawn here: whether it fails, how much of it is done, and what a failure of the machine
//! leaves. A call on a machine that has failed, or by a file that was opened before, fails with EIO.
//!
//! `volume.rs` is one disk, `names.rs` its directories, `content.rs` the bytes of a file; `calls.rs` and
//! `attributes.rs` are what programs call.
//!
//! # Invariants
//! 1. Nothing is borrowed while code of the program runs: none does, in a call.
//! 2. Each call is a line in the log, with its result.

mod attributes;
mod calls;
mod changes;
mod content;
mod fate;
mod handle;
mod inode;
mod names;
mod path;
mod settings;
mod volume;

#[cfg(not(loom))]
pub(crate) use inode::Stat;
pub use settings::DiskSettings;
#[cfg(not(loom))]
pub(crate) use volume::Listed;

use super::{MachineId, World};
use content::number_of;
use fate::Fate;
use names::Ino;
use rustix::io::Errno;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime};
use volume::Volume;

/// How often, in a million, a call that changes something has the system write back some of what is dirty.
const WRITE_BACK: u32 = 50_000;

/// The disks of all machines; each is made when it is first used.
#[derive(Default)]
pub(crate) struct Disks {
    settings: RefCell<DiskSettings>,
    volumes: RefCell<BTreeMap<MachineId, Volume>>,
    /// One of them has been used.
    any: Cell<bool>,
}

/// What an open file is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    machine: MachineId,
    epoch: u32,
    ino: Ino,
}

/// Kinds of calls, which may fail with different probabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Call {
    Open,
    Read,
    Write,
    Sync,
    /// Of the system's memory, not of the disk: never fails by chance.
    Lock,
}

impl Key {
    pub(crate) fn machine(self) -> MachineId {
        self.machine
    }
}

impl World {
    /// The world's clock, as a time of day.
    pub(crate) fn system_time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + self.since_epoch()
    }
}

impl Disks {
    /// The settings of disks that have not been used yet.
    pub(crate) fn set_all(&self, settings: DiskSettings) {
        *self.settings.borrow_mut() = settings;
    }

    /// Sets how the disk of a machine is from now on.
    pub(crate) fn set(&self, world: &World, at: MachineId, settings: DiskSettings) {
        self.volume(world, at, |volume| volume.settings = settings);
    }

    fn volume<R>(&self, world: &World, at: MachineId, f: impl FnOnce(&mut Volume) -> R) -> R {
        self.any.set(true);
        let mut volumes = self.volumes.borrow_mut();
        let made = || Volume::new(self.settings.borrow().clone(), world.system_time());
        f(volumes.entry(at).or_insert_with(made))
    }

    /// How long a call takes. Nothing on a machine that has failed.
    pub(crate) fn takes(&self, world: &World, at: MachineId, call: Call) -> Duration {
        self.volume(world, at, |volume| {
            let settings = &volume.settings;
            let range = if call == Call::Sync { &settings.sync_latency } else { &settings.latency };
            if volume.is_off { Duration::ZERO } else { world.chance.between(*range.start(), *range.end()) }
        })
    }

    /// Performs a call, which also returns a number for the log.
    fn perform<T>(
        &self,
        (world, at, call): (&World, MachineId, Call),
        what: Arguments<'_>,
        perform: impl FnOnce(&mut Volume) -> Result<(T, u64), Errno>,
    ) -> io::Result<T> {
        let done = self.volume(world, at, |volume| {
            let settings = &volume.settings;
            let rate = match call {
                Call::Open => settings.open_errors,
                Call::Read => settings.read_errors,
                Call::Write => settings.write_errors,
                // A sync draws for itself.
                Call::Sync | Call::Lock => 0,
            };
            if volume.is_off || world.chance.happens(rate) {
                return Err(Errno::IO);
            }
            let done = perform(volume);
            let changes = matches!(call, Call::Open | Call::Write) && !volume.names.is_settled();
            if changes && world.chance.happens(WRITE_BACK) {
                volume.write_back_names(Fate::some(&world.chance));
            }
            done
        });
        match done {
            Ok((value, number)) => {
                world.note(format_args!("disk {}: {what} = {number}", at.0));
                Ok(value)
            }
            Err(error) => {
                world.note(format_args!("disk {}: {what} = error {}", at.0, error.raw_os_error()));
                Err(error.into())
            }
        }
    }

    /// What a descriptor is of, if it is of one of these disks.
    pub(crate) fn key_of(&self, file: impl AsFd) -> Option<Key> {
        if !self.any.get() {
            return None;
        }
        let number = number_of(file).ok()?;
        self.volumes.borrow().iter().find_map(|(machine, volume)| {
            let (ino, _) = volume.inodes.iter().find(|(_, inode)| inode.content.is(number))?;
            Some(Key { machine: *machine, epoch: volume.epoch, ino: *ino })
        })
    }

    /// The machine's program ends, and with it all that it has open. If the machine itself fails, its disk goes back to
    /// what has reached it.
    pub(crate) fn end(&self, world: &World, at: MachineId, fails: bool) {
        self.volume(world, at, |volume| {
            volume.is_off = true;
            volume.epoch += 1;
            if fails {
                volume.crash(world, at);
            }
        });
    }

    /// The machine is started again.
    pub(crate) fn start(&self, world: &World, at: MachineId) {
        self.volume(world, at, |volume| volume.is_off = false);
    }
}
