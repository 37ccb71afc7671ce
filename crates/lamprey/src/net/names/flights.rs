//! Look-ups that are under way, so that those who ask for one name at the same time share one question.
//!
//! Invariants
//! * A flight is listed from its start until it lands. The one [`Lead`] of it lands it, once: with an answer, or, if it is
//!   dropped before, with none, and then one of those who wait asks again. So nobody waits for a question that is not asked.
//! * No thread waits for a flight while it holds up the call that lands it: threads of a pool do not wait. A flight of DNS is
//!   led by a future, which might not be polled: others wait for it with a limit.

use super::answer::Answer;
use super::cache::{Cache, LookupCache};
use crate::kernel::fork::PerProcess;
#[cfg(feature = "hickory")]
use crate::net::dns::Dns;
use crate::sync::IVar;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use crate::world;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, Weak};

/// Where those wait who ask for a name. `None`: ask again.
pub(super) type Flight = Arc<IVar<Option<Answer>>>;

/// What is known of names, and asked for.
pub(super) struct Names {
    pub(super) cache: Cache,
    flights: BTreeMap<Box<str>, Flight>,
    /// Who is asked instead of the C library.
    #[cfg(feature = "hickory")]
    pub(super) dns: Option<Arc<Dns>>,
}

/// What the program has set, under a lock of its own, which only the calls that set it take: a child made by `fork` begins with it,
/// though a thread of its parent may have had the lock of the names.
pub(super) struct Settings {
    pub(super) cache: LookupCache,
    #[cfg(feature = "hickory")]
    pub(super) dns: Option<Arc<Dns>>,
}

static SETTINGS: Mutex<Settings> = Mutex::new(Settings {
    cache: LookupCache::new(),
    #[cfg(feature = "hickory")]
    dns: None,
});

/// Changes what the program has set, and forgets all answers.
pub(super) fn set(change: impl Fn(&mut Settings)) {
    let mut settings = SETTINGS.lock().unwrap_or_else(PoisonError::into_inner);
    change(&mut settings);
    names().take_over(&settings);
}

/// The look-ups of a parent are not under way in a child made by `fork`.
static NAMES: PerProcess<Mutex<Names>> = PerProcess::made_by(|| Mutex::new(Names::as_set()));

/// The names of this process, for a moment in which nothing else is done.
pub(super) fn names() -> MutexGuard<'static, Names> {
    NAMES.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// How to come to the answer for a name.
pub(super) enum Way {
    Known(Answer),
    Follow(Flight),
    Lead(Lead),
    #[cfg(feature = "hickory")]
    FollowDns(Flight, Arc<Dns>),
    #[cfg(feature = "hickory")]
    LeadDns(Lead, Arc<Dns>),
}

/// The flight of a question that is being asked, for whoever wants to know whether anybody waits for it.
pub(super) struct Interest(Weak<IVar<Option<Answer>>>);

impl Interest {
    /// False if all have left. One may come at the same time.
    pub(super) fn is_there(&self) -> bool {
        self.0.strong_count() > UNWANTED
    }
}

/// The references to a flight that nobody waits for: its lead's, and that of the list.
const UNWANTED: usize = 2;

/// The duty to land a flight.
pub(super) struct Lead {
    host: Box<str>,
    flight: Flight,
    has_landed: bool,
}

impl Names {
    fn as_set() -> Self {
        let mut names = Self {
            cache: Cache::new(),
            flights: BTreeMap::new(),
            #[cfg(feature = "hickory")]
            dns: None,
        };
        // Who has the lock tells the names afterwards, or is a thread of the parent.
        if let Ok(settings) = SETTINGS.try_lock() {
            names.take_over(&settings);
        }
        names
    }

    fn take_over(&mut self, settings: &Settings) {
        self.cache.settings = settings.cache;
        self.cache.clear();
        #[cfg(feature = "hickory")]
        self.dns.clone_from(&settings.dns);
    }

    /// What is known of a name.
    pub(super) fn known(&self, host: &str) -> Option<Answer> {
        self.cache.get(&host.to_ascii_lowercase(), world::now()).cloned()
    }

    pub(super) fn keep(&mut self, host: &str, answer: &Answer) {
        self.cache.put(&host.to_ascii_lowercase(), answer, world::now());
    }

    pub(super) fn way(&mut self, host: &str) -> Way {
        if let Some(answer) = self.known(host) {
            return Way::Known(answer);
        }
        let host: Box<str> = host.to_ascii_lowercase().into();
        if let Some(flight) = self.flights.get(&host) {
            let flight = flight.clone();
            #[cfg(feature = "hickory")]
            if let Some(dns) = &self.dns {
                return Way::FollowDns(flight, dns.clone());
            }
            return Way::Follow(flight);
        }
        let flight = Flight::default();
        self.flights.insert(host.clone(), flight.clone());
        let lead = Lead { host, flight, has_landed: false };
        #[cfg(feature = "hickory")]
        if let Some(dns) = &self.dns {
            return Way::LeadDns(lead, dns.clone());
        }
        Way::Lead(lead)
    }
}

impl Lead {
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// True if anybody waits for the answer. One who comes later and finds none asks again.
    pub(super) fn is_awaited(&self) -> bool {
        // Under the lock, as those who come take their reference under it.
        let _names = names();
        Arc::strong_count(&self.flight) > UNWANTED
    }

    /// Who waits for it, while it is asked.
    pub(super) fn interest(&self) -> Interest {
        Interest(Arc::downgrade(&self.flight))
    }

    /// Where this one's answer will be.
    pub(super) fn flight(&self) -> Flight {
        self.flight.clone()
    }

    pub(super) fn land(mut self, answer: Answer) {
        self.end(Some(answer));
    }

    fn end(&mut self, answer: Option<Answer>) {
        if std::mem::replace(&mut self.has_landed, true) {
            return;
        }
        let mut names = names();
        names.flights.remove(&self.host);
        if let Some(answer) = &answer {
            names.cache.put(&self.host, answer, world::now());
        }
        // Wakers are called by the put, and may look up names.
        drop(names);
        let _ = self.flight.put(answer);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        self.end(None);
    }
}
