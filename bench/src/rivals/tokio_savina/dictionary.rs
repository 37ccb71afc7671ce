//! A dictionary that one task owns: a oneshot with each request, as tokio's tutorial does it.

use super::runner;
use crate::harness::Runner;
use crate::work::savina::dictionary::{CLIENTS, Request, WORK, requests};
use ::tokio::sync::{mpsc, oneshot};
use ::tokio::task::JoinSet;
use anyhow::Result;
use std::collections::HashMap;

/// See `about` of the bench.
pub fn tokio(workers: usize) -> Result<Runner> {
    runner(workers, &WORK, clients)
}

type Call = (Request, oneshot::Sender<Option<u64>>);

async fn clients(calls: u64) -> u64 {
    let (dictionary, incoming) = mpsc::channel(1);
    let owner = ::tokio::spawn(own(incoming));
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let dictionary = dictionary.clone();
        clients.spawn(async move {
            let mut sum = 0;
            for request in requests(client, calls) {
                let (reply, answer) = oneshot::channel();
                dictionary.send((request, reply)).await.expect("the owner lives");
                sum += answer.await.expect("the owner answers").unwrap_or(0);
            }
            sum
        });
    }
    drop(dictionary);
    let sum = clients.join_all().await.into_iter().sum();
    owner.await.expect("the owner does not panic");
    sum
}

/// A write is answered with nothing, a read with the value, if there is one.
async fn own(mut incoming: mpsc::Receiver<Call>) {
    let mut dictionary = HashMap::new();
    while let Some((request, reply)) = incoming.recv().await {
        let answer = match request {
            Request::Put { key, value } => {
                dictionary.insert(key, value);
                None
            }
            Request::Get { key } => dictionary.get(&key).copied(),
        };
        reply.send(answer).expect("the client waits");
    }
}
