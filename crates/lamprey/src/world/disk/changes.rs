//! What changes the names of a disk, with the errors, and their order, of Linux.

use super::inode::Inode;
use super::names::Ino;
use super::path::Last;
use super::volume::Volume;
use rustix::io::Errno;
use std::path::Path;
use std::time::SystemTime;

impl Volume {
    pub(super) fn create_directory(&mut self, path: &Path, mode: u32, now: SystemTime) -> Result<Ino, Errno> {
        let found = self.look(path)?;
        match (found.ino()?, found.last) {
            (None, Last::Name(place)) => Ok(self.add(place, Inode::new(true, mode & !0o022, now))),
            _ => Err(Errno::EXIST),
        }
    }

    /// Removes a file, or, if so asked, an empty directory.
    pub(super) fn remove(&mut self, path: &Path, directory: bool) -> Result<Ino, Errno> {
        let found = self.look(path)?;
        let place = match &found.last {
            Last::Name(place) => place.clone(),
            _ if !directory => return Err(Errno::ISDIR),
            Last::Dot => return Err(Errno::INVAL),
            Last::DotDot => return Err(Errno::NOTEMPTY),
            Last::Root => return Err(Errno::BUSY),
        };
        let ino = self.existing(&found)?;
        match (self.is_directory(ino), directory) {
            (true, false) => return Err(Errno::ISDIR),
            (false, true) => return Err(Errno::NOTDIR),
            _ => {}
        }
        if self.names.list(ino).next().is_some() {
            return Err(Errno::NOTEMPTY);
        }
        self.names.remove(place);
        self.let_go(ino);
        Ok(ino)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<Ino, Errno> {
        let (source, target) = (self.look(from)?, self.look(to)?);
        let (Last::Name(old), Last::Name(new)) = (&source.last, &target.last) else {
            return Err(Errno::BUSY);
        };
        let ino = self.existing(&source)?;
        let other = target.ino()?;
        if target.is_directory && !self.is_directory(ino) {
            return Err(Errno::NOTDIR);
        }
        if target.way.contains(&ino) {
            return Err(Errno::INVAL);
        }
        if other.is_some_and(|other| source.way.contains(&other)) {
            return Err(Errno::NOTEMPTY);
        }
        if other == Some(ino) {
            return Ok(ino);
        }
        match (self.is_directory(ino), other.map(|other| (other, self.is_directory(other)))) {
            (true, Some((_, false))) => return Err(Errno::NOTDIR),
            (false, Some((_, true))) => return Err(Errno::ISDIR),
            (true, Some((other, true))) if self.names.list(other).next().is_some() => {
                return Err(Errno::NOTEMPTY);
            }
            _ => {}
        }
        self.names.rename(old.clone(), new.clone(), ino);
        if let Some(other) = other {
            self.let_go(other);
        }
        Ok(ino)
    }

    fn let_go(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.has_name = false;
            inode.content.let_go();
        }
    }
}
