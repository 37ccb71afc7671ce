//! What happens in a world without a step of the program: data that arrives, a machine that fails.

use super::World;
use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::time::Duration;

/// Something that happens between two steps of the program.
type Event = Box<dyn FnOnce(&World)>;

/// The coming events.
#[derive(Default)]
pub(super) struct Agenda(RefCell<Queue>);

#[derive(Default)]
struct Queue {
    entries: BinaryHeap<Entry>,
    added: u64,
}

struct Entry {
    at: Duration,
    /// The order of events of one instant.
    number: u64,
    event: Event,
}

impl Agenda {
    pub(super) fn add(&self, at: Duration, event: Event) {
        let mut queue = self.0.borrow_mut();
        let number = queue.added;
        queue.added += 1;
        queue.entries.push(Entry { at, number, event });
    }

    pub(super) fn next(&self) -> Option<Duration> {
        self.0.borrow().entries.peek().map(|entry| entry.at)
    }

    /// Takes out the next event that is due at `now`.
    pub(super) fn due(&self, now: Duration) -> Option<Event> {
        let mut queue = self.0.borrow_mut();
        queue.entries.peek().filter(|entry| entry.at <= now)?;
        queue.entries.pop().map(|entry| entry.event)
    }
}

// The earliest is the greatest: the heap's top.
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.number).cmp(&(self.at, self.number))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Entry {}
