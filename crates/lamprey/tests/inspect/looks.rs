//! What `dump` finds.

use crate::common::{FOREVER, run, within};
use lamprey::inspect::{dump, threads};
use lamprey::{Builder, Receiver, channel, parasite, parasite_fn, parasite_local, sleep, spawn, yield_now};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

async fn listen(rx: Receiver<u32>) -> Option<u32> {
    rx.recv_async().await.ok()
}

/// Dumps until all of these are in it.
fn dump_with(parts: &[&str]) -> String {
    loop {
        let text = dump().to_string();
        if parts.iter().all(|part| text.contains(part)) {
            return text;
        }
        yield_now();
    }
}

#[test]
fn each_kind_of_thread_is_found_with_what_it_waits_for() {
    for workers in [1, 2] {
        run(workers, || {
            let (tx, rx) = channel::<u32>();
            let host = {
                let rx = rx.clone();
                Builder::new().name("a host").spawn(move || rx.recv()).unwrap()
            };
            let unnamed = [(); 3].map(|()| parasite(listen(rx.clone())));
            let local = parasite_local(listen(rx.clone()));
            let named = Builder::new().name("with a name").parasite(listen(rx.clone())).unwrap();
            let stackful = {
                let rx = rx.clone();
                parasite_fn(move || rx.recv())
            };
            // The one that `parasite_local` has started is like the others where spawn sites are not known.
            let others =
                if cfg!(debug_assertions) { "; and 2 others in the same way" } else { "; and 3 others" };
            let text =
                dump_with(&["`a host`", "looks::listen", "`with a name`", "receive on a channel", others]);
            assert!(text.contains("\nparasite "), "{text}");
            drop((tx, rx));
            host.join().unwrap().unwrap_err();
            unnamed.into_iter().for_each(|one| assert_eq!(one.join().unwrap(), None));
            assert_eq!((local.join().unwrap(), named.join().unwrap()), (None, None));
            stackful.join().unwrap().unwrap_err();
        });
    }
}

#[test]
fn those_that_have_ended_are_not_found() {
    run(2, || {
        let hosts = [(); 50].map(|()| spawn(|| ()));
        let parasites = [(); 50].map(|()| parasite(async {}));
        hosts.into_iter().for_each(|host| host.join().unwrap());
        parasites.into_iter().for_each(|one| one.join().unwrap());
        let dump = dump();
        let others = dump.to_string().matches("tests/inspect/looks.rs").count();
        assert!(dump.threads() < 50, "{dump}");
        assert!(others > 0, "this one is there: {dump}");
    });
}

#[test]
fn looks_from_several_threads_at_once() {
    run(2, || {
        let hosts = [(); 8].map(|()| spawn(|| (0..20).map(|_| dump().threads()).max()));
        let thread = std::thread::spawn(|| (0..20).map(|_| dump().threads()).max());
        hosts.into_iter().for_each(|host| assert!(host.join().unwrap() >= Some(1)));
        thread.join().unwrap();
    });
}

/// Parasites of both workers are woken, run, end and are cancelled while dumps hold and describe them: nothing is lost.
#[test]
fn looking_loses_no_wake() {
    within(FOREVER, || {
        run(2, || {
            let over = Arc::new(AtomicBool::new(false));
            let (received, sent) = (Arc::new(AtomicU64::new(0)), 30_000_u64);
            let looker = {
                let over = over.clone();
                spawn(move || {
                    let mut looks = 0;
                    while !over.load(Ordering::SeqCst) {
                        looks += usize::from(dump().threads() > 0);
                    }
                    looks
                })
            };
            let (tx, rx) = channel::<u64>();
            let servers: Vec<_> = (0..64_u64)
                .map(|n| {
                    let (rx, received) = (rx.clone(), received.clone());
                    let serve = async move {
                        while let Ok(number) = rx.recv_async().await {
                            received.fetch_add(number, Ordering::SeqCst);
                        }
                    };
                    let builder =
                        if n % 2 == 0 { Builder::new() } else { Builder::new().name(format!("no {n}")) };
                    builder.parasite(serve).unwrap()
                })
                .collect();
            let senders = [0, 1].map(|worker| {
                let (tx, rx) = (tx.clone(), rx.clone());
                let send = move || {
                    for n in 0..sent / 2 {
                        tx.send(1).unwrap();
                        if n % 64 == 0 {
                            // Short lives: freed at any moment, by any thread.
                            let short =
                                Builder::new().name("short").parasite(listen_once(rx.clone())).unwrap();
                            short.cancel();
                            drop(short);
                        }
                    }
                };
                Builder::new().worker(worker).spawn(send).unwrap()
            });
            senders.into_iter().for_each(|sender| sender.join().unwrap());
            drop((tx, rx));
            servers.into_iter().for_each(|server| server.join().unwrap());
            over.store(true, Ordering::SeqCst);
            assert!(looker.join().unwrap() > 0);
            // A short one may have taken a message before it was cancelled.
            assert!(received.load(Ordering::SeqCst) <= sent);
            assert!(received.load(Ordering::SeqCst) >= sent - sent / 64 - 2);
        });
    });
}

async fn listen_once(rx: Receiver<u64>) {
    let _ = rx.recv_async().await;
}

#[test]
fn a_thread_that_computes_is_found_by_another() {
    run(2, || {
        let (over, begun) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let computes = {
            let (over, begun) = (over.clone(), begun.clone());
            Builder::new().name("computes").worker(1).spawn(move || {
                begun.store(true, Ordering::SeqCst);
                while !over.load(Ordering::SeqCst) {
                    std::hint::spin_loop();
                }
            })
        };
        while !begun.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(1));
        }
        let text = dump().to_string();
        over.store(true, Ordering::SeqCst);
        computes.unwrap().join().unwrap();
        assert!(text.contains("`computes` of worker 1"), "{text}");
    });
}

/// Looks when it is dropped, and sends what it finds.
struct LooksAtEnd(std::sync::mpsc::Sender<(String, usize)>);

impl Drop for LooksAtEnd {
    fn drop(&mut self) {
        let _ = self.0.send((dump().to_string(), threads().len()));
    }
}

#[test]
fn a_look_in_a_destructor_of_a_host_that_unwinds_finds_the_host() {
    for workers in [1, 2] {
        run(workers, || {
            let (looked, found) = std::sync::mpsc::channel();
            let its = looked.clone();
            let dies = Builder::new().name("dies of a panic").spawn(move || {
                let _looks = LooksAtEnd(its);
                panic!("on purpose");
            });
            assert!(dies.unwrap().join().is_err());
            let cancelled = Builder::new().name("is cancelled").spawn(move || {
                let _looks = LooksAtEnd(looked);
                sleep(FOREVER);
            });
            let cancelled = cancelled.unwrap();
            dump_with(&["`is cancelled`"]);
            cancelled.cancel();
            assert!(cancelled.join().is_err());
            for name in ["`dies of a panic`", "`is cancelled`"] {
                let (dump, threads) = found.recv().unwrap();
                assert!(dump.contains(name) && !dump.contains("does not answer"), "{dump}");
                assert!(threads >= 2);
            }
        });
    }
}
