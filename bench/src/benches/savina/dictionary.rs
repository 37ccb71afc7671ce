//! A dictionary that one thread owns.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::dictionary::{CLIENTS, Request, WORK, requests};
use lamprey::rpc;
use std::collections::HashMap;

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_dictionary",
    "20 clients call the thread that owns a dictionary (std's; Go's own), a write and nine reads in turn, and wait for each answer; ns \
     for each call. tokio: mpsc::channel(1), and a oneshot for the answer",
    2000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::rival("tokio", tokio_savina::dictionary::tokio),
        Variant::go(),
    ],
);

fn hosts(calls: u64) -> u64 {
    let (dictionary, incoming) = rpc();
    let owner = lamprey::spawn(move || {
        let mut dictionary = HashMap::new();
        for (request, reply) in incoming {
            reply.send(answer(&mut dictionary, request)).expect("the client waits");
        }
    });
    let client = |client| {
        let dictionary = dictionary.clone();
        lamprey::spawn(move || {
            let call = |request| dictionary.call(request).expect("the owner answers").unwrap_or(0);
            requests(client, calls).map(call).sum::<u64>()
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    drop(dictionary);
    let sum = clients.into_iter().map(|client| client.join().expect("no client panics")).sum();
    owner.join().expect("the owner does not panic");
    sum
}

fn parasites(calls: u64) -> u64 {
    let (dictionary, incoming) = rpc();
    let owner = lamprey::parasite(async move {
        let mut dictionary = HashMap::new();
        while let Ok((request, reply)) = incoming.recv_async().await {
            reply.send(answer(&mut dictionary, request)).expect("the client waits");
        }
    });
    let client = |client| {
        let dictionary = dictionary.clone();
        lamprey::parasite(async move {
            let mut sum = 0;
            for request in requests(client, calls) {
                sum += dictionary.call_async(request).await.expect("the owner answers").unwrap_or(0);
            }
            sum
        })
    };
    let clients: Vec<_> = (0..CLIENTS).map(client).collect();
    drop(dictionary);
    let sum = clients.into_iter().map(|client| client.join().expect("no client panics")).sum();
    owner.join().expect("the owner does not panic");
    sum
}

/// A write is answered with nothing, a read with the value, if there is one.
fn answer(dictionary: &mut HashMap<u64, u64>, request: Request) -> Option<u64> {
    match request {
        Request::Put { key, value } => {
            dictionary.insert(key, value);
            None
        }
        Request::Get { key } => dictionary.get(&key).copied(),
    }
}
