//! What a test does with a disk: without a fault, without time, and also while the machine is off.

use super::Disks;
use super::content::SECTOR;
use super::names::{Ino, ROOT};
use super::volume::Volume;
use crate::world::{MachineId, World};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::io;
use std::path::{Path, PathBuf};

impl Disks {
    /// Puts a file there, which is durable, and the directories that lead to it.
    pub(crate) fn put(&self, world: &World, at: MachineId, path: &Path, bytes: Vec<u8>) -> io::Result<()> {
        world.note(format_args!("disk {}: a file is put to {path:?}, {} bytes", at.0, bytes.len()));
        let now = world.system_time();
        self.volume(world, at, |volume| {
            let above = path.ancestors().skip(1).filter(|path| *path != Path::new(""));
            for directory in above.collect::<Vec<_>>().into_iter().rev() {
                match volume.create_directory(directory, 0o777, now) {
                    Ok(ino) => volume.names.sync_name(ino),
                    Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            let ino = volume.open(path, OFlags::CREATE | OFlags::WRONLY, 0o666, now)?;
            volume.inode(ino)?.content.replace(bytes)?;
            Ok(volume.sync(ino)?)
        })
    }

    /// What programs see of a file.
    pub(crate) fn seen(&self, world: &World, at: MachineId, path: &Path) -> io::Result<Vec<u8>> {
        self.volume(world, at, |volume| {
            let ino = volume.find(path)?;
            Ok(volume.inode(ino)?.content.seen()?)
        })
    }

    /// What is on the disk of a file; `NotFound` if its name is not.
    pub(crate) fn durable(&self, world: &World, at: MachineId, path: &Path) -> io::Result<Vec<u8>> {
        self.volume(world, at, |volume| {
            let files = durable_files(volume);
            let path = Path::new("/").join(path);
            let (_, ino) = files.into_iter().find(|(other, _)| *other == path).ok_or(Errno::NOENT)?;
            Ok(volume.inode(ino)?.content.durable().to_vec())
        })
    }

    /// The paths of all files that are durable.
    pub(crate) fn durable_files(&self, world: &World, at: MachineId) -> Vec<PathBuf> {
        self.volume(world, at, |volume| durable_files(volume).into_iter().map(|(path, _)| path).collect())
    }

    /// Changes bits of a sector.
    pub(crate) fn corrupt(&self, world: &World, at: MachineId, path: &Path, sector: usize) -> io::Result<()> {
        world.note(format_args!("disk {}: sector {sector} of {path:?} is corrupted", at.0));
        let mask = world.chance.word() | 1;
        self.volume(world, at, |volume| {
            let ino = volume.find(path)?;
            let content = &mut volume.inode(ino)?.content;
            if (content.len() as usize) <= sector.saturating_mul(SECTOR) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    format!("{path:?} has no sector {sector}: it is {} bytes long", content.len()),
                ));
            }
            Ok(content.corrupt(sector, mask)?)
        })
    }
}

fn durable_files(volume: &Volume) -> Vec<(PathBuf, Ino)> {
    let mut found = Vec::new();
    let mut look = vec![(PathBuf::from("/"), ROOT)];
    while let Some((path, directory)) = look.pop() {
        for (name, ino) in volume.names.list_durable(directory) {
            let is_directory = volume.inodes.get(&ino).is_some_and(|inode| inode.is_directory);
            if is_directory { &mut look } else { &mut found }.push((path.join(name), ino));
        }
    }
    found.sort_unstable();
    found
}
