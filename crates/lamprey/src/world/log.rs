//! The event log of a world: lines of text if they are asked for, and always their hash.

use super::chance::mix;
use super::place;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{Arguments, Write};
use std::time::Duration;

/// Stands for a place in the text.
const PLACE: char = '\u{1}';

/// Most places that are looked for in a run: each takes some microseconds, and a run may have millions.
const MOST_PLACES: usize = 100_000;

/// The places in the text, where `PLACE` stands for them.
#[derive(Default)]
struct Places {
    /// For each of them the number of its calls.
    all: Vec<u32>,
    /// The calls that threads were in, each once, with their numbers.
    calls: BTreeMap<Vec<usize>, u32>,
}

pub(super) struct Log {
    text: Option<RefCell<String>>,
    places: RefCell<Places>,
    hash: Cell<u64>,
}

impl Log {
    pub(super) fn new(text: bool) -> Self {
        Self { text: text.then(RefCell::default), places: RefCell::default(), hash: Cell::new(0) }
    }

    /// Adds a line.
    pub(super) fn line(&self, at: Duration, line: Arguments<'_>) {
        let mut hashed = Hashed(self.hash.get());
        // Neither a hash nor a string refuses text.
        let _ = hashed.write_fmt(line);
        self.hash.set(mix(hashed.0, at.as_nanos() as u64));
        self.keep(at, |text| _ = text.write_fmt(line));
    }

    /// Adds numbers to the hash, and a line to the text.
    pub(super) fn step(&self, at: Duration, numbers: [u64; 3], line: impl FnOnce(&mut String)) {
        // Odd factors, so that each number alone changes the sum; mixing each into the hash would wait for the one before.
        const FACTORS: [u64; 3] = [0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];
        // Wraps after 584 years, which a clock of ten thousand reaches.
        let time = at.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(at.subsec_nanos()));
        let terms = numbers.iter().zip(FACTORS).map(|(number, factor)| number.wrapping_mul(factor));
        self.hash.set(mix(self.hash.get(), terms.fold(time, u64::wrapping_add)));
        self.keep(at, line);
    }

    /// Adds a line to the text only, with the place where the calling thread is if `placed`.
    pub(super) fn place(&self, at: Duration, line: Arguments<'_>, placed: bool) {
        self.keep(at, |text| {
            let _ = text.write_fmt(line);
            let places = &mut *self.places.borrow_mut();
            if placed && places.all.len() < MOST_PLACES {
                text.push(PLACE);
                let next = places.calls.len() as u32;
                places.all.push(*places.calls.entry(place::calls()).or_insert(next));
            }
        });
    }

    fn keep(&self, at: Duration, line: impl FnOnce(&mut String)) {
        let Some(text) = &self.text else { return };
        let mut text = text.borrow_mut();
        let _ = write!(text, "{:>12.6} ", at.as_secs_f64() * 1000.0);
        line(&mut text);
        text.push('\n');
    }

    pub(super) fn hash(&self) -> u64 {
        self.hash.get()
    }

    /// The text so far; empty if it is not kept.
    pub(super) fn take(&self) -> String {
        let text = self.text.as_ref().map(|text| std::mem::take(&mut *text.borrow_mut())).unwrap_or_default();
        let mut parts = text.split(PLACE);
        let mut whole = parts.next().unwrap_or_default().to_owned();
        let places = self.places.take();
        let mut texts = vec![String::new(); places.calls.len()];
        for (calls, number) in &places.calls {
            texts[*number as usize] = place::text_of(calls);
        }
        for (number, part) in places.all.iter().zip(parts) {
            whole.push_str(&texts[*number as usize]);
            whole.push_str(part);
        }
        whole
    }
}

/// A hash of text, which takes no memory.
struct Hashed(u64);

impl Write for Hashed {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for part in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.0 = mix(self.0, u64::from_le_bytes(word));
        }
        Ok(())
    }
}
