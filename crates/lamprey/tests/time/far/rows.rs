//! Each call that waits for a limited time, for something that never comes.

use super::Row;
use lamprey::event::{AsyncEvent, Event, choose, never, timeout};
use lamprey::net::{TcpListener, TcpStream, UdpSocket};
use lamprey::scope::{Restart, Supervisor};
use lamprey::stm::{TVar, atomically_timeout, check};
use lamprey::sync::{Barrier, Condvar, Mutex, Once, OnceLock, RwLock, Semaphore, WaitGroup};
use lamprey::{IVar, MVar, actor, parasite, scope, sleep, sleep_async, spawn, wait};
use std::io::{Read, Write};
use std::time::{Duration, Instant};

macro_rules! rows {
    ($rows:ident: $($name:literal |$time:ident| $wait:block)+) => {
        const $rows: &[Row] = &[$(Row { name: $name, wait: |$time| $wait }),+];
    };
}

/// What there is on both clocks, and then on the real one only.
pub fn all(is_simulated: bool) -> impl Iterator<Item = &'static Row> {
    let others = if is_simulated { &[][..] } else { SYSTEM };
    [SLEEPS, CHANNELS, LOCKS, THREADS, SOCKETS, others].into_iter().flatten()
}

rows! { SLEEPS:
    "sleep" |time| { sleep(time) }
    "sleep_async" |time| { wait(sleep_async(time)) }
    "sleep_until" |time| { instant(time).map_or_else(|| sleep(time), lamprey::sleep_until) }
    "at" |time| { instant(time).map_or_else(|| sleep(time), |at| lamprey::event::at(at).sync()) }
    "a sleep that is moved" |time| {
        let mut slept = Box::pin(sleep_async(Duration::MAX));
        if let Some(at) = instant(time) {
            slept.as_mut().reset(at);
        }
        wait(slept);
    }
    "with_deadline" |time| {
        let Some(at) = instant(time) else { return sleep(time) };
        assert!(lamprey::with_deadline(at, || sleep(Duration::MAX)).is_err());
    }
    "with_deadline_async" |time| {
        let Some(at) = instant(time) else { return sleep(time) };
        assert!(wait(lamprey::with_deadline_async(at, sleep_async(Duration::MAX))).is_err());
    }
    "timeout" |time| { timeout(time).sync() }
    "timeout of a choice" |time| { choose((never::<()>(), timeout(time))).sync() }
    "sync_timeout" |time| { assert!(never::<()>().sync_timeout(time).is_none()) }
    "with_timeout" |time| { assert!(lamprey::with_timeout(time, || never::<()>().sync()).is_err()) }
    "with_timeout_async" |time| {
        assert!(wait(lamprey::with_timeout_async(time, std::future::pending::<()>())).is_err());
    }
    "atomically_timeout" |time| {
        let is_set = TVar::new(false);
        assert!(atomically_timeout(time, |transaction| check(is_set.get(transaction)?)).is_none());
    }
}

rows! { CHANNELS:
    "channel: receive" |time| {
        let (_tx, rx) = lamprey::channel::<()>();
        assert!(rx.recv_timeout(time).is_err());
    }
    "channel: send" |time| {
        let (tx, _rx) = lamprey::channel();
        assert!(tx.send_timeout((), time).is_err());
    }
    "bounded: receive" |time| {
        let (_tx, rx) = lamprey::bounded::<()>(1);
        assert!(rx.recv_timeout(time).is_err());
    }
    "bounded: send" |time| {
        let (tx, _rx) = lamprey::bounded(1);
        tx.send(()).unwrap();
        assert!(tx.send_timeout((), time).is_err());
    }
    "unbounded" |time| {
        let (_tx, rx) = lamprey::unbounded::<()>();
        assert!(rx.recv_timeout(time).is_err());
    }
    "mailbox" |time| {
        let (_tx, mut rx) = lamprey::mailbox::<()>();
        assert!(rx.recv_timeout(time).is_err());
    }
    "oneshot" |time| {
        let (_tx, mut rx) = lamprey::oneshot::<()>();
        assert!(rx.recv_timeout(time).is_err());
    }
    "broadcast" |time| {
        let (_tx, mut rx) = lamprey::broadcast::<()>(1);
        assert!(rx.recv_timeout(time).is_err());
    }
    "multicast" |time| {
        let (_tx, mut rx) = lamprey::multicast::<()>();
        assert!(rx.recv_timeout(time).is_err());
    }
    "watch" |time| {
        let (_tx, mut rx) = lamprey::watch(());
        assert!(rx.changed_timeout(time).is_err());
    }
    "rpc: call" |time| {
        let (client, _server) = lamprey::rpc::<(), ()>();
        assert!(client.call_timeout((), time).is_err());
    }
    "rpc: serve" |time| {
        let (_client, server) = lamprey::rpc::<(), ()>();
        assert!(server.recv_timeout(time).is_err());
    }
    "swap" |time| { assert!(lamprey::SwapChannel::new().swap_timeout((), time).is_err()) }
    "MVar: take" |time| { assert!(MVar::<()>::empty().take_timeout(time).is_err()) }
    "MVar: put" |time| { assert!(MVar::new(()).put_timeout((), time).is_err()) }
    "actor: ask" |time| {
        let (address, host) = actor::spawn(|_: &mut actor::Inbox<actor::Reply<()>>| sleep(Duration::MAX));
        let _ends = Ends(host);
        assert!(address.ask_timeout(|reply| reply, time).is_err());
    }
    "actor: receive" |time| {
        let (_address, mut inbox) = actor::inbox::<()>();
        assert!(inbox.recv_timeout(time).is_err());
    }
    "actor: the end" |time| {
        let (address, host) = actor::spawn(|_: &mut actor::Inbox<()>| sleep(Duration::MAX));
        let _ends = Ends(host);
        assert!(address.monitor().wait_timeout(time).is_err());
    }
}

rows! { LOCKS:
    "Mutex" |time| {
        let lock = Mutex::new(());
        let _held = lock.lock().unwrap();
        assert!(lock.lock_timeout(time).is_err());
    }
    "RwLock: read" |time| {
        let lock = RwLock::new(());
        let _held = lock.write().unwrap();
        assert!(lock.read_timeout(time).is_err());
    }
    "RwLock: write" |time| {
        let lock = RwLock::new(());
        let _held = lock.read().unwrap();
        assert!(lock.write_timeout(time).is_err());
    }
    "Semaphore" |time| { assert!(Semaphore::new(0).acquire_timeout(1, time).is_err()) }
    "Condvar" |time| {
        let lock = Mutex::new(());
        let (_guard, result) = Condvar::new().wait_timeout(lock.lock().unwrap(), time).unwrap();
        assert!(result.timed_out());
    }
    "Condvar, while" |time| {
        let lock = Mutex::new(());
        let waited = Condvar::new().wait_timeout_while(lock.lock().unwrap(), time, |()| true).unwrap();
        assert!(waited.1.timed_out());
    }
    "Barrier" |time| { assert!(Barrier::new(2).wait_timeout(time).is_err()) }
    "WaitGroup" |time| {
        let group = WaitGroup::new();
        let _member = group.member();
        assert!(group.wait_timeout(time).is_err());
    }
    "Once" |time| { assert!(!Once::new().wait_timeout(time)) }
    "OnceLock" |time| { assert!(OnceLock::<()>::new().wait_timeout(time).is_none()) }
    "IVar" |time| { assert!(IVar::<()>::new().get_timeout(time).is_none()) }
    "IVar, by reference" |time| { assert!(IVar::<()>::new().get_ref_timeout(time).is_none()) }
}

rows! { THREADS:
    "JoinHandle" |time| {
        let mut host = Ends(spawn(|| sleep(Duration::MAX)));
        assert!(host.0.join_timeout(time).is_err());
    }
    "ParasiteHandle" |time| {
        let mut task = parasite(std::future::pending::<()>());
        assert!(task.join_timeout(time).is_err());
        task.cancel();
    }
    "ScopedJoinHandle" |time| {
        scope(|s| {
            let mut host = s.spawn(|| sleep(Duration::MAX));
            assert!(host.join_timeout(time).is_err());
            host.cancel();
        });
    }
    "ScopedParasite" |time| {
        scope(|s| {
            let mut task = s.parasite(std::future::pending::<()>());
            assert!(task.join_timeout(time).is_err());
            task.cancel();
        });
    }
    "SupervisorHandle" |time| {
        let supervisor = Supervisor::new();
        let supervisor = supervisor.child("one", Restart::Always, || {
            sleep(Duration::MAX);
            Ok(())
        });
        let handle = supervisor.handle();
        let _ends = Ends(spawn(move || drop(supervisor.run())));
        assert!(handle.join_timeout(time).is_err());
    }
    "Pending" |time| {
        let (_, mut pending) = never::<()>().spawn_evt().a_sync();
        // When the runtime ends, the answer is that it was cancelled.
        _ = pending.join_timeout(time);
    }
}

rows! { SOCKETS:
    "TcpSocket: read" |time| {
        let (mut one, _other) = pair();
        one.set_read_timeout(limit(time)).unwrap();
        one.read(&mut [0]).unwrap_err();
    }
    "TcpSocket: write" |time| {
        let (mut one, _other) = pair();
        one.set_write_timeout(limit(time)).unwrap();
        while one.write(&[0; 1 << 16]).is_ok() {}
    }
    "UdpSocket" |time| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(limit(time)).unwrap();
        socket.recv(&mut [0]).unwrap_err();
    }
}

// What the system does, which is not simulated.
rows! { SYSTEM:
    "UnixStream" |time| {
        let (mut one, _other) = lamprey::net::UnixStream::pair().unwrap();
        one.set_read_timeout(limit(time)).unwrap();
        one.read(&mut [0]).unwrap_err();
    }
    "a child" |time| {
        let mut command = lamprey::process::Command::new("cat");
        command.stdin(std::process::Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let _kept_open = child.stdin.take();
        child.wait_timeout(time).unwrap_err();
    }
    "a lock of a file" |time| {
        let path = std::env::temp_dir().join(format!("lamprey-far-{}", std::process::id()));
        let open = || lamprey::fs::File::create(&path).unwrap();
        let held = open();
        held.lock().unwrap();
        open().lock_timeout(time).unwrap_err();
    }
    "a signal" |time| {
        let signals = lamprey::signal::listen(&[lamprey::signal::Signal::USR2]).unwrap();
        signals.recv_timeout(time).unwrap_err();
    }
}

/// So long from now, if the clock can say it.
fn instant(time: Duration) -> Option<Instant> {
    lamprey::sim::now().checked_add(time)
}

/// Ends a host when the wait for it is over.
struct Ends<T>(lamprey::JoinHandle<T>);

impl<T> Drop for Ends<T> {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// A socket has no limit of zero.
fn limit(time: Duration) -> Option<Duration> {
    Some(time.max(Duration::from_nanos(1)))
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let one = spawn(move || TcpStream::connect(address).unwrap());
    let other = listener.accept().unwrap().0;
    (one.join().unwrap(), other)
}
