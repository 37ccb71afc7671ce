//! Messages through pipes by tokio's tasks.

use super::tokio::{run, runtime};
use super::tokio_connections::until;
use crate::harness::Runner;
use crate::work::fifo::{System, Talk, samples};
use crate::work::pipe::IdlePipes;
use crate::work::waiting::{Over, Waiting};
use ::tokio::io::{AsyncReadExt, AsyncWriteExt};
use ::tokio::net::unix::pipe::{Receiver, Sender};
use ::tokio::runtime::Runtime;
use anyhow::Result;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// See `benches::fifo`.
pub fn fifo(workers: usize) -> Result<Runner> {
    let runtime: &'static Runtime = Box::leak(Box::new(runtime(workers)?));
    Ok(Box::new(move |n| samples(n, Tasks(runtime))))
}

struct Tasks(&'static Runtime);

impl System for Tasks {
    fn idle(&mut self, waiting: &Arc<Waiting>, readers: Vec<File>) -> Result<()> {
        let waiting = waiting.clone();
        run(self.0, async move {
            for reader in readers {
                let (waiting, mut reader) = (waiting.clone(), Receiver::from_owned_fd(reader.into())?);
                ::tokio::spawn(async move {
                    waiting.begins();
                    let mut bytes = [0; 64];
                    let count = reader.read(&mut bytes).await.expect("a pipe can be read");
                    IdlePipes::received(&bytes[..count]);
                    waiting.ends();
                });
            }
            Ok(())
        })
    }

    fn exchange(&mut self, talks: Vec<Talk>) -> Result<Duration> {
        run(self.0, async {
            let begun = Instant::now();
            let talks: Vec<_> = talks.into_iter().map(|side| ::tokio::spawn(talk(side))).collect();
            for side in talks {
                side.await.expect("talking does not panic")?;
            }
            Ok(begun.elapsed())
        })
    }

    fn until(&mut self, over: Over<'_>) {
        until(self.0, over);
    }
}

async fn talk(Talk { reader, writer, mut words }: Talk) -> io::Result<()> {
    let mut reader = Receiver::from_owned_fd(reader.into())?;
    let mut writer = Sender::from_owned_fd(writer.into())?;
    for number in 0..words.messages() {
        if words.sends(number) {
            writer.write_all(words.say(number)).await?;
        } else {
            reader.read_exact(words.room()).await?;
            words.heard(number);
        }
    }
    Ok(())
}
