//! The end of a runtime while its hosts are in the middle of something: wherever they are, they unwind, their
//! destructors run, and whoever joins them learns of it.

use crate::common::*;
use lamprey::net::{TcpListener, TcpStream, UdpSocket};
use lamprey::{
    Handle, JoinError, JoinHandle, Receiver, Runtime, Sender, channel, sleep, spawn, suspend, yield_now,
};
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// Starts `call` in hosts of runtimes of several sizes, ends the runtime while they are in it, and checks
/// that their destructors have run by then and that the joiner is told.
fn ends_in(call: impl Fn() + Send + Sync + 'static) {
    let call = Arc::new(call);
    within(FOREVER, move || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (drops, begun) = (counter(), counter());
            let hosts: Vec<_> = (0..10)
                .map(|_| {
                    let (held, begun, call) = (Counted(drops.clone()), begun.clone(), call.clone());
                    runtime.handle().spawn(move || {
                        let _held = held;
                        tick(&begun);
                        call();
                        unreachable!("the call came back");
                    })
                })
                .collect();
            all_blocked(&runtime.handle(), || count(&begun) == 10);
            drop(runtime);
            assert_eq!(count(&drops), 10, "destructors have run when the drop is over");
            for host in hosts {
                assert!(host.is_finished());
                assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
            }
        }
    });
}

#[test]
fn in_a_send() {
    let (tx, _rx) = channel();
    ends_in(move || {
        tx.send(1).unwrap();
    });
}

#[test]
fn in_a_receive() {
    let (_tx, rx) = channel::<u8>();
    ends_in(move || {
        rx.recv().unwrap();
    });
}

#[test]
fn in_a_receive_with_a_timeout() {
    let (_tx, rx) = channel::<u8>();
    ends_in(move || {
        rx.recv_timeout(FOREVER * 10).unwrap();
    });
}

#[test]
fn in_a_join() {
    ends_in(|| {
        // Of two workers, the one of the host that is joined may be the first to end its hosts.
        let _ = spawn(|| sleep(Duration::MAX)).join();
        sleep(Duration::MAX);
    });
}

#[test]
fn in_a_sleep() {
    ends_in(|| sleep(FOREVER * 10));
    ends_in(|| sleep(Duration::MAX));
}

#[test]
fn in_a_suspend() {
    ends_in(|| {
        let mut kept = None;
        suspend(|token| kept = Some(token)).unwrap();
    });
}

/// Children may end of the same reason before the host that waits for them hears of it: it must not go on as
/// if they were done.
#[test]
fn in_a_scope_whose_children_end_first() {
    within(FOREVER, || {
        // From the moment at which none of the 600 children has begun to the one at which all have.
        for round in 0..=20 {
            let runtime = runtime(2);
            let (went_on, begun) = (counter(), counter());
            runtime.run({
                let (went_on, begun) = (went_on.clone(), begun.clone());
                move || {
                    for n in 0..300 {
                        let (went_on, begun) = (went_on.clone(), begun.clone());
                        drop(lamprey::spawn(move || {
                            if n % 3 == 0 {
                                loop {
                                    lamprey::yield_now();
                                }
                            }
                            let child = || {
                                tick(&begun);
                                lamprey::sleep(Duration::MAX);
                            };
                            lamprey::scope(|s| (0..3).for_each(|_| drop(s.spawn(child))));
                            tick(&went_on);
                        }));
                    }
                    eventually("children have begun", || count(&begun) >= round * 30);
                }
            });
            drop(runtime);
            assert_eq!(count(&went_on), 0, "with {} children", count(&begun));
        }
    });
}

#[test]
fn in_a_loop_of_yields() {
    ends_in(|| {
        loop {
            yield_now();
        }
    });
}

#[test]
fn in_a_loop_of_messages() {
    ends_in(|| {
        let (tx, rx) = channel();
        let (back, answers) = channel();
        spawn(move || rx.iter().for_each(|n: u64| back.send(n).unwrap_or(())));
        // A peer that is unwound first disconnects the channel; the other worker may cancel this host later.
        while tx.send(1).is_ok() && answers.recv().is_ok() {}
        sleep(Duration::MAX);
    });
}

#[test]
fn in_a_read_from_a_socket() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    ends_in(move || {
        let stream = TcpStream::connect(address).unwrap();
        let _ = (&stream).read(&mut [0; 8]).unwrap();
    });
}

#[test]
fn in_an_accept() {
    ends_in(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.accept().unwrap();
    });
}

#[test]
fn in_a_receive_of_a_datagram() {
    ends_in(|| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.recv_from(&mut [0; 8]).unwrap();
    });
}

#[test]
fn before_the_first_step() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (let_go, held_up) = std::sync::mpsc::channel::<()>();
        let begun = counter();
        let theirs = begun.clone();
        let busy = runtime.handle().spawn(move || {
            tick(&theirs);
            let _ = held_up.recv(); // holds the kernel thread
        });
        eventually("its start", || count(&begun) == 1);
        let (drops, ran) = (counter(), counter());
        let hosts: Vec<_> = (0..100)
            .map(|_| {
                let (held, ran) = (Counted(drops.clone()), ran.clone());
                runtime.handle().spawn(move || {
                    let _held = held;
                    tick(&ran);
                })
            })
            .collect();
        let stopper = blocked_os(move || drop(runtime));
        drop(let_go);
        stopper.join().unwrap();
        busy.join().unwrap();
        assert_eq!(count(&drops), 100);
        let cancelled = hosts.into_iter().filter_map(|host| host.join().err()).count();
        assert_eq!(cancelled + count(&ran), 100, "each has run or was cancelled");
    });
}

#[test]
fn a_call_on_the_blocking_pool_is_waited_for() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (done, begun) = (counter(), counter());
        let (theirs, start, at_the_end) = (done.clone(), begun.clone(), done.clone());
        let (let_go, held_up) = std::sync::mpsc::channel::<()>();
        let host = runtime.handle().spawn(move || {
            lamprey::block(move || {
                tick(&start);
                let _ = held_up.recv();
                tick(&theirs);
            });
            sleep(Duration::MAX);
        });
        eventually("its start", || count(&begun) == 1);
        let stopper = blocked_os(move || {
            drop(runtime);
            count(&at_the_end)
        });
        assert!(!stopper.is_finished());
        drop(let_go);
        assert_eq!(stopper.join().unwrap(), 1);
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    });
}

/// Blocks in its destructor, in every way.
struct Stubborn(Sender<u8>, Receiver<u8>, Handle, Arc<AtomicUsize>);

impl Drop for Stubborn {
    fn drop(&mut self) {
        assert!(self.0.send(1).is_err() && self.1.recv().is_err());
        assert!(self.1.recv_timeout(FOREVER).is_err());
        yield_now();
        sleep(Duration::from_millis(1));
        let mut kept = None;
        assert!(suspend(|token| kept = Some(token)).is_err());
        let late = self.2.spawn(|| unreachable!("spawned after the end"));
        let refused = late.join();
        assert!(matches!(refused, Err(JoinError::Unwinding(_) | JoinError::Cancelled(_))), "{refused:?}");
        assert_eq!(lamprey::block(|| 3), 3);
        tick(&self.3);
    }
}

#[test]
fn a_destructor_that_blocks_during_the_unwind_does_not_hang() {
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (tx, rx) = channel();
            let (begun, done) = (counter(), counter());
            let hosts: Vec<_> = (0..5)
                .map(|_| {
                    let stubborn = Stubborn(tx.clone(), rx.clone(), runtime.handle(), done.clone());
                    let begun = begun.clone();
                    runtime.handle().spawn(move || {
                        let _stubborn = stubborn;
                        tick(&begun);
                        sleep(Duration::MAX);
                    })
                })
                .collect();
            eventually("their start", || count(&begun) == 5);
            drop(runtime);
            assert_eq!(count(&done), 5);
            for host in hosts {
                assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
            }
        }
    });
}

#[test]
fn who_catches_the_unwind_and_blocks_again_is_unwound_again() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let (begun, catches) = (counter(), counter());
        let (start, theirs) = (begun.clone(), catches.clone());
        let host = runtime.handle().spawn(move || {
            tick(&start);
            for _ in 0..5 {
                assert!(catch_unwind(|| sleep(Duration::MAX)).is_err());
                tick(&theirs);
            }
            assert!(catch_unwind(yield_now).is_err());
            yield_now();
        });
        eventually("its start", || count(&begun) == 1);
        drop(runtime);
        assert_eq!(count(&catches), 5);
        assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn who_catches_the_unwind_may_still_return_a_value_or_panic() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let begun = counter();
        let caught = || {
            let begun = begun.clone();
            move || {
                tick(&begun);
                catch_unwind(|| sleep(Duration::MAX)).unwrap_err()
            }
        };
        let (first, second, third) = (caught(), caught(), caught());
        let value = runtime.handle().spawn(move || {
            drop(first());
            7
        });
        let panics = runtime.handle().spawn(move || {
            drop(second());
            panic!("instead");
        });
        let passed_on = runtime.handle().spawn(move || resume_unwind(third()));
        eventually("their start", || count(&begun) == 3);
        drop(runtime);
        assert_eq!(value.join().ok(), Some(7));
        assert!(matches!(panics.join(), Err(JoinError::Panicked(_)) | Err(JoinError::Cancelled(_))));
        assert!(matches!(passed_on.join(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn what_is_spawned_during_the_end_is_cancelled() {
    struct Spawns(std::sync::mpsc::Sender<JoinHandle<()>>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            let inside = spawn(|| unreachable!("spawned during the end"));
            self.0.send(inside).unwrap();
        }
    }
    within(FOREVER, || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let (tx, late) = std::sync::mpsc::channel();
            let begun = counter();
            for _ in 0..3 {
                let (spawns, begun) = (Spawns(tx.clone()), begun.clone());
                drop(runtime.handle().spawn(move || {
                    let _spawns = spawns;
                    tick(&begun);
                    sleep(Duration::MAX);
                }));
            }
            eventually("their start", || count(&begun) == 3);
            drop((runtime, tx));
            let late: Vec<_> = late.iter().collect();
            assert_eq!(late.len(), 3);
            for host in late {
                assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
            }
        }
    });
}

#[test]
fn spawns_from_other_threads_race_with_the_end() {
    within(FOREVER, || {
        for _ in 0..50 {
            let runtime = runtime(2);
            let drops = counter();
            let stop = Arc::new(AtomicBool::new(false));
            let spawners: Vec<_> = (0..2)
                .map(|_| {
                    let (handle, drops, stop) = (runtime.handle(), drops.clone(), stop.clone());
                    std::thread::spawn(move || {
                        let mut hosts = Vec::new();
                        while !stop.load(Ordering::Relaxed) && hosts.len() < 10_000 {
                            let held = Counted(drops.clone());
                            hosts.push(handle.spawn(move || drop(held)));
                        }
                        let spawned = hosts.len();
                        hosts.into_iter().for_each(|host| drop(host.join()));
                        spawned
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_micros(200));
            drop(runtime);
            stop.store(true, Ordering::Relaxed);
            let spawned: usize = spawners.into_iter().map(|thread| thread.join().unwrap()).sum();
            assert_eq!(count(&drops), spawned);
        }
    });
}

#[test]
fn a_joiner_outside_is_woken_by_the_end() {
    within(FOREVER, || {
        let runtime = runtime(1);
        let host = blocked_in(&runtime.handle(), || sleep(Duration::MAX));
        let joiner = blocked_os(move || host.join());
        let other = crate::common::runtime(1);
        let second = blocked_in(&runtime.handle(), || sleep(Duration::MAX));
        let inside = blocked_in(&other.handle(), move || second.join());
        drop(runtime);
        assert!(matches!(joiner.join().unwrap(), Err(JoinError::Cancelled(_))));
        assert!(matches!(inside.join().unwrap(), Err(JoinError::Cancelled(_))));
    });
}

#[test]
fn a_runtime_dropped_by_its_own_host_ends() {
    // Less than the time after which a drop gives up: it must not wait for its caller.
    within(Duration::from_secs(9), || {
        for workers in [1, 2] {
            let runtime = runtime(workers);
            let handle = runtime.handle();
            let drops = counter();
            let held = Counted(drops.clone());
            let bystander = blocked_in(&handle, move || {
                let _held = held;
                sleep(Duration::MAX);
            });
            let dropper = handle.spawn(move || {
                drop(runtime);
                sleep(Duration::MAX);
            });
            assert!(matches!(dropper.join(), Err(JoinError::Cancelled(_))));
            assert!(matches!(bystander.join(), Err(JoinError::Cancelled(_))));
            assert_eq!(count(&drops), 1);
            assert!(matches!(handle.spawn(|| ()).join(), Err(JoinError::Cancelled(_))));
        }
    });
}

#[test]
fn a_runtime_dropped_while_its_owner_panics() {
    within(FOREVER, || {
        let drops = counter();
        let theirs = drops.clone();
        let caught = catch_unwind(AssertUnwindSafe(move || {
            let runtime = runtime(1);
            let held = Counted(theirs);
            drop(blocked_in(&runtime.handle(), move || {
                let _held = held;
                sleep(Duration::MAX);
            }));
            panic!("the owner");
        }));
        assert!(caught.is_err());
        assert_eq!(count(&drops), 1);
    });
}

#[test]
fn when_run_ends_the_hosts_that_are_left_are_unwound() {
    let drops = counter();
    let theirs = drops.clone();
    within(FOREVER, move || {
        lamprey::run(|| {
            for _ in 0..10 {
                let held = Counted(theirs.clone());
                drop(spawn(move || {
                    let _held = held;
                    sleep(Duration::MAX);
                }));
            }
            yield_now();
        });
    });
    assert_eq!(count(&drops), 10);
}

#[test]
fn hosts_go_on_between_two_runs() {
    within(FOREVER, || {
        let runtime: Runtime = runtime(1);
        let (tx, rx) = channel();
        runtime.run(|| drop(spawn(move || (0..3).for_each(|n| tx.send(n).unwrap()))));
        assert_eq!(runtime.run(|| rx.iter().sum::<i32>()), 3);
    });
}

#[test]
fn a_shutdown_with_all_the_time_in_the_world() {
    within(FOREVER, || {
        for within in [Duration::MAX, Duration::from_secs(u64::MAX / 2)] {
            let runtime = runtime(2);
            runtime.run(|| drop(spawn(|| sleep(Duration::MAX))));
            assert!(runtime.shutdown(within).is_empty());
        }
    });
}

#[test]
fn with_a_carrier_that_blocks_in_a_poll_and_one_that_is_parked() {
    within(FOREVER, || {
        for _ in 0..20 {
            let runtime = runtime(1);
            runtime.run(|| {
                let ((tx, rx), begun) = (lamprey::channel::<()>(), counter());
                let theirs = begun.clone();
                let blocks = lamprey::parasite(async move {
                    let _ = rx.recv_async().await;
                    tick(&theirs);
                    lamprey::sleep(FOREVER);
                });
                blocks.detach();
                // Woken from elsewhere it runs on a carrier.
                std::thread::spawn(move || tx.send(()).unwrap());
                eventually("it blocks", || count(&begun) == 1);
                // Turns of another carrier, as often as not over when the runtime ends.
                let endless = lamprey::parasite(async {
                    loop {
                        lamprey::yield_now_async().await;
                    }
                });
                endless.detach();
                lamprey::sleep(Duration::from_millis(2));
            });
            let survivors = runtime.shutdown(FOREVER / 5);
            assert!(survivors.is_empty(), "{survivors:?}");
        }
    });
}
