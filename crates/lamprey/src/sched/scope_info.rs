//! A scope, as its members name it to who looks at them.

#[cfg(not(loom))]
use crate::sync_shim::{AtomicU64, Ordering};
use std::fmt;
use std::panic::Location;

/// A [scope](crate::scope()) that waits for a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ScopeInfo {
    id: u64,
    site: &'static Location<'static>,
    owner: u64,
}

impl ScopeInfo {
    /// Its number, unique in the process. Scopes that nobody has looked at have none, so it says nothing of their order.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Where it was made.
    pub fn site(&self) -> &'static Location<'static> {
        self.site
    }

    /// The number of the thread that has made it, and waits in it ([`ThreadInfo::id`](crate::ThreadInfo::id)). `None` if that is an OS thread; of a
    /// stackless parasite it is known with debug assertions only.
    pub fn owner(&self) -> Option<u64> {
        (self.owner != 0).then_some(self.owner)
    }
}

impl fmt::Display for ScopeInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scope {} made at {}", self.id, self.site)
    }
}

/// What a scope knows of itself. Its number is given at the first look: to make a scope costs no shared counter.
pub(crate) struct ScopeOrigin {
    #[cfg(not(loom))]
    id: AtomicU64,
    site: &'static Location<'static>,
    owner: u64,
}

/// The number of the next scope that is looked at.
#[cfg(not(loom))]
static NEXT: AtomicU64 = AtomicU64::new(1);

impl ScopeOrigin {
    /// Of a scope that the thread with the number `owner` makes; 0 if that is not known.
    pub(crate) fn new(site: &'static Location<'static>, owner: u64) -> Self {
        Self {
            #[cfg(not(loom))]
            id: AtomicU64::new(0),
            site,
            owner,
        }
    }

    pub(crate) fn info(&self) -> ScopeInfo {
        ScopeInfo { id: self.number(), site: self.site, owner: self.owner }
    }

    #[cfg(not(loom))]
    fn number(&self) -> u64 {
        // Relaxed: a number, with which no data travels.
        let id = self.id.load(Ordering::Relaxed);
        if id != 0 {
            return id;
        }
        // Relaxed: a number. One that loses the race is given to nobody.
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        // Relaxed: a number.
        let before = self.id.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed);
        before.map_or_else(|theirs| theirs, |_| fresh)
    }

    #[cfg(loom)]
    fn number(&self) -> u64 {
        0
    }
}
