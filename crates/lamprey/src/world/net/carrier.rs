//! Carriers: the pairs of Unix sockets, and what the kernel tells of the network's ends.
//!
//! The program's end is known by its inode, which its duplicates share, and which it keeps through conversions. Of a number
//! that is used again the newer entry replaces the older one.

use crate::kernel::epoll::fetch;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, Shutdown, SocketFlags, SocketType, sockopt};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

/// The room of a carrier in one direction; the kernel doubles it, for its own records.
const ROOM: usize = 8 << 10;
/// Reports that one call fetches.
const BATCH: usize = 256;

const EVENTS: EventFlags =
    EventFlags::IN.union(EventFlags::OUT).union(EventFlags::RDHUP).union(EventFlags::ET);

/// What the network knows of a socket of the program.
pub(crate) struct Known {
    /// The network's number for it, with its side ([`whose`]).
    pub(super) key: u64,
    pub(crate) local: SocketAddr,
    pub(crate) peer: Option<SocketAddr>,
    pub(crate) nodelay: bool,
    pub(crate) ttl: u32,
    /// Other options, by their names: kept for those who ask.
    pub(crate) options: BTreeMap<&'static str, u64>,
}

/// The network's ends.
#[derive(Default)]
pub(super) struct Carriers {
    epoll: Option<OwnedFd>,
    /// By inode. Never iterated.
    known: BTreeMap<u64, Known>,
    /// The inodes by key. Never iterated.
    inodes: BTreeMap<u64, u64>,
}

/// What the kernel reports of a carrier: that something has changed.
pub(super) struct Report {
    pub(super) key: u64,
    /// The program has closed its end, or shut it down in both directions.
    pub(super) is_closed: bool,
}

/// The key of one side of a connection, or (side 0) of another socket.
pub(super) fn key(number: u64, side: usize) -> u64 {
    number << 1 | side as u64
}

/// The number and the side in a key.
pub(super) fn whose(key: u64) -> (u64, usize) {
    (key >> 1, (key & 1) as usize)
}

impl Carriers {
    /// A carrier for the socket with this key: the network's end, and the program's.
    pub(super) fn make(
        &mut self,
        key: u64,
        kind: SocketType,
        local: SocketAddr,
        peer: Option<SocketAddr>,
    ) -> Result<(OwnedFd, OwnedFd), Errno> {
        let flags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);
        let (ours, theirs) = rustix::net::socketpair(AddressFamily::UNIX, kind, flags, None)?;
        if kind == SocketType::STREAM && peer.is_some() {
            sockopt::set_socket_send_buffer_size(&ours, ROOM)?;
            sockopt::set_socket_send_buffer_size(&theirs, ROOM)?;
        }
        let epoll = match &mut self.epoll {
            Some(epoll) => epoll,
            none => none.insert(epoll::create(epoll::CreateFlags::CLOEXEC)?),
        };
        epoll::add(epoll, &ours, EventData::new_u64(key), EVENTS)?;
        let inode = inode(&theirs)?;
        self.inodes.insert(key, inode);
        self.known
            .insert(inode, Known { key, local, peer, nodelay: false, ttl: 64, options: BTreeMap::new() });
        Ok((ours, theirs))
    }

    /// What is known of a socket of the program; `None` if it is not the network's.
    pub(super) fn known(&mut self, socket: impl AsFd) -> Option<&mut Known> {
        self.known.get_mut(&inode(socket).ok()?)
    }

    /// The socket with this key has no peer any more.
    pub(super) fn disconnect(&mut self, key: u64) {
        let inode = self.inodes.get(&key);
        if let Some(known) =
            inode.and_then(|inode| self.known.get_mut(inode)).filter(|known| known.key == key)
        {
            known.peer = None;
        }
    }

    /// The value of an option of the socket with this key, if it has been set.
    pub(super) fn option(&self, key: u64, name: &str) -> Option<u64> {
        let known = self.known.get(self.inodes.get(&key)?).filter(|known| known.key == key)?;
        known.options.get(name).copied()
    }

    /// What has changed since the last call, in the order of the sockets.
    pub(super) fn reports(&self) -> Vec<Report> {
        let Some(epoll) = &self.epoll else { return Vec::new() };
        let mut found = BTreeMap::new();
        let mut room = [const { std::mem::MaybeUninit::<Event>::uninit() }; BATCH];
        loop {
            let events = fetch(epoll, &mut room);
            for event in &*events {
                let flags = event.flags;
                *found.entry(event.data.u64()).or_insert(false) |= flags.contains(EventFlags::HUP);
            }
            if events.len() < BATCH {
                break;
            }
        }
        found.into_iter().map(|(key, is_closed)| Report { key, is_closed }).collect()
    }
}

/// What identifies a kernel's socket.
fn inode(socket: impl AsFd) -> Result<u64, Errno> {
    rustix::fs::fstat(socket).map(|stat| stat.st_ino)
}

/// Sends what fits.
pub(super) fn send(end: &OwnedFd, bytes: &[u8]) -> Result<usize, Errno> {
    rustix::net::send(end, bytes, SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT))
}

/// Takes what is there.
pub(super) fn receive(end: &OwnedFd, room: &mut [u8]) -> Result<usize, Errno> {
    rustix::net::recv(end, room, RecvFlags::DONTWAIT).map(|(received, _)| received)
}

/// True if the program has closed its end, or shut it down in both directions.
pub(super) fn is_hung_up(end: &OwnedFd) -> bool {
    let mut asked = [PollFd::new(end, PollFlags::empty())];
    poll(&mut asked, Some(&Timespec::default())).is_ok() && asked[0].revents().contains(PollFlags::HUP)
}

/// Has reads of the program find the end once they have read what is there; with `Both`, has writes fail too.
pub(super) fn shut(end: &OwnedFd, how: Shutdown) {
    // Fails if the program has closed its end.
    let _ = rustix::net::shutdown(end, how);
}
