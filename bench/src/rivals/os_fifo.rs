//! Messages through pipes by OS threads, whose calls block. On one core for one worker.

use super::threads::cores;
use crate::harness::Runner;
use crate::work::fifo::{System, Talk, samples};
use crate::work::pipe::IdlePipes;
use crate::work::waiting::{Over, Waiting};
use anyhow::{Context, Result};
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::thread::{self, Builder};
use std::time::{Duration, Instant};

/// See `benches::fifo`.
pub fn fifo(workers: usize) -> Result<Runner> {
    cores(workers)?;
    Ok(Box::new(|n| samples(n, Threads)))
}

struct Threads;

/// The stack of a thread.
const STACK: usize = 64 << 10;

impl System for Threads {
    /// A thread takes four memory mappings (a stack, one for signals, a guard for each), and a process has at most 65,530.
    const MOST: u64 = 16_000;

    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()> {
        for mut reader in readers {
            let waiting = waiting.clone();
            let waits = move || {
                waiting.begins();
                let mut bytes = [0; 64];
                let count = reader.read(&mut bytes).expect("a pipe can be read");
                IdlePipes::received(&bytes[..count]);
                waiting.ends();
            };
            Builder::new().stack_size(STACK).spawn(waits).context("a kernel thread")?;
        }
        Ok(())
    }

    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration> {
        let begun = Instant::now();
        let start = |side| Builder::new().stack_size(STACK).spawn(|| talk(side));
        let talks = talks.into_iter().map(start).collect::<io::Result<Vec<_>>>()?;
        talks.into_iter().try_for_each(|side| side.join().expect("talking does not panic"))?;
        Ok(begun.elapsed())
    }

    fn until(&mut self, over: Over<'_>) {
        while !over() {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

fn talk(Talk { mut reader, mut writer, mut words }: Talk) -> io::Result<()> {
    for number in 0..words.messages() {
        if words.sends(number) {
            writer.write_all(words.say(number))?;
        } else {
            reader.read_exact(words.room())?;
            words.heard(number);
        }
    }
    Ok(())
}
