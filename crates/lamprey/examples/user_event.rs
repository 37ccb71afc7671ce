//! A blocking operation of one's own: a latch that opens once, for hosts, parasites and OS threads alike.
//!
//! Lamprey has no latch. A library can add one that is as good as if it were built in, because a thread of
//! control that waits can be had as a value: `reify` suspends it and hands it over, `prepare` gives it what
//! it waits for, `attach` lets it go on. What kind of thread it is makes no difference.
//!
//! ```sh
//! cargo run -p lamprey --example user_event
//! cargo test --example user_event
//! ```

use lamprey::parasite::{Parasite, Reify, reify};
use std::sync::Mutex;

/// Shut at first, open for ever once [`open`](Latch::open) has been called.
pub struct Latch(Mutex<State>);

enum State {
    /// Those who wait, in the order of their arrival.
    Shut(Vec<Parasite<()>>),
    Open,
}

impl Latch {
    /// A latch that is shut.
    pub const fn new() -> Self {
        Self(Mutex::new(State::Shut(Vec::new())))
    }

    /// Waits until the latch is open: `.sync()` in blocking code, `.await` in async code.
    pub fn opened(&self) -> Reify<(), impl FnOnce(Parasite<()>)> {
        reify(|caller| {
            if let State::Shut(waiting) = &mut *self.0.lock().unwrap() {
                return waiting.push(caller);
            }
            caller.prepare(()).attach(); // it is open: the caller goes on without having stopped
        })
    }

    /// Opens the latch. All who wait go on: parasites here and now, on this stack, before `open` returns;
    /// threads soon.
    pub fn open(&self) {
        // The lock is free again before anybody goes on: `attach` runs other people's code.
        let state = std::mem::replace(&mut *self.0.lock().unwrap(), State::Open);
        if let State::Shut(waiting) = state {
            waiting.into_iter().for_each(|parasite| parasite.prepare(()).attach());
        }
    }
}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

fn main() {
    static STARTED: Latch = Latch::new();

    lamprey::run(|| {
        let host = lamprey::spawn(|| {
            STARTED.opened().sync();
            println!("a host goes on");
        });
        let stackless = lamprey::parasite(async {
            STARTED.opened().await;
            println!("a parasite goes on, inside `open`");
        });
        let stackful = lamprey::parasite_fn(|| {
            STARTED.opened().sync();
            println!("a parasite with a stack goes on, inside `open`");
        });
        let os_thread = std::thread::spawn(|| {
            STARTED.opened().sync();
            println!("an OS thread goes on");
        });

        println!("all wait");
        STARTED.open();
        println!("open");

        stackless.join().unwrap();
        stackful.join().unwrap();
        host.join().unwrap();
        lamprey::block(|| os_thread.join()).unwrap();
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::{JoinError, parasite, parasite_fn, spawn};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn the_main_program() {
        main();
    }

    #[test]
    fn whoever_comes_after_it_is_open_does_not_wait() {
        let latch = Arc::new(Latch::new());
        latch.open();
        latch.open();
        latch.opened().sync();
        lamprey::run(|| {
            latch.opened().sync();
            let theirs = latch.clone();
            assert!(parasite(async move { theirs.opened().await }).is_finished());
        });
    }

    #[test]
    fn parasites_run_within_open_in_the_order_of_their_arrival() {
        lamprey::Runtime::builder().workers(1).build().unwrap().run(|| {
            let latch = Arc::new(Latch::new());
            let order = Arc::new(Mutex::new(Vec::new()));
            let parasites: Vec<_> = (0..10)
                .map(|n| {
                    let (latch, order) = (latch.clone(), order.clone());
                    parasite(async move {
                        latch.opened().await;
                        order.lock().unwrap().push(n);
                    })
                })
                .collect();
            latch.open();
            assert_eq!(*order.lock().unwrap(), Vec::from_iter(0..10));
            parasites.into_iter().for_each(|parasite| parasite.join().unwrap());
        });
    }

    #[test]
    fn opened_while_all_kinds_arrive() {
        lamprey::run(|| {
            for _ in 0..50 {
                let latch = Arc::new(Latch::new());
                let passed = Arc::new(AtomicUsize::new(0));
                let pass = || {
                    let (latch, passed) = (latch.clone(), passed.clone());
                    move || {
                        latch.opened().sync();
                        passed.fetch_add(1, Ordering::Relaxed);
                    }
                };
                let os_threads: Vec<_> = (0..2).map(|_| std::thread::spawn(pass())).collect();
                let hosts: Vec<_> = (0..20).map(|_| spawn(pass())).collect();
                let opener = latch.clone();
                let opener = spawn(move || opener.open());
                let stackful: Vec<_> = (0..20).map(|_| parasite_fn(pass())).collect();
                let stackless: Vec<_> = (0..20)
                    .map(|_| {
                        let (latch, passed) = (latch.clone(), passed.clone());
                        parasite(async move {
                            latch.opened().await;
                            passed.fetch_add(1, Ordering::Relaxed);
                        })
                    })
                    .collect();
                opener.join().unwrap();
                hosts.into_iter().for_each(|host| host.join().unwrap());
                stackful.into_iter().chain(stackless).for_each(|parasite| parasite.join().unwrap());
                lamprey::block(|| os_threads.into_iter().for_each(|thread| thread.join().unwrap()));
                assert_eq!(passed.load(Ordering::Relaxed), 62);
            }
        });
    }

    #[test]
    fn a_latch_that_goes_away_shut_cancels_those_who_wait() {
        lamprey::run(|| {
            let latch = Arc::new(Latch::new());
            let theirs = latch.clone();
            // The waiting parasite keeps the latch, so it is emptied by hand here.
            let waits = parasite(async move { theirs.opened().await });
            *latch.0.lock().unwrap() = State::Shut(Vec::new());
            assert!(matches!(waits.join(), Err(JoinError::Cancelled(_))));
        });
    }
}
