//! A lock server: locks by name, whose requests can be withdrawn. What nacks are for.
//!
//! A client asks for a lock with an event. If it chooses something else (it has waited long enough, or
//! another lock was free first), the server must not give it the lock, for nobody would ever give that back.
//! A `choose` around the answer alone is not enough: the request has been made by then. So the request
//! carries a **nack**, an event that happens if and only if the client chooses otherwise; the server's answer
//! is a choice between the hand-over and the nack, and exactly one of the two happens.
//!
//! What is handed over is the lock itself: dropped, it goes back, wherever it is by then. So it cannot be
//! lost either if the client is cancelled with the lock in its hand.
//!
//! ```sh
//! cargo run -p lamprey --example lock_server
//! cargo test --example lock_server
//! ```

use lamprey::event::{BoxedEvent, Event, Nack, choose, timeout, with_nack};
use lamprey::{Sender, channel, mailbox, spawn};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

/// The client's side. The server ends with the last of them.
#[derive(Clone)]
pub struct LockServer(mailbox::Sender<Request>);

enum Request {
    Lock(String, Waiting),
    Unlock(String),
}

/// Somebody who wants a lock.
struct Waiting {
    server: LockServer,
    hand: Sender<Held>,
    nack: Nack,
}

/// A lock that is held. Dropping it gives it back.
pub struct Held {
    name: String,
    server: LockServer,
}

impl LockServer {
    /// Starts the server, a host.
    pub fn start() -> Self {
        let (requests, incoming) = mailbox();
        spawn(move || serve(incoming));
        Self(requests)
    }

    /// The event of holding the lock `name`.
    pub fn lock_evt(&self, name: &str) -> BoxedEvent<'static, Held> {
        let (server, name) = (self.clone(), name.to_owned());
        let event = with_nack(move |nack| {
            let (hand, take) = channel();
            let waiting = Waiting { server: server.clone(), hand, nack };
            // A mailbox: a client that asks for several locks at once must not wait here.
            let _ = server.0.send(Request::Lock(name, waiting)); // an error: the runtime ends
            take.into_recv_evt().wrap(|held| held.expect("the server answers, or there was a nack"))
        });
        event.boxed()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.server.0.send(Request::Unlock(std::mem::take(&mut self.name)));
    }
}

/// The server: which locks are held, and who waits for them.
fn serve(mut incoming: mailbox::Receiver<Request>) {
    let mut locks: HashMap<String, VecDeque<Waiting>> = HashMap::new();
    for request in incoming.iter() {
        match request {
            Request::Lock(name, first) => match locks.get_mut(&name) {
                Some(waiting) => waiting.push_back(first),
                None => {
                    locks.insert(name.clone(), VecDeque::new());
                    hand_over(name, first);
                }
            },
            Request::Unlock(name) => match locks.get_mut(&name).and_then(VecDeque::pop_front) {
                Some(next) => hand_over(name, next),
                None => drop(locks.remove(&name)),
            },
        }
    }
}

/// The client takes the lock, or says that it does not want it any more; that comes back as an unlock then.
fn hand_over(name: String, Waiting { server, hand, nack }: Waiting) {
    let held = Held { name, server };
    choose((hand.send_evt(held).wrap(drop), nack)).sync();
}

fn main() {
    lamprey::run(|| {
        let server = LockServer::start();
        let printer = server.lock_evt("printer").sync();
        let impatient = choose((
            server.lock_evt("printer").wrap(Some),
            timeout(Duration::from_millis(5)).wrap(|()| None),
        ));
        println!("the printer is {}", if impatient.sync().is_some() { "free" } else { "taken" });
        drop(printer);
        let again = server.lock_evt("printer").sync_timeout(Duration::from_secs(60));
        println!("now it is {}", if again.is_some() { "ours" } else { "lost" });
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    const SHORT: Duration = Duration::from_millis(3);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn the_main_program() {
        main();
    }

    #[test]
    fn what_was_withdrawn_is_not_given() {
        lamprey::run(|| {
            let server = LockServer::start();
            let held = server.lock_evt("a").sync();
            for _ in 0..3 {
                assert!(server.lock_evt("a").sync_timeout(SHORT).is_none());
            }
            drop(held);
            // Nobody of the three has it.
            assert!(server.lock_evt("a").sync_timeout(LONG).is_some());
        });
    }

    #[test]
    fn of_two_locks_one_is_taken_and_the_other_stays_free() {
        lamprey::run(|| {
            let server = LockServer::start();
            for _ in 0..100 {
                let either = choose((
                    server.lock_evt("a").wrap(|held| (held, "b")),
                    server.lock_evt("b").wrap(|held| (held, "a")),
                ));
                let (held, other) = either.sync();
                assert!(server.lock_evt(other).sync_timeout(LONG).is_some());
                assert!(server.lock_evt(&held.name).poll().is_none());
            }
        });
    }

    #[test]
    fn nobody_else_holds_it() {
        for workers in 1..=2 {
            lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
                let server = LockServer::start();
                let (inside, entered) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
                let client = |n: u64| {
                    let (server, inside, entered) = (server.clone(), inside.clone(), entered.clone());
                    move || {
                        for round in 0..50 {
                            let patience = Duration::from_micros((n * 37 + round * 11) % 200);
                            let Some(_held) = server.lock_evt("the one").sync_timeout(patience) else {
                                continue;
                            };
                            assert_eq!(inside.fetch_add(1, Relaxed), 0);
                            lamprey::yield_now();
                            inside.fetch_sub(1, Relaxed);
                            entered.fetch_add(1, Relaxed);
                        }
                    }
                };
                let clients: Vec<_> = (0..8).map(|n| spawn(client(n))).collect();
                clients.into_iter().for_each(|client| client.join().unwrap());
                assert!(server.lock_evt("the one").sync_timeout(LONG).is_some(), "lost");
                println!("{} of 400 had the lock", entered.load(Relaxed));
            });
        }
    }

    /// An awaiting client that is dropped with the lock already in its hand gives it back.
    #[test]
    fn a_client_that_is_dropped_gives_it_back() {
        lamprey::run(|| {
            let server = LockServer::start();
            for _ in 0..100 {
                let event = server.lock_evt("a");
                let client = lamprey::parasite(async move { event.await });
                lamprey::yield_now();
                drop(client);
            }
            assert!(server.lock_evt("a").sync_timeout(LONG).is_some());
        });
    }
}
