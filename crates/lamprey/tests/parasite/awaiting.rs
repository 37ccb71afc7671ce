//! Parasites that wait for time, sockets and the pool, among themselves and with hosts; cancelled, and at the
//! end of their runtime.

use crate::common::awaiting::*;
use crate::common::*;
use lamprey::fs::File;
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use lamprey::{JoinError, ParasiteHandle, block, block_async, parasite, sleep_async, spawn};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

const HOUR: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(2);

#[test]
fn a_server_of_parasites_and_clients_that_are_hosts() {
    run(2, || {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let address = listener.local_addr().unwrap();
        let theirs = listener.clone();
        let server = parasite(async move {
            let mut served = 0;
            while let Some(stream) = theirs.incoming().next_async().await {
                let stream = stream.unwrap();
                parasite(async move {
                    let mut buf = [0; 1000];
                    while let Ok(count @ 1..) = stream.read_async(&mut buf).await {
                        stream.write_all_async(&buf[..count]).await.unwrap();
                    }
                })
                .detach();
                served += 1;
            }
            served
        });
        let clients: Vec<_> = (0..50)
            .map(|n| {
                spawn(move || {
                    let mut stream = TcpStream::connect(address).unwrap();
                    let content = pattern(500 + n);
                    for _ in 0..20 {
                        stream.write_all(&content).unwrap();
                        let mut echo = vec![0; content.len()];
                        stream.read_exact(&mut echo).unwrap();
                        assert!(echo == content);
                    }
                })
            })
            .collect();
        clients.into_iter().for_each(|client| client.join().unwrap());
        listener.close();
        assert_eq!(server.join().unwrap(), 50);
    });
}

#[test]
fn ten_thousand_sleep_on_two_workers_and_are_not_early() {
    run(2, || {
        let begin = |n: u64| {
            parasite(async move {
                let start = Instant::now();
                let length = Duration::from_micros(n * 2_654_435_761 % 50_000);
                sleep_async(length).await;
                start.elapsed() >= length
            })
        };
        let others = spawn(move || (0..5000).map(begin).collect::<Vec<_>>());
        let ours: Vec<_> = (5000..10_000).map(begin).collect();
        assert!(ours.into_iter().chain(others.join().unwrap()).all(|parasite| parasite.join().unwrap()));
    });
}

/// What waits in every place that there is, each with a value that counts its drop.
fn waiting_everywhere(drops: &Arc<std::sync::atomic::AtomicUsize>) -> Vec<ParasiteHandle<()>> {
    fn begin<F: Future<Output = ()> + Send + 'static>(drop: Counted, future: F) -> ParasiteHandle<()> {
        parasite(async move {
            let _drop = drop;
            future.await
        })
    }
    let counted = || Counted(drops.clone());
    let (a, b) = UnixStream::pair().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (put, take) = mpsc::channel::<()>();
    vec![
        begin(counted(), sleep_async(HOUR)),
        begin(counted(), async move {
            let _open = b;
            a.set_read_timeout(Some(HOUR)).unwrap();
            a.read_async(&mut [0]).await.unwrap();
        }),
        begin(counted(), async move { drop(listener.accept_with_backoff_async().await) }),
        begin(counted(), async move {
            // Ends when the parasite is dropped: the call itself runs on until then.
            let _put = put;
            let _ = block_async(move || take.recv()).await;
        }),
    ]
}

#[test]
fn cancelled_they_let_go() {
    run(2, || {
        let drops = counter();
        let waiting = waiting_everywhere(&drops);
        eventually("all wait", || here().stats().reified + here().stats().inflated >= 4);
        assert_eq!(count(&drops), 0);
        waiting
            .into_iter()
            .for_each(|one| assert!(matches!(one.cancel_and_join(), Err(JoinError::Cancelled(_)))));
        assert_eq!(count(&drops), 4);
    });
}

#[test]
fn cancelled_from_another_worker_ten_thousand_leave_nothing_behind() {
    run(2, || {
        let (wakes, waker) = Wakes::new();
        let parasites: Vec<_> = (0..10_000)
            .map(|n| {
                let waker = waker.clone();
                parasite(async move {
                    let _held = waker;
                    sleep_async(HOUR + Duration::from_millis(n)).await;
                })
            })
            .collect();
        drop(waker);
        let canceller = lamprey::Builder::new().worker(1).spawn(move || drop(parasites)).unwrap();
        canceller.join().unwrap();
        eventually("all are dropped", || Arc::strong_count(&wakes) == 1);
    });
}

#[test]
fn a_runtime_that_ends_drops_those_that_wait() {
    within(FOREVER, || {
        for _ in 0..20 {
            let drops = counter();
            let runtime = runtime(2);
            let theirs = drops.clone();
            runtime.run(move || waiting_everywhere(&theirs).into_iter().for_each(ParasiteHandle::detach));
            drop(runtime);
            assert_eq!(count(&drops), 4);
        }
    });
}

#[test]
fn attached_inline_by_timers_and_sockets() {
    run(1, || {
        let (a, b) = UnixStream::pair().unwrap();
        let inline = || lamprey::Builder::new().attach_inline(true);
        let talk = |stream: UnixStream, first: bool| async move {
            for n in 0..100 {
                if first || n > 0 {
                    stream.write_all_async(&[n]).await.unwrap();
                }
                sleep_async(Duration::from_micros(n.into())).await;
                read(&stream).await;
            }
            stream.write_all_async(&[0]).await
        };
        let (one, other) =
            (inline().parasite(talk(a, true)).unwrap(), inline().parasite(talk(b, false)).unwrap());
        let _last_word_may_find_nobody = (one.join().unwrap(), other.join().unwrap());
    });
}

#[test]
fn woken_by_the_reactor_of_another_runtime() {
    within(FOREVER, || {
        let (first, second) = (runtime(1), runtime(1));
        let (a, b) = UnixStream::pair().unwrap();
        let (a, b) = (Arc::new(a), Arc::new(b));
        // The socket is registered with the first runtime, by a read that goes away again.
        first.run(|| assert!(lamprey::wait(lamprey::with_timeout_async(SHORT, read(&a))).is_err()));
        let theirs = a.clone();
        let reader = blocked_in(&second.handle(), move || {
            parasite(async move { read(&theirs).await }).join().unwrap()
        });
        (&*b).write_all(b"x").unwrap();
        assert_eq!(reader.join().unwrap(), b'x');
    });
}

async fn read(stream: &UnixStream) -> u8 {
    let mut byte = [0];
    stream.read_exact_async(&mut byte).await.unwrap();
    byte[0]
}

#[test]
fn a_parasite_that_reads_a_file_lets_its_host_go_on() {
    run(1, || {
        let reader = parasite(async {
            let mut text = String::new();
            File::open_async("Cargo.toml").await.unwrap().read_to_string_async(&mut text).await.unwrap();
            text
        });
        assert!(!reader.is_finished(), "it is at the pool");
        assert_eq!(reader.join().unwrap(), block(|| std::fs::read_to_string("Cargo.toml").unwrap()));
    });
}

/// Each of so many owns the handle of the next; the first of all waits.
fn chain(links: u32, ended: &Arc<AtomicU32>) -> ParasiteHandle<()> {
    struct Counted(Arc<AtomicU32>);
    impl Drop for Counted {
        fn drop(&mut self) {
            // Relaxed: read when all are joined.
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
    let mut handle = parasite(std::future::pending());
    for _ in 0..links {
        let (next, counted) = (handle, Counted(ended.clone()));
        handle = parasite(async move {
            let _counted = counted;
            next.await.unwrap();
        });
    }
    handle
}

/// Destructors need stack, and each of these is within the one before.
#[test]
fn a_chain_of_any_length_is_cancelled_and_dropped() {
    const LINKS: u32 = 20_000;
    let count = |ended: &Arc<AtomicU32>| ended.load(Ordering::Relaxed);
    let all_end = move |ended: &Arc<AtomicU32>| {
        while count(ended) < LINKS {
            lamprey::yield_now();
        }
    };
    for workers in [1, 2] {
        run(workers, move || {
            let ended = Arc::<AtomicU32>::default();
            let handle = chain(LINKS, &ended);
            assert!(matches!(handle.cancel_and_join(), Err(JoinError::Cancelled(_))));
            all_end(&ended);

            let ended = Arc::<AtomicU32>::default();
            drop(chain(LINKS, &ended));
            all_end(&ended);

            let ended = Arc::<AtomicU32>::default();
            let theirs = ended.clone();
            let small = lamprey::Builder::new().stack_size(16 << 10);
            small.spawn(move || drop(chain(LINKS, &theirs))).unwrap().join().unwrap();
            all_end(&ended);

            // A generator's stack is not the host's.
            let ended = Arc::<AtomicU32>::default();
            let theirs = ended.clone();
            let mut generator = swapstack::Generator::new(move |y, ()| {
                drop(chain(LINKS, &theirs));
                y.suspend(());
            });
            generator.next().unwrap();
            all_end(&ended);
            // A short one, whose links wait, is dropped at once, also there.
            let ended = Arc::<AtomicU32>::default();
            let short = chain(1, &ended);
            let mut generator = swapstack::Generator::new(move |y, ()| {
                drop(short);
                y.suspend(count(&ended));
            });
            assert_eq!(generator.next(), Some(1));
        });
    }
}

#[test]
fn a_chain_of_any_length_ends_with_its_runtime() {
    const LINKS: u32 = 20_000;
    let ended = Arc::<AtomicU32>::default();
    let theirs = Arc::clone(&ended);
    run(2, move || chain(LINKS, &theirs).detach());
    assert_eq!(ended.load(Ordering::Relaxed), LINKS);
}
