//! The ledger of every value of a program: each is made once, received at most once, and dropped once, and a
//! value is not received if its sender was told that it was not sent.

use crate::call_out::{Site, call_out};
use crate::world::World;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

#[derive(Default, Clone, Copy)]
struct Entry {
    received: u8,
    dropped: u8,
    /// Its sender was told that it was sent, and a receiver must get it.
    sent: bool,
    /// Its sender was told that it was not sent.
    unsent: bool,
}

#[derive(Default)]
struct Books {
    entries: Vec<Entry>,
    wrongs: Vec<String>,
}

/// The ledger of one program.
#[derive(Default)]
pub struct Ledger(Mutex<Books>);

impl Ledger {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self) -> u32 {
        let mut books = self.books();
        books.entries.push(Entry::default());
        books.entries.len() as u32 - 1
    }

    fn edit(&self, id: u32, edit: impl FnOnce(&mut Entry)) {
        edit(&mut self.books().entries[id as usize]);
    }

    /// Records a failure.
    pub fn wrong(&self, text: String) {
        eprintln!("random-programs: {text}");
        self.books().wrongs.push(text);
    }

    /// The value was sent, and a receiver has it or is about to get it.
    pub fn sent(&self, id: u32) {
        self.edit(id, |entry| entry.sent = true);
    }

    /// The sender was told that the value was not sent.
    pub fn unsent(&self, id: u32) {
        self.edit(id, |entry| entry.unsent = true);
    }

    /// The failures at the end of the program. With `all_are_dropped`, a value that is never dropped is one,
    /// too. (If a destructor may unwind, because it panics or because it blocks in a cancelled thread, rustc
    /// leaks a result that was made before: rust-lang/rust#47949.)
    pub fn close(&self, all_are_dropped: bool) -> Vec<String> {
        let books = self.books();
        let mut wrongs = books.wrongs.clone();
        for (id, entry) in books.entries.iter().enumerate() {
            if entry.dropped > 1 || (entry.dropped == 0 && all_are_dropped) {
                wrongs.push(format!("value {id} was dropped {} times", entry.dropped));
            }
            if entry.received > 1 {
                wrongs.push(format!("value {id} was received {} times", entry.received));
            }
            if entry.unsent && entry.received != 0 {
                wrongs.push(format!("value {id} was received, and its sender was told that it was not sent"));
            }
            if entry.sent && entry.received == 0 {
                wrongs.push(format!("value {id} was sent, and nobody has received it"));
            }
        }
        wrongs
    }
}

impl Ledger {
    /// True if waiting does not help: no value is still to be dropped.
    pub fn is_hopeless(&self) -> bool {
        self.books().entries.iter().all(|entry| entry.dropped != 0)
    }
}

/// A value with an entry in the ledger, whose destructor and clone may be scripts that call the API.
pub struct Tracked {
    id: u32,
    /// On the heap, where memory checkers notice a double use.
    canary: Box<u64>,
    script: Option<u8>,
    ledger: Arc<Ledger>,
    world: Weak<World>,
}

const CANARY: u64 = 0x6c61_6d70_7265_7900;

impl Tracked {
    /// A new value.
    pub fn new(world: &Arc<World>, script: Option<u8>) -> Self {
        let (ledger, world) = (world.ledger.clone(), Arc::downgrade(world));
        Self::with(ledger, world, script)
    }

    /// A value that exists before its program.
    pub fn first(ledger: &Arc<Ledger>, world: &Weak<World>) -> Self {
        Self::with(ledger.clone(), world.clone(), None)
    }

    fn with(ledger: Arc<Ledger>, world: Weak<World>, script: Option<u8>) -> Self {
        let id = ledger.enter();
        Self { id, canary: Box::new(CANARY ^ u64::from(id)), script, ledger, world }
    }

    /// The number of its entry.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Checks that it is intact.
    pub fn check(&self) {
        if *self.canary != CANARY ^ u64::from(self.id) {
            self.ledger.wrong(format!("value {} has been overwritten", self.id));
        }
    }

    /// Records that a receiver got it.
    pub fn received(&self) {
        self.check();
        self.ledger.edit(self.id, |entry| entry.received += 1);
    }
}

impl Clone for Tracked {
    fn clone(&self) -> Self {
        self.check();
        call_out(&self.world, self.script, Site::Clone);
        Self::with(self.ledger.clone(), self.world.clone(), None)
    }
}

impl std::fmt::Debug for Tracked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.check();
        call_out(&self.world, self.script, Site::Clone);
        write!(f, "value {}", self.id)
    }
}

impl Drop for Tracked {
    fn drop(&mut self) {
        self.check();
        *self.canary = 0;
        let mut twice = false;
        self.ledger.edit(self.id, |entry| {
            entry.dropped += 1;
            twice = entry.dropped > 1;
        });
        if twice {
            self.ledger.wrong(format!("value {} is dropped a second time", self.id));
        }
        call_out(&self.world, self.script, Site::Drop);
    }
}

/// What a sender learns of the values that it has offered. All others count as not sent.
pub struct Offered<'a> {
    ledger: &'a Ledger,
    ids: Vec<u32>,
}

impl<'a> Offered<'a> {
    /// Offers these values.
    pub fn new(ledger: &'a Ledger, ids: Vec<u32>) -> Self {
        Self { ledger, ids }
    }

    /// These values were sent.
    pub fn sent(&mut self, sent: &[u32]) {
        self.ids.retain(|id| !sent.contains(id));
    }
}

impl Drop for Offered<'_> {
    fn drop(&mut self) {
        self.ids.iter().for_each(|&id| self.ledger.unsent(id));
    }
}
