//! Chameneos: creatures that meet in pairs and change their colours (Kaiser and Pradat-Peyre, 2003).

use super::{bench, runner};
use crate::harness::{Bench, Variant};
use crate::rivals::tokio_savina;
use crate::work::savina::chameneos::{CREATURES, Colour, WORK};
use lamprey::{SwapChannel, channel};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// See `about`.
pub const BENCH: Bench = bench(
    "savina_chameneos",
    "100 creatures send their colour to a mall, which tells each two that come the colour of the other; ns for each meeting. `swap`: \
     the mall is a SwapChannel, and what counts the meetings an atomic number. tokio: mpsc::channel(1)",
    1000,
    &[
        Variant::ours("lamprey", |w| runner(w, &WORK, hosts)),
        Variant::ours("parasites", |w| runner(w, &WORK, parasites)),
        Variant::ours("swap", |w| runner(w, &WORK, swap)),
        Variant::rival("tokio", tokio_savina::chameneos::tokio),
        Variant::go(),
    ],
);

/// A mall that leaves after so many meetings. Whoever comes then, or waits, finds its channels closed.
fn hosts(meetings: u64) -> u64 {
    let (come, comers) = channel::<(usize, Colour)>();
    let creature = |me| {
        let (tell, told) = channel();
        let come = come.clone();
        let creature = lamprey::spawn(move || {
            let (mut colour, mut met) = (Colour::of(me), 0);
            while come.send((me, colour)).is_ok() {
                let Ok(other) = told.recv() else { break };
                colour = colour.after(other);
                met += 1;
            }
            met
        });
        (tell, creature)
    };
    let (tell, creatures): (Vec<_>, Vec<_>) = (0..CREATURES).map(creature).unzip();
    let mall = lamprey::spawn(move || {
        for _ in 0..meetings {
            let [one, two] = [(); 2].map(|()| comers.recv().expect("creatures come"));
            tell[one.0].send(two.1).expect("it waits");
            tell[two.0].send(one.1).expect("it waits");
        }
    });
    mall.join().expect("the mall does not panic");
    creatures.into_iter().map(|creature| creature.join().expect("no creature panics")).sum()
}

fn parasites(meetings: u64) -> u64 {
    let (come, comers) = channel::<(usize, Colour)>();
    let creature = |me| {
        let (tell, told) = channel();
        let come = come.clone();
        let creature = lamprey::parasite(async move {
            let (mut colour, mut met) = (Colour::of(me), 0);
            while come.send_async((me, colour)).await.is_ok() {
                let Ok(other) = told.recv_async().await else { break };
                colour = colour.after(other);
                met += 1;
            }
            met
        });
        (tell, creature)
    };
    let (tell, creatures): (Vec<_>, Vec<_>) = (0..CREATURES).map(creature).unzip();
    let mall = lamprey::parasite(async move {
        for _ in 0..meetings {
            let one = comers.recv_async().await.expect("creatures come");
            let two = comers.recv_async().await.expect("creatures come");
            tell[one.0].send_async(two.1).await.expect("it waits");
            tell[two.0].send_async(one.1).await.expect("it waits");
        }
    });
    mall.join().expect("the mall does not panic");
    creatures.into_iter().map(|creature| creature.join().expect("no creature panics")).sum()
}

/// Tickets for two of each meeting: whoever has one meets another who has one.
fn swap(meetings: u64) -> u64 {
    let tickets = Arc::new(AtomicU64::new(2 * meetings));
    let place = SwapChannel::new();
    let creature = |me| {
        let (tickets, place) = (tickets.clone(), place.clone());
        lamprey::spawn(move || {
            let (mut colour, mut met) = (Colour::of(me), 0);
            // Relaxed: only a count.
            while tickets.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok() {
                colour = colour.after(place.swap(colour));
                met += 1;
            }
            met
        })
    };
    let creatures: Vec<_> = (0..CREATURES).map(creature).collect();
    creatures.into_iter().map(|creature| creature.join().expect("no creature panics")).sum()
}
