//! The sleeping barber.

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::barber::{CHAIRS, CUSTOMERS, WORK};
use lamprey::{TrySendError, oneshot};

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_barber",
    "5000 customers, each a new thread, come to a barber; one who finds all 1000 chairs taken yields and comes again, the others wait \
     to be told that their hair is cut; ns for each customer, from before the first is started",
    CUSTOMERS,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, lamprey)),
        Variant::rival("tokio", tokio_savina::barber::tokio),
        Variant::go(),
    ],
);

fn lamprey(customers: u64) -> u64 {
    (0..customers / CUSTOMERS).map(|_| day()).sum()
}

fn day() -> u64 {
    let (room, waiting) = lamprey::bounded::<oneshot::Sender<u64>>(CHAIRS);
    let barber = lamprey::spawn(move || {
        for (haircut, customer) in waiting.iter().enumerate() {
            customer.send(haircut as u64).expect("the customer waits");
        }
    });
    let customer = |_| {
        let room = room.clone();
        lamprey::spawn(move || {
            let (mut ticket, done) = oneshot();
            while let Err(full) = room.try_send(ticket) {
                let TrySendError::Full(back) = full else { panic!("the barber stays") };
                ticket = back;
                lamprey::yield_now();
            }
            done.recv().expect("the barber cuts the hair of all")
        })
    };
    let customers: Vec<_> = (0..CUSTOMERS).map(customer).collect();
    drop(room);
    let haircuts = customers.into_iter().map(|customer| customer.join().expect("no customer panics")).sum();
    barber.join().expect("the barber does not panic");
    haircuts
}
