//! [`Volume`]: one machine's disk: its names and its inodes, and what can be done with a path.
//!
//! Invariant: each inode that `names` has, seen or durable, is in `inodes`, and the root is.

use super::content::Content;
use super::fate::Fate;
use super::inode::{Inode, Stat};
use super::names::{Ino, Names, Place, ROOT};
use super::path::{Found, Last, find};
use super::settings::DiskSettings;
use crate::world::{MachineId, World};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::SystemTime;

/// What is in a directory: a name, the number, and whether it is a directory.
pub(crate) type Listed = (OsString, Ino, bool);

pub(super) struct Volume {
    pub(super) settings: DiskSettings,
    /// The machine has failed, and has not been started again.
    pub(super) is_off: bool,
    /// The number of failures.
    pub(super) epoch: u32,
    pub(super) names: Names,
    pub(super) inodes: BTreeMap<Ino, Inode>,
    last: Ino,
}

impl Volume {
    pub(super) fn new(settings: DiskSettings, now: SystemTime) -> Self {
        let (names, inodes) = (Names::new(), BTreeMap::new());
        let mut this = Self { settings, is_off: false, epoch: 0, names, inodes, last: ROOT };
        this.inodes.insert(ROOT, Inode::new(true, 0o755, now));
        if this.create_directory(Path::new("/tmp"), 0o777, now).is_ok() {
            this.names.sync_directory(ROOT);
        }
        this
    }

    pub(super) fn inode(&mut self, ino: Ino) -> Result<&mut Inode, Errno> {
        self.inodes.get_mut(&ino).ok_or(Errno::IO)
    }

    pub(super) fn is_directory(&self, ino: Ino) -> bool {
        self.inodes.get(&ino).is_some_and(|inode| inode.is_directory)
    }

    pub(super) fn look(&self, path: &Path) -> Result<Found, Errno> {
        find(&self.names, path, |ino| self.is_directory(ino))
    }

    /// What a path names.
    pub(super) fn find(&self, path: &Path) -> Result<Ino, Errno> {
        self.existing(&self.look(path)?)
    }

    /// What is there; only a directory if the path ends with a slash.
    pub(super) fn existing(&self, found: &Found) -> Result<Ino, Errno> {
        let ino = found.ino()?.ok_or(Errno::NOENT)?;
        if found.is_directory && !self.is_directory(ino) { Err(Errno::NOTDIR) } else { Ok(ino) }
    }

    pub(super) fn add(&mut self, place: Place, inode: Inode) -> Ino {
        self.last += 1;
        self.inodes.insert(self.last, inode);
        self.names.add(place, self.last);
        self.last
    }

    /// What `open(2)` does before it makes a descriptor.
    pub(super) fn open(
        &mut self,
        path: &Path,
        flags: OFlags,
        mode: u32,
        now: SystemTime,
    ) -> Result<Ino, Errno> {
        let found = self.look(path)?;
        if flags.contains(OFlags::CREATE) && found.is_directory && matches!(found.last, Last::Name(_)) {
            return Err(Errno::ISDIR);
        }
        let ino = match (found.ino()?, &found.last) {
            (Some(_), _) if flags.contains(OFlags::CREATE | OFlags::EXCL) => return Err(Errno::EXIST),
            (None, Last::Name(place)) if flags.contains(OFlags::CREATE) => {
                return Ok(self.add(place.clone(), Inode::new(false, mode & !0o022, now)));
            }
            _ => self.existing(&found)?,
        };
        let changes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC);
        let inode = self.inode(ino)?;
        match inode.is_directory {
            true if changes => return Err(Errno::ISDIR),
            false if flags.contains(OFlags::DIRECTORY) => return Err(Errno::NOTDIR),
            false if flags.contains(OFlags::TRUNC) => {
                inode.content.truncate()?;
                inode.modified = now;
            }
            _ => {}
        }
        Ok(ino)
    }

    pub(super) fn stat(&self, ino: Ino) -> Result<Stat, Errno> {
        let inode = self.inodes.get(&ino).ok_or(Errno::IO)?;
        let &Inode { is_directory, mode, created, modified, accessed, .. } = inode;
        let names = match is_directory {
            true => 2 + self.names.list(ino).filter(|(_, ino)| self.is_directory(*ino)).count() as u32,
            false => inode.has_name.into(),
        };
        Ok(Stat { ino, is_directory, mode, len: inode.content.len(), created, modified, accessed, names })
    }

    /// What is in a directory: names, numbers, and whether it is a directory.
    pub(super) fn list(&self, path: &Path) -> Result<Vec<Listed>, Errno> {
        let ino = self.find(path)?;
        if !self.is_directory(ino) {
            return Err(Errno::NOTDIR);
        }
        let entries = self.names.list(ino);
        Ok(entries.map(|(name, ino)| (name.clone(), ino, self.is_directory(ino))).collect())
    }

    /// The bytes that still fit.
    pub(super) fn free(&self) -> u64 {
        if self.settings.capacity == u64::MAX {
            return u64::MAX;
        }
        let files = self.inodes.values().filter(|inode| inode.has_name);
        self.settings.capacity.saturating_sub(files.map(|inode| inode.content.len()).sum())
    }

    /// A sync of a file or directory.
    pub(super) fn sync(&mut self, ino: Ino) -> Result<(), Errno> {
        let inode = self.inode(ino)?;
        if inode.has_name {
            inode.content.sync()?;
        }
        if inode.is_directory {
            self.names.sync_directory(ino);
        }
        self.names.sync_name(ino);
        self.free_removed();
        Ok(())
    }

    /// The system writes changes of names down on its own account.
    pub(super) fn write_back_names(&mut self, fate: Fate) {
        self.names.write_back(fate);
        self.free_removed();
    }

    /// Frees the content of what has been removed, and cannot come back.
    fn free_removed(&mut self) {
        let kept = self.names.kept();
        let removed = self.inodes.iter_mut().filter(|(ino, inode)| !inode.has_name && !kept.contains(ino));
        removed.for_each(|(_, inode)| inode.content = Content::default());
    }

    /// The machine fails.
    pub(super) fn crash(&mut self, world: &World, at: MachineId) {
        let draw = |of: &str, number: Ino| {
            let fate = Fate::draw(&world.chance);
            world.note(format_args!("disk {}: of {of} {number} survives: {fate}", at.0));
            fate
        };
        let fate = if self.names.is_settled() { Fate::All } else { draw("the names of disk", at.0) };
        let found = self.names.crash(fate);
        self.inodes.retain(|ino, _| found.contains(ino));
        for (ino, inode) in &mut self.inodes {
            inode.has_name = true;
            inode.content.crash(|| draw("inode", *ino));
        }
    }
}
