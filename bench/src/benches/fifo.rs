//! Messages through pipes, beside idle threads (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007,
//! Figure 18).

mod traces;

use super::ours::until;
use super::pipes::{End, runtime, runtime_beside};
use crate::harness::{Bench, Runner, Size, Variant};
use crate::rivals::{os_fifo, tokio_fifo};
use crate::work::fifo::{System, Talk, Words, samples};
use crate::work::pipe::IdlePipes;
use crate::work::waiting::{Over, Waiting};
use anyhow::Result;
use lamprey::Runtime;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// See `about`.
pub const BENCH: Bench = Bench {
    name: "fifo",
    about: "128 pairs of threads send each other 32 KB in turn, through two pipes that keep 4 KB, beside 0, 1000, 16,000 and 64,000 threads that \
            each wait to read from an idle pipe (as far as there are descriptors), in a fresh process; ns for each message (32,768,000 \
            through it: MB/s). Ours with an event loop in each worker, or one with a kernel thread of its own (`beside`)",
    workers: &[1, 2],
    size: Size::Exactly { full: 25_600, quick: 12_800, tiny: 256 },
    runs: 5,
    variants: &[
        Variant::ours("hosts", |workers| runner(runtime(workers)?, Hosts)).io("epoll"),
        Variant::ours("hosts_beside", |workers| runner(runtime_beside(workers)?, Hosts)).io("epoll"),
        Variant::ours("parasites", |workers| runner(runtime(workers)?, Parasites)).io("epoll"),
        Variant::ours("parasites_beside", |workers| runner(runtime_beside(workers)?, Parasites)).io("epoll"),
        Variant::ours("trace", traces::fifo),
        Variant::rival("pthread", os_fifo::fifo),
        Variant::rival("tokio", tokio_fifo::fifo),
        Variant::go(),
    ],
};

fn runner<S>(runtime: Runtime, system: fn(&'static Runtime) -> S) -> Result<Runner>
where
    S: System + 'static,
{
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    Ok(Box::new(move |n| samples(n, system(runtime))))
}

struct Hosts(&'static Runtime);

impl System for Hosts {
    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()> {
        self.0.run(|| {
            for reader in readers {
                let (waiting, reader) = (waiting.clone(), End::new(reader)?);
                lamprey::spawn(move || {
                    waiting.begins();
                    let mut bytes = [0; 64];
                    let count = reader.read(&mut bytes).expect("a pipe can be read");
                    IdlePipes::received(&bytes[..count]);
                    waiting.ends();
                });
            }
            Ok(())
        })
    }

    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration> {
        self.0.run(|| {
            let begun = Instant::now();
            let talks: Vec<_> = talks.into_iter().map(|side| lamprey::spawn(|| talk(side))).collect();
            talks.into_iter().try_for_each(|side| side.join().expect("talking does not panic"))?;
            Ok(begun.elapsed())
        })
    }

    fn until(&mut self, over: Over<'_>) {
        until(self.0, over);
    }
}

fn talk(Talk { reader, writer, mut words }: Talk) -> io::Result<()> {
    let (reader, writer) = (End::new(reader)?, End::new(writer)?);
    for number in 0..words.messages() {
        if words.sends(number) {
            let mut bytes = words.say(number);
            while !bytes.is_empty() {
                bytes = &bytes[writer.write(bytes)?..];
            }
        } else {
            let mut room = words.room();
            while !room.is_empty() {
                let count = reader.read(room)?;
                room = &mut room[count..];
            }
            words.heard(number);
        }
    }
    Ok(())
}

struct Parasites(&'static Runtime);

impl System for Parasites {
    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()> {
        self.0.run(|| {
            for reader in readers {
                let (waiting, reader) = (waiting.clone(), End::new(reader)?);
                lamprey::parasite(async move {
                    waiting.begins();
                    let mut bytes = [0; 64];
                    let count = reader.read_async(&mut bytes).await.expect("a pipe can be read");
                    IdlePipes::received(&bytes[..count]);
                    waiting.ends();
                })
                .detach();
            }
            Ok(())
        })
    }

    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration> {
        self.0.run(|| {
            let begun = Instant::now();
            let talks: Vec<_> = talks.into_iter().map(|side| lamprey::parasite(talk_async(side))).collect();
            talks.into_iter().try_for_each(|side| side.join().expect("talking does not panic"))?;
            Ok(begun.elapsed())
        })
    }

    fn until(&mut self, over: Over<'_>) {
        until(self.0, over);
    }
}

async fn talk_async(Talk { reader, writer, mut words }: Talk) -> io::Result<()> {
    let (reader, writer) = (End::new(reader)?, End::new(writer)?);
    for number in 0..words.messages() {
        if words.sends(number) {
            say(&writer, words.say(number)).await?;
        } else {
            hear(&reader, &mut words).await?;
            words.heard(number);
        }
    }
    Ok(())
}

async fn say(writer: &End, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        bytes = &bytes[writer.write_async(bytes).await?..];
    }
    Ok(())
}

async fn hear(reader: &End, words: &mut Words) -> io::Result<()> {
    let mut room = words.room();
    while !room.is_empty() {
        let count = reader.read_async(room).await?;
        room = &mut room[count..];
    }
    Ok(())
}
