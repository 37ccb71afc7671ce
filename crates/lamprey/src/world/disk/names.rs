//! [`Names`]: the directories of a disk, as programs see them, and as they are on the disk.
//!
//! # Invariants
//! 1. `seen` is `durable` with the changes in `pending`, in their order.
//! 2. A change reaches the disk as a whole: a file that is renamed has its old name or its new one, and replaces what has
//!    the new one at the same instant.
//! 3. A change reaches the disk after those before it that have a name in common with it; otherwise in any order.

use super::fate::Fate;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};

/// The number of an inode.
pub(super) type Ino = u32;
/// The root directory.
pub(super) const ROOT: Ino = 1;

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(pub(super) Ino, pub(super) OsString);

type Directories = BTreeMap<Ino, BTreeMap<OsString, Ino>>;

#[derive(Debug)]
enum Change {
    Add(Place, Ino),
    Remove(Place),
    Move(Place, Place, Ino),
}

pub(super) struct Names {
    seen: Directories,
    durable: Directories,
    pending: Vec<Change>,
}

impl Change {
    fn places(&self) -> impl Iterator<Item = &Place> {
        let (one, other) = match self {
            Self::Add(place, _) | Self::Remove(place) => (place, None),
            Self::Move(from, to, _) => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }

    /// What it gives a name to.
    fn names(&self) -> Option<Ino> {
        match self {
            Self::Add(_, ino) | Self::Move(_, _, ino) => Some(*ino),
            Self::Remove(_) => None,
        }
    }

    fn apply(&self, directories: &mut Directories) {
        let mut set = |Place(directory, name): &Place, ino: Option<Ino>| {
            let entries = directories.entry(*directory).or_default();
            match ino {
                Some(ino) => entries.insert(name.clone(), ino),
                None => entries.remove(name),
            };
        };
        match self {
            Self::Add(place, ino) => set(place, Some(*ino)),
            Self::Remove(place) => set(place, None),
            Self::Move(from, to, ino) => {
                set(from, None);
                set(to, Some(*ino));
            }
        }
    }
}

impl Names {
    pub(super) fn new() -> Self {
        let root = Directories::from([(ROOT, BTreeMap::new())]);
        Self { seen: root.clone(), durable: root, pending: Vec::new() }
    }

    /// What has this name.
    pub(super) fn get(&self, directory: Ino, name: &OsStr) -> Option<Ino> {
        self.seen.get(&directory)?.get(name).copied()
    }

    /// What is in a directory, by name.
    pub(super) fn list(&self, directory: Ino) -> impl Iterator<Item = (&OsString, Ino)> {
        self.seen.get(&directory).into_iter().flatten().map(|(name, ino)| (name, *ino))
    }

    /// The same of what is durable.
    pub(super) fn list_durable(&self, directory: Ino) -> impl Iterator<Item = (&OsString, Ino)> {
        self.durable.get(&directory).into_iter().flatten().map(|(name, ino)| (name, *ino))
    }

    fn change(&mut self, change: Change) {
        change.apply(&mut self.seen);
        self.pending.push(change);
    }

    pub(super) fn add(&mut self, place: Place, ino: Ino) {
        self.change(Change::Add(place, ino));
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.change(Change::Remove(place));
    }

    /// Replaces what has the new name.
    pub(super) fn rename(&mut self, from: Place, to: Place, ino: Ino) {
        self.change(Change::Move(from, to, ino));
    }

    /// A directory is synced: its names are durable.
    pub(super) fn sync_directory(&mut self, directory: Ino) {
        self.settle(|change, _| change.places().any(|place| place.0 == directory));
    }

    /// A file, or a directory as a thing that has a name, is synced. If it has no durable name, the one that it has becomes
    /// durable, and so do the directories that lead there.
    pub(super) fn sync_name(&mut self, ino: Ino) {
        let mut next = Some(ino);
        while let Some(ino) = next.filter(|ino| *ino != ROOT) {
            if parent(&self.durable, ino).is_none() && parent(&self.seen, ino).is_some() {
                self.settle(|change, _| change.names() == Some(ino));
            }
            next = parent(&self.durable, ino);
        }
    }

    /// The system writes changes down on its own account.
    pub(super) fn write_back(&mut self, fate: Fate) {
        self.settle(|_, number| fate.takes(number));
    }

    /// True if nothing is pending.
    pub(super) fn is_settled(&self) -> bool {
        self.pending.is_empty()
    }

    /// What is on the disk, or may still come there.
    pub(super) fn kept(&self) -> BTreeSet<Ino> {
        let durable = self.durable.values().flat_map(|entries| entries.values().copied());
        durable.chain(self.pending.iter().filter_map(Change::names)).collect()
    }

    /// The machine fails: what has reached the disk is what programs see from now on. Returns what can be found there.
    pub(super) fn crash(&mut self, fate: Fate) -> BTreeSet<Ino> {
        self.settle(|_, number| fate.takes(number));
        self.pending.clear();
        let mut found = BTreeSet::from([ROOT]);
        let mut look = vec![ROOT];
        while let Some(directory) = look.pop() {
            for (_, ino) in self.list_durable(directory) {
                found.insert(ino);
                look.push(ino);
            }
        }
        self.durable.retain(|directory, _| found.contains(directory));
        self.seen = self.durable.clone();
        found
    }

    /// Has the changes reach the disk for which this is true, and those before them that they follow.
    fn settle(&mut self, is_wanted: impl Fn(&Change, usize) -> bool) {
        let mut needed = BTreeSet::new();
        let mut kept = Vec::new();
        let mut settled = Vec::new();
        for (number, change) in std::mem::take(&mut self.pending).into_iter().enumerate().rev() {
            if is_wanted(&change, number) || change.places().any(|place| needed.contains(place)) {
                needed.extend(change.places().cloned());
                settled.push(change);
            } else {
                kept.push(change);
            }
        }
        settled.iter().rev().for_each(|change| change.apply(&mut self.durable));
        kept.reverse();
        self.pending = kept;
    }
}

/// The directory in which something has a name.
fn parent(directories: &Directories, ino: Ino) -> Option<Ino> {
    directories
        .iter()
        .find(|(_, entries)| entries.values().any(|other| *other == ino))
        .map(|(directory, _)| *directory)
}
