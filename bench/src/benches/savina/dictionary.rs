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
        Variant::ours("lamprey", |w| runner(w, &WORK, lamprey)),
        Variant::rival("tokio", tokio_savina::dictionary::tokio),
        Variant::go(),
    ],
);

fn lamprey(calls: u64) -> u64 {
    let (dictionary, incoming) = rpc();
    let owner = lamprey::spawn(move || own(&incoming));
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

/// A write is answered with nothing, a read with the value, if there is one.
fn own(incoming: &rpc::Server<Request, Option<u64>>) {
    let mut dictionary = HashMap::new();
    for (request, reply) in incoming {
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
