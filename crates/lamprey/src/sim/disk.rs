//! [`Disk`]: the disk of a machine.

use super::builder::SimBuilder;
use super::machine::Machine;
use super::run::Run;
use crate::world::disk::{DiskSettings, Disks};
use crate::world::{MachineId, World};
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The disk of a machine, as a test sees it: its calls take no time, never fail by chance, and also work while the machine
/// is down. The program itself uses [`lamprey::fs`](crate::fs).
///
/// A disk begins with the directories `/` and `/tmp`; relative paths are relative to `/`. It has files and directories, no
/// links (making one is an error, `Unsupported`), no owners; permissions are kept, and all may do all. Each file that has been opened takes a descriptor of the process.
///
/// # What survives
/// When a machine [crashes](Machine::crash), its disk goes back to what is durable, and a part, by chance, of what has been
/// changed since:
/// * **Content** is durable after `sync_all` or `sync_data` of the file (which do the same here), and after a write to one
///   opened with `O_SYNC` or `O_DSYNC`. Of what was written since, each sector of 512 bytes has its old content or the new
///   one, independently of the others. The file's length is the old one, the new one, or between.
/// * **Names** are durable after a `sync_all` of the directory (`File::open(directory)`). A new file's name is durable, too,
///   after a sync of the file, and so are the directories that lead to it; after a rename it needs the directory. Of other
///   changes some have happened, in any order, but those of one name in theirs. A rename has happened or not, and never
///   half.
/// * Content and names are independent: a new name may be there without its content.
/// * A descriptor that was opened before a crash fails with EIO, and so does each call while the machine ends.
///
/// When a [signal](Machine::signal) ends the program, nothing is lost: what was written is in the memory of the system. It is
/// still not durable.
///
/// # Examples
/// ```
/// use lamprey::{Runtime, fs, sim::Machine};
/// use lamprey::fs::File;
/// use std::io::Write;
///
/// for seed in 0..20 {
///     Runtime::simulated(seed).run(|| {
///         let there = Machine::new("database");
///         let written = there.spawn(|| -> std::io::Result<()> {
///             let mut file = File::create("/data")?;
///             file.write_all(b"synced")?;
///             file.sync_all()?;
///             file.write_all(b", not synced")
///         });
///         written.join().unwrap().unwrap();
///         there.crash();
///         let found = there.disk().read("/data").unwrap();
///         assert!(found.starts_with(b"synced"));
///     });
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Disk(MachineId);

impl SimBuilder {
    /// How the disks of all machines are. Default: [`DiskSettings::new`].
    pub fn disk(mut self, settings: DiskSettings) -> Self {
        self.disk = settings;
        self
    }
}

impl Machine {
    /// Its disk.
    pub fn disk(&self) -> Disk {
        Disk(self.id)
    }
}

impl Disk {
    fn with<R>(&self, call: &str, f: impl FnOnce(&World, &Disks) -> R) -> R {
        let world = Rc::clone(&Run::of_caller(call).world);
        f(&world, &world.disks)
    }

    /// Sets how the disk is from now on.
    ///
    /// # Examples
    /// ```
    /// use lamprey::{Runtime, fs, sim::{DiskSettings, Machine}};
    /// Runtime::simulated(1).run(|| {
    ///     fs::write("/a", "b").unwrap();
    ///     Machine::here().disk().set(DiskSettings::new().read_errors(1.0));
    ///     assert!(fs::read("/a").is_err());
    /// });
    /// ```
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn set(&self, settings: DiskSettings) {
        self.with("Disk::set", |world, disks| disks.set(world, self.0, settings));
    }

    /// Puts a file there, which is durable, and the directories that lead to it. What the file had is replaced.
    ///
    /// # Errors
    /// As a program's: `IsADirectory`, `NotADirectory`.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn write(&self, path: impl AsRef<Path>, bytes: impl Into<Vec<u8>>) -> io::Result<()> {
        self.with("Disk::write", |world, disks| disks.put(world, self.0, path.as_ref(), bytes.into()))
    }

    /// What programs see of a file.
    ///
    /// # Errors
    /// `NotFound`.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        self.with("Disk::read", |world, disks| disks.seen(world, self.0, path.as_ref()))
    }

    /// What is durable of a file.
    ///
    /// # Errors
    /// `NotFound`, also if its name is not durable.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn durable(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        self.with("Disk::durable", |world, disks| disks.durable(world, self.0, path.as_ref()))
    }

    /// The paths of all files that are durable, in alphabetical order.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn durable_files(&self) -> Vec<PathBuf> {
        self.with("Disk::durable_files", |world, disks| disks.durable_files(world, self.0))
    }

    /// Changes some bits, by chance, in a sector of a file: the bytes from 512 * `sector` on. No read reports it.
    ///
    /// # Errors
    /// `NotFound`; `InvalidInput` if the file ends before the sector.
    ///
    /// # Panics
    /// Outside of a simulation.
    pub fn corrupt(&self, path: impl AsRef<Path>, sector: usize) -> io::Result<()> {
        self.with("Disk::corrupt", |world, disks| disks.corrupt(world, self.0, path.as_ref(), sector))
    }
}
