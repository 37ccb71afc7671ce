//! A thread that counts messages.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::counting::WORK;
use lamprey::{channel, oneshot};

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_counting",
    "a thread sends messages to another, which counts them, and then asks it how many they were; ns for each. tokio: mpsc::channel(1)",
    5000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, lamprey)),
        Variant::rival("tokio", tokio_savina::counting::tokio),
        Variant::go(),
    ],
);

enum Message {
    Increment,
    Read(oneshot::Sender<u64>),
}

fn lamprey(messages: u64) -> u64 {
    let (tx, rx) = channel();
    lamprey::spawn(move || {
        let mut count = 0;
        for message in rx {
            match message {
                Message::Increment => count += 1,
                Message::Read(answer) => answer.send(count).expect("the producer waits"),
            }
        }
    });
    let producer = lamprey::spawn(move || {
        for _ in 0..messages {
            tx.send(Message::Increment).expect("the counter lives");
        }
        let (answer, count) = oneshot();
        tx.send(Message::Read(answer)).expect("the counter lives");
        count.recv().expect("the counter answers")
    });
    producer.join().expect("the producer does not panic")
}
