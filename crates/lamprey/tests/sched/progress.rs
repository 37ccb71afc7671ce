//! What can run, runs: while a host computes, other workers do what its worker cannot. The hosts here compute
//! until the other side has been served, so without that nothing ends.

use crate::common::beside::Flag;
use crate::common::{FOREVER, count, counter, eventually, run, tick, within};
use lamprey::net::{TcpListener, UnixStream};
use lamprey::{Builder, Helper, Runtime, Source, WakeToken, channel, parasite, sleep_async, suspend};
use std::future::poll_fn;
use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

/// Runs `host` on worker 0 of 2, and waits for its end.
fn on_worker_0(host: impl FnOnce() + Send + 'static) {
    run(2, || Builder::new().worker(0).spawn(host).unwrap().join().unwrap());
}

#[test]
fn a_connection_that_was_handed_to_another_worker_is_served() {
    on_worker_0(|| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (served, computes) = (Flag::default(), Flag::default());
        let (theirs, begun) = (served.clone(), computes.clone());
        let client = thread::spawn(move || {
            let mut stream = std::net::TcpStream::connect(address).unwrap();
            stream.write_all(b"hello").unwrap();
            begun.compute_until_up();
            stream.write_all(b"ping").unwrap();
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).unwrap();
            theirs.raise();
        });
        let (mut stream, _) = listener.accept().unwrap();
        stream.read_exact(&mut [0; 5]).unwrap(); // the first wait is here
        let serve = move || {
            let mut bytes = [0; 4];
            stream.read_exact(&mut bytes).unwrap();
            stream.write_all(&bytes).unwrap();
        };
        Builder::new().worker(1).spawn(serve).unwrap();
        computes.raise();
        served.compute_until_up();
        client.join().unwrap();
    });
}

#[test]
fn a_socket_that_first_waited_where_somebody_computes_is_served() {
    run(2, || {
        let (mut far, near) = std::os::unix::net::UnixStream::pair().unwrap();
        let mut near = UnixStream::from_std(near).unwrap();
        let there = move || {
            near.read_exact(&mut [0]).unwrap();
            near
        };
        let first = Builder::new().worker(0).spawn(there).unwrap();
        far.write_all(&[1]).unwrap();
        let mut near = first.join().unwrap();
        let served = Flag::default();
        let (theirs, reader) = (served.clone(), served.clone());
        let busy = Builder::new().worker(0).spawn(move || theirs.compute_until_up()).unwrap();
        let reader = Builder::new().worker(1).spawn(move || {
            let writer = thread::spawn(move || {
                // More than one wait: also those that begin while the other worker computes.
                for n in 0..100 {
                    thread::sleep(Duration::from_micros(n * 20));
                    far.write_all(&[2]).unwrap();
                }
                far
            });
            (0..100).for_each(|_| near.read_exact(&mut [0]).unwrap());
            reader.raise();
            drop(writer.join().unwrap());
        });
        reader.unwrap().join().unwrap();
        busy.join().unwrap();
    });
}

#[test]
fn a_parasite_that_the_computing_host_has_woken_runs() {
    on_worker_0(|| {
        let (tx, rx) = channel::<u8>();
        let served = Flag::default();
        let theirs = served.clone();
        let parasite = parasite(async move {
            assert_eq!(rx.recv_async().await, Ok(7));
            theirs.raise();
        });
        tx.send(7).unwrap();
        served.compute_until_up();
        parasite.join().unwrap();
    });
}

#[test]
fn parasites_beyond_one_batch_run_and_those_that_must_stay_stay() {
    const MANY: usize = 2000;
    on_worker_0(|| {
        let (tx, rx) = lamprey::bounded::<u8>(MANY * 2);
        let (served, ran) = (Flag::default(), counter());
        let here = lamprey::current().worker();
        let crowd: Vec<_> = (0..MANY)
            .map(|_| {
                let (rx, served, ran) = (rx.clone(), served.clone(), ran.clone());
                let wait = async move {
                    rx.recv_async().await.unwrap();
                    tick(&ran);
                    if count(&ran) == MANY {
                        served.raise();
                    }
                };
                parasite(wait)
            })
            .collect();
        let stays = counter();
        let own: Vec<_> = (0..50)
            .map(|_| {
                let (rx, stays) = (rx.clone(), stays.clone());
                let local = std::rc::Rc::new(());
                lamprey::parasite_local(async move {
                    rx.recv_async().await.unwrap();
                    assert_eq!(lamprey::current().worker(), here);
                    tick(&stays);
                    drop(local);
                })
            })
            .collect();
        // Not `send`: of so many calls in a row one gives way.
        (0..MANY + 50).for_each(|_| tx.try_send(1).unwrap());
        served.compute_until_up();
        assert_eq!(count(&stays), 0, "it ran although its worker computes");
        crowd.into_iter().for_each(|one| one.join().unwrap());
        own.into_iter().for_each(|one| one.join().unwrap());
        assert_eq!(count(&stays), 50);
    });
}

#[test]
fn a_parasite_that_gave_way_runs() {
    on_worker_0(|| {
        let served = Flag::default();
        let theirs = served.clone();
        let mut polls = 0;
        let parasite = parasite(poll_fn(move |context| {
            polls += 1;
            if polls < 20 {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            theirs.raise();
            Poll::Ready(())
        }));
        served.compute_until_up();
        parasite.join().unwrap();
    });
}

#[test]
fn a_parasite_that_an_os_thread_wakes_runs() {
    on_worker_0(|| {
        let (served, computes) = (Flag::default(), Flag::default());
        let (theirs, begun) = (served.clone(), computes.clone());
        let place: Arc<Mutex<Option<Waker>>> = Arc::default();
        let waker = place.clone();
        let mut polls = 0;
        let parasite = parasite(poll_fn(move |context| {
            polls += 1;
            if polls == 1 {
                *place.lock().unwrap() = Some(context.waker().clone());
                return Poll::Pending;
            }
            theirs.raise();
            Poll::Ready(())
        }));
        let other = thread::spawn(move || {
            begun.compute_until_up();
            // It may not have been polled yet: one that follows a long one starts as a host.
            eventually("its first poll", || waker.lock().unwrap().is_some());
            waker.lock().unwrap().take().unwrap().wake();
        });
        computes.raise();
        served.compute_until_up();
        parasite.join().unwrap();
        other.join().unwrap();
    });
}

#[test]
fn the_timer_of_a_parasite_fires() {
    on_worker_0(|| {
        let served = Flag::default();
        let theirs = served.clone();
        let parasite = parasite(async move {
            for _ in 0..3 {
                sleep_async(Duration::from_millis(2)).await;
            }
            theirs.raise();
        });
        served.compute_until_up();
        parasite.join().unwrap();
    });
}

#[test]
fn a_parasite_that_waits_for_a_socket_is_served() {
    on_worker_0(|| {
        let (mut far, near) = std::os::unix::net::UnixStream::pair().unwrap();
        let near = UnixStream::from_std(near).unwrap();
        let served = Flag::default();
        let theirs = served.clone();
        let parasite = parasite(async move {
            let mut bytes = [0];
            for _ in 0..3 {
                assert_eq!(near.read_async(&mut bytes).await.unwrap(), 1);
            }
            theirs.raise();
        });
        let writer = thread::spawn(move || {
            for n in 0..3 {
                thread::sleep(Duration::from_millis(2));
                far.write_all(&[n]).unwrap();
            }
        });
        served.compute_until_up();
        parasite.join().unwrap();
        writer.join().unwrap();
    });
}

#[test]
fn hosts_that_were_sent_to_the_computing_worker_start_elsewhere() {
    within(FOREVER, || {
        let runtime = crate::common::runtime(2);
        let handle = runtime.handle();
        let (served, computes) = (Flag::default(), Flag::default());
        let (theirs, begun) = (served.clone(), computes.clone());
        let busy = Builder::new().worker(0).spawn_in(&handle, move || {
            begun.raise();
            theirs.compute_until_up();
        });
        computes.compute_until_up();
        // They go to the workers in turn.
        let hosts: Vec<_> = (0..20).map(|n| handle.spawn(move || n)).collect();
        hosts.into_iter().enumerate().for_each(|(n, host)| assert_eq!(host.join().unwrap(), n));
        served.raise();
        busy.unwrap().join().unwrap();
    });
}

/// Wakes who waits when it is told to: an event loop of the program's own.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<WakeToken>>>, Flag);

impl Told {
    fn look(&self) {
        if self.1.is_up() {
            let tokens = std::mem::take(&mut *self.0.lock().unwrap());
            tokens.into_iter().for_each(WakeToken::wake);
        }
    }
}

impl Source for Told {
    fn poll(&mut self) {
        if lamprey::current().worker() == Some(0) {
            self.look();
        }
    }
    fn helper(&self) -> Option<Helper> {
        let this = self.clone();
        Some(Helper::new(move || this.look()))
    }
}

#[test]
fn a_source_of_the_program_is_helped() {
    within(FOREVER, || {
        let told = Told::default();
        let theirs = told.clone();
        let source = move || Ok(Box::new(theirs.clone()) as Box<dyn Source>);
        let runtime = Runtime::builder().workers(2).source(source).build().unwrap();
        runtime.run(move || {
            let (served, computes) = (Flag::default(), Flag::default());
            let (theirs, begun) = (served.clone(), computes.clone());
            let busy = Builder::new().worker(0).spawn(move || {
                begun.raise();
                theirs.compute_until_up();
            });
            let waiting = Builder::new().worker(1).spawn(move || {
                computes.compute_until_up();
                suspend(|token| {
                    told.0.lock().unwrap().push(token);
                    told.1.raise();
                })
                .unwrap();
                served.raise();
            });
            waiting.unwrap().join().unwrap();
            busy.unwrap().join().unwrap();
        });
    });
}

/// Each time after all have slept: somebody has to be put on watch again.
#[test]
fn it_is_served_also_after_all_have_slept() {
    run(3, || {
        for n in 0..30 {
            lamprey::sleep(Duration::from_millis(n));
            let (tx, rx) = channel::<()>();
            let served = Flag::default();
            let theirs = served.clone();
            let parasite = parasite(async move {
                rx.recv_async().await.unwrap();
                theirs.raise();
            });
            tx.send(()).unwrap();
            served.compute_until_up();
            parasite.join().unwrap();
        }
    });
}

/// Owners and the one on watch reach for the same parasites: each runs once, wherever.
#[test]
fn what_is_taken_and_what_is_run_at_home_is_run_once() {
    const ROUNDS: usize = 60;
    const EACH: usize = 40;
    run(3, || {
        let ran = counter();
        let hosts = (0..3).map(|worker| {
            let ran = ran.clone();
            let host = move || {
                for round in 0..ROUNDS {
                    let (tx, rx) = lamprey::bounded::<usize>(EACH);
                    let crowd: Vec<_> = (0..EACH)
                        .map(|_| {
                            let (rx, ran) = (rx.clone(), ran.clone());
                            parasite(async move {
                                rx.recv_async().await.unwrap();
                                lamprey::yield_now_async().await;
                                tick(&ran);
                            })
                        })
                        .collect();
                    (0..EACH).for_each(|n| tx.send(n).unwrap());
                    // Around the time after which a worker counts as computing.
                    let until = Instant::now() + Duration::from_micros(fastrand::u64(0..1500));
                    while worker != round % 4 && Instant::now() < until {
                        std::hint::spin_loop();
                    }
                    crowd.into_iter().for_each(|one| one.join().unwrap());
                    lamprey::sleep(Duration::from_micros(fastrand::u64(0..1000)));
                }
            };
            Builder::new().worker(worker).spawn(host).unwrap()
        });
        let hosts: Vec<_> = hosts.collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(count(&ran), 3 * ROUNDS * EACH);
    });
}
