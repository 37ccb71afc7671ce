//! A future that loops over awaits which never have to wait lets the hosts of its worker run.

use crate::common::run;
use lamprey::event::{
    Event, always, choose, choose_all, future_evt, guard, never, prefer, timeout, with_nack,
};
use lamprey::net::{TcpStream, UdpSocket, UnixStream};
use lamprey::parasite::{inflate, reify};
use lamprey::stm::{TVar, atomically_async};
use lamprey::sync::{Barrier, LazyLock, Mutex, Once, OnceLock, RwLock, Semaphore, WaitGroup};
use lamprey::{
    CancelToken, IVar, MVar, bounded, broadcast, channel, mailbox, oneshot, parasite, parasite_fn,
    parasite_local, rpc, sleep, sleep_async, sleep_until_async, spawn, suspend_async, unbounded, watch,
    with_deadline_async, with_timeout_async,
};
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Awaits `once` in one future until a host of the same worker has run: a parasite's future, and one that a host waits for.
fn lets_hosts_run(once: impl AsyncFn() + Copy + Send + 'static) {
    for is_parasite in [true, false] {
        run(1, move || {
            let has_run = Arc::new(AtomicBool::new(false));
            let sees = has_run.clone();
            // By way of a timer, which must be looked at, too.
            let host = spawn(move || {
                sleep(Duration::from_millis(1));
                has_run.store(true, Ordering::Relaxed);
            });
            let looks = async move {
                while !sees.load(Ordering::Relaxed) {
                    once().await;
                }
            };
            match is_parasite {
                true => parasite_local(looks).join().unwrap(),
                false => lamprey::wait(looks),
            }
            host.join().unwrap();
        });
    }
}

#[test]
fn sleeps_of_no_time() {
    lets_hosts_run(async || sleep_async(Duration::ZERO).await);
    lets_hosts_run(async || sleep_until_async(Instant::now()).await);
}

#[test]
fn attempts_without_time() {
    lets_hosts_run(async || assert!(with_timeout_async(Duration::ZERO, pending::<()>()).await.is_err()));
    lets_hosts_run(async || assert!(with_deadline_async(Instant::now(), pending::<()>()).await.is_err()));
}

/// What the combinators are given never waits, and takes no turn.
#[test]
fn combinators_around_futures_that_are_ready() {
    const LONG: Duration = Duration::from_secs(1000);
    lets_hosts_run(async || assert_eq!(with_timeout_async(LONG, ready(1)).await, Ok(1)));
    lets_hosts_run(async || assert_eq!(with_timeout_async(Duration::MAX, ready(1)).await, Ok(1)));
    lets_hosts_run(async || assert_eq!(with_timeout_async(Duration::ZERO, ready(1)).await, Ok(1)));
    lets_hosts_run(async || assert_eq!(with_deadline_async(Instant::now() + LONG, ready(1)).await, Ok(1)));
    lets_hosts_run(async || assert_eq!(CancelToken::new().run_async(ready(1)).await, Ok(1)));
    lets_hosts_run(async || assert_eq!(future_evt(ready(1)).await, 1));
    lets_hosts_run(async || assert_eq!(prefer((future_evt(ready(1)), future_evt(ready(2)))).await, 1));
    lets_hosts_run(async || assert_eq!(choose((future_evt(ready(1)), never())).await, 1));
    lets_hosts_run(async || assert_eq!(choose_all((future_evt(ready(1)), always(2))).await, [1, 2]));
    lets_hosts_run(async || assert_eq!(guard(|| always(1)).await, 1));
    lets_hosts_run(async || assert_eq!(with_nack(|_| always(1)).wrap(|one| one + 1).boxed().await, 2));
    lets_hosts_run(async || Once::new().call_once_async(|| ready(())).await);
    lets_hosts_run(async || assert_eq!(OnceLock::from(1).get_or_init_async(|| ready(2)).await, &1));
}

#[test]
fn paths_and_addresses_that_name_nothing() {
    const ZERO_BYTE: &str = "a\0b";
    lets_hosts_run(async || assert!(lamprey::fs::exists_async(ZERO_BYTE).await.is_err()));
    lets_hosts_run(async || assert!(lamprey::fs::metadata_async(ZERO_BYTE).await.is_err()));
    lets_hosts_run(async || assert!(lamprey::fs::File::open_async(ZERO_BYTE).await.is_err()));
    lets_hosts_run(async || assert!(UnixStream::connect_async(ZERO_BYTE).await.is_err()));
    const NONE: &[std::net::SocketAddr] = &[];
    lets_hosts_run(async || assert!(TcpStream::connect_async(NONE).await.is_err()));
    lets_hosts_run(async || assert!(UdpSocket::bind_async(NONE).await.is_err()));
}

#[test]
fn look_ups_and_connections_that_are_over_at_once() {
    lets_hosts_run(async || drop(lamprey::net::lookup_async("127.0.0.1:1").await.unwrap()));
    lets_hosts_run(async || {
        drop(lamprey::net::UnixStream::connect_async("/no/such/socket").await.unwrap_err())
    });
}

/// What the loop waits for comes.
#[test]
fn the_message_of_a_host_arrives() {
    run(1, || {
        let (tx, rx) = bounded::<u8>(1);
        spawn(move || tx.send(7).unwrap());
        let tries = async move {
            loop {
                if let Ok(got) = with_timeout_async(Duration::ZERO, rx.recv_async()).await {
                    return got;
                }
            }
        };
        assert_eq!(lamprey::parasite(tries).join().unwrap(), Ok(7));
    });
}

#[test]
fn oneshots_that_are_over() {
    lets_hosts_run(async || {
        let (tx, mut rx) = oneshot();
        tx.send(1).unwrap();
        assert_eq!(rx.recv_async().await, Ok(1));
    });
    lets_hosts_run(async || {
        let (tx, rx) = oneshot::<u8>();
        drop(tx);
        assert!(rx.await.is_err());
    });
    lets_hosts_run(async || {
        let (mut tx, rx) = oneshot::<u8>();
        drop(rx);
        tx.closed_async().await;
    });
    lets_hosts_run(async || {
        let (client, server) = rpc::<u8, u8>();
        drop(server);
        assert!(client.call_async(1).await.is_err());
    });
}

#[test]
fn joins_of_parasites_that_are_over() {
    lets_hosts_run(async || assert_eq!(parasite(async { 1 }).await.unwrap(), 1));
    lets_hosts_run(async || assert_eq!(parasite_local(async { 1 }).await.unwrap(), 1));
    lets_hosts_run(async || assert_eq!(parasite_fn(|| 1).await.unwrap(), 1));
    lets_hosts_run(async || spawn(|| ()).await.unwrap());
}

#[test]
fn what_is_resumed_at_once() {
    lets_hosts_run(async || suspend_async(|token| token.wake()).await.unwrap());
    lets_hosts_run(async || assert_eq!(reify(|me| me.prepare(1).attach()).await, 1));
    lets_hosts_run(async || inflate().await);
}

#[test]
fn channels_with_room_or_messages_or_without_peers() {
    lets_hosts_run(async || {
        let (tx, rx) = bounded(1);
        tx.send_async(1).await.unwrap();
        rx.recv_async().await.unwrap();
    });
    lets_hosts_run(async || {
        let (tx, rx) = unbounded();
        tx.send(1).unwrap();
        rx.recv_async().await.unwrap();
    });
    lets_hosts_run(async || {
        let (tx, rx) = channel::<u8>();
        drop(tx);
        assert!(rx.recv_async().await.is_err());
    });
    lets_hosts_run(async || {
        let (tx, mut rx) = mailbox();
        tx.send(1).unwrap();
        rx.recv_async().await.unwrap();
    });
    lets_hosts_run(async || {
        let (tx, mut rx) = broadcast(4);
        tx.send(1).unwrap();
        rx.recv_async().await.unwrap();
    });
    lets_hosts_run(async || {
        let (tx, mut rx) = watch(0);
        tx.send(1).unwrap();
        rx.changed_async().await.unwrap();
    });
}

#[test]
fn variables_and_locks_that_are_free() {
    lets_hosts_run(async || {
        let place = IVar::new();
        place.put(1).unwrap();
        assert_eq!((place.get_async().await, *place.get_ref_async().await), (1, 1));
    });
    lets_hosts_run(async || {
        let place = MVar::new(1);
        let taken = place.take_async().await.unwrap();
        place.put_async(taken).await.unwrap();
    });
    lets_hosts_run(async || drop(Mutex::new(1).lock_async().await));
    lets_hosts_run(async || drop(RwLock::new(1).read_async().await));
    lets_hosts_run(async || drop(RwLock::new(1).write_async().await));
    lets_hosts_run(async || drop(Semaphore::new(1).acquire_async(1).await));
    lets_hosts_run(async || _ = Barrier::new(1).wait_async().await);
    lets_hosts_run(async || WaitGroup::new().wait_async().await);
    lets_hosts_run(async || Once::new().call_once_async(async || ()).await);
    lets_hosts_run(async || _ = OnceLock::new().get_or_init_async(async || 1).await);
    lets_hosts_run(async || _ = LazyLock::force_async(&LazyLock::new(|| 1)).await);
    lets_hosts_run(async || {
        let place = TVar::new(1);
        assert_eq!(atomically_async(|tx| place.get(tx)).await, 1);
    });
}

#[test]
fn events_and_tokens() {
    lets_hosts_run(async || _ = always(1).await);
    lets_hosts_run(async || _ = choose((always(1), always(2))).await);
    lets_hosts_run(async || timeout(Duration::ZERO).await);
    lets_hosts_run(async || {
        let token = CancelToken::new();
        assert!(token.run_async(async {}).await.is_ok());
        token.cancel();
        token.wait_async().await;
    });
}

/// Sockets that have room, or something to read, keep hosts waiting for some operations, not for thousands.
#[test]
fn busy_sockets_let_the_timers_of_others_run() {
    for is_parasite in [true, false] {
        run(1, move || {
            let is_over = Arc::new(AtomicBool::new(false));
            // When the host is due, in nanoseconds, and the operations since.
            let begin = Instant::now();
            let (due, late) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicUsize::new(0)));
            let now = move || begin.elapsed().as_nanos() as u64;
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let nobody = socket.local_addr().unwrap();
            let (ends, is_due, counts) = (is_over.clone(), due.clone(), late.clone());
            let busy = async move {
                while !ends.load(Ordering::Relaxed) {
                    socket.send_to_async(b"one", nobody).await.unwrap();
                    counts.fetch_add(usize::from(now() >= is_due.load(Ordering::Relaxed)), Ordering::Relaxed);
                }
            };
            let busy = if is_parasite {
                let parasite = parasite(busy);
                spawn(move || parasite.join().unwrap())
            } else {
                spawn(move || lamprey::wait(busy))
            };
            let late = (0..20).map(|_| {
                late.store(0, Ordering::Relaxed);
                let time = Instant::now() + Duration::from_millis(2);
                due.store(now() + 2_000_000, Ordering::Relaxed);
                lamprey::sleep_until(time);
                late.load(Ordering::Relaxed)
            });
            let mut late: Vec<_> = late.collect();
            late.sort_unstable();
            is_over.store(true, Ordering::Relaxed);
            busy.join().unwrap();
            assert!(late[late.len() / 2] < 1000, "operations between the time and the host: {late:?}");
        });
    }
}

#[test]
fn streams_with_room() {
    lets_hosts_run(async || {
        let (one, other) = UnixStream::pair().unwrap();
        one.write_async(b"one").await.unwrap();
        other.read_async(&mut [0; 3]).await.unwrap();
    });
}
