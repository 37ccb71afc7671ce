//! A task that counts messages.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::counting::WORK;
use ::tokio::sync::{mpsc, oneshot};
use anyhow::Result;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, counting)
}

enum Message {
    Increment,
    Read(oneshot::Sender<u64>),
}

async fn counting(messages: u64) -> u64 {
    let (tx, mut rx) = mpsc::channel(1);
    ::tokio::spawn(async move {
        let mut count = 0;
        while let Some(message) = rx.recv().await {
            match message {
                Message::Increment => count += 1,
                Message::Read(answer) => answer.send(count).expect("the producer waits"),
            }
        }
    });
    let producer = ::tokio::spawn(async move {
        for _ in 0..messages {
            tx.send(Message::Increment).await.expect("the counter lives");
        }
        let (answer, count) = oneshot::channel();
        tx.send(Message::Read(answer)).await.expect("the counter lives");
        count.await.expect("the counter answers")
    });
    producer.await.expect("the producer does not panic")
}
