//! 128 pairs of threads that send each other messages through pipes, beside others that wait for nothing.

use super::pipe::{BUFFER, IdlePipes, pipe};
use super::waiting::{Over, Waiting};
use crate::harness::{Sample, descriptors};
use anyhow::{Result, ensure};
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

const PAIRS: usize = 128;
const MESSAGE: usize = 32 << 10;
/// How many idle threads there are beside them.
const IDLE: [u64; 4] = [0, 1000, 16_000, 64_000];
/// At most so many idle threads for each message, so that a tiny run is tiny.
const IDLE_PER_MESSAGE: u64 = 5;
/// The descriptors of the pairs, and those of a pipe that is being made.
const BUSY: u64 = PAIRS as u64 * 4 + 2;

/// A kind of threads.
pub trait System {
    /// The most idle threads that it can have.
    const MOST: u64 = u64::MAX;

    /// Starts a thread for each reader, which [begins](Waiting::begins), waits to read, looks at what it has
    /// [received](IdlePipes::received), and [ends](Waiting::ends).
    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()>;

    /// Runs a thread for each of these until all have ended. Returns their time.
    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration>;

    /// Runs threads until something is so.
    fn until(&mut self, over: Over<'_>);
}

/// One side of a pair: makes the messages and looks at those of the other side.
///
/// A message has its number and that of its pair at the beginning of each part that fits into a pipe.
pub struct Talk {
    /// Where messages come from.
    pub reader: File,
    /// Where messages go.
    pub writer: File,
    /// What to say, and where to put what is heard.
    pub words: Words,
}

/// The messages of a side.
pub struct Words {
    pair: u64,
    first: bool,
    messages: u64,
    bytes: Vec<u8>,
}

impl Words {
    /// How many messages both sides send together, in turn.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// Whether this side sends message `number`, and the other one receives it.
    pub fn sends(&self, number: u64) -> bool {
        self.first == number.is_multiple_of(2)
    }

    /// The message.
    pub fn say(&mut self, number: u64) -> &[u8] {
        let mark = self.mark(number);
        self.bytes.chunks_mut(BUFFER).for_each(|part| part[..8].copy_from_slice(&mark));
        &self.bytes
    }

    /// Room for a message.
    pub fn room(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Fails unless message `number` is what has come.
    pub fn heard(&self, number: u64) {
        let mark = self.mark(number);
        let is_right = self.bytes.chunks(BUFFER).all(|part| part[..8] == mark);
        assert!(is_right, "message {number} of pair {} has come in another form", self.pair);
    }

    fn mark(&self, number: u64) -> [u8; 8] {
        (self.pair << 48 | number).to_ne_bytes()
    }
}

/// Exchanges about `n` messages beside each number of idle threads that there are descriptors for.
pub fn samples<S: System>(n: u64, mut system: S) -> Result<Vec<Sample>> {
    let (waiting, mut pipes) = (Arc::new(Waiting::default()), IdlePipes::default());
    let mut samples = Vec::new();
    let most = S::MOST.min(descriptors::available()?.saturating_sub(BUSY));
    for idle in IDLE.into_iter().filter(|&idle| idle <= most) {
        let more = idle.min(n * IDLE_PER_MESSAGE) - pipes.count();
        system.idle(&waiting, pipes.more(more)?)?;
        system.until(&|| waiting.begun() == pipes.count());
        let messages = n.div_ceil(PAIRS as u64).next_multiple_of(2);
        let took = system.exchange(talks(messages)?)?;
        ensure!(waiting.ended() == 0, "{} threads did not wait", waiting.ended());
        samples.push(Sample::ns_each(&format!("idle_{idle}"), took, messages * PAIRS as u64));
    }
    pipes.end()?;
    system.until(&|| waiting.ended() == pipes.count());
    Ok(samples)
}

fn talks(messages: u64) -> Result<Vec<Talk>> {
    let mut talks = Vec::with_capacity(PAIRS * 2);
    for pair in 0..PAIRS as u64 {
        let ((here, from_there), (there, from_here)) = (pipe()?, pipe()?);
        for (first, reader, writer) in [(true, here, from_here), (false, there, from_there)] {
            let words = Words { pair, first, messages, bytes: vec![0; MESSAGE] };
            talks.push(Talk { reader, writer, words });
        }
    }
    Ok(talks)
}
