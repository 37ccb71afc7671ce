//! A blocking call in async code that has to wait is reported, with its place and what to write instead.

use crate::common::{blocked, rerun, role, run, run_at_once};
use lamprey::actor::Reply;
use lamprey::event::{Event, choose, timeout};
use lamprey::net::{TcpListener, TcpStream, UdpSocket};
use lamprey::process::Command;
use lamprey::stm::{TVar, atomically, retry};
use lamprey::sync::{Barrier, Condvar, Mutex, OnceLock, RwLock, Semaphore, WaitGroup};
use lamprey::{IVar, MVar, parasite, parasite_fn, parasite_local, sleep, spawn};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A call that waits, and what the report has to say.
struct Case {
    call: &'static str,
    instead: &'static str,
    code: &'static str,
    /// Makes the call in a parasite, with somebody else who ends the wait.
    make: fn(),
}

/// `call, instead, { before } blocking expression;`: what is before is done by the host that starts the parasite.
macro_rules! cases {
    ($($call:literal, $instead:literal, { $($before:tt)* } $blocking:expr;)*) => {
        [$(Case {
            call: $call,
            instead: $instead,
            code: stringify!($blocking),
            make: || {
                $($before)*
                parasite_local(async move { let _ = $blocking; }).join().unwrap();
            },
        }),*]
    };
}

const MOMENT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(100);

/// Runs `f` on a host, which begins when the caller waits.
fn later<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) {
    drop(spawn(f));
}

/// Two ends of a connection.
fn connection() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (near, listener.accept().unwrap().0)
}

/// A mutex that another host holds for a moment.
fn locked() -> Arc<Mutex<u8>> {
    let lock = Arc::new(Mutex::new(1));
    let theirs = lock.clone();
    drop(blocked(move || {
        let held = theirs.lock().unwrap();
        sleep(MOMENT);
        drop(held);
    }));
    lock
}

/// A lock that another host holds for a moment, to write.
fn written() -> Arc<RwLock<u8>> {
    let lock = Arc::new(RwLock::new(1));
    let theirs = lock.clone();
    drop(blocked(move || {
        let held = theirs.write().unwrap();
        sleep(MOMENT);
        drop(held);
    }));
    lock
}

/// A condition that is notified in a moment.
fn notified() -> (Mutex<u8>, Arc<Condvar>) {
    let condition = Arc::new(Condvar::new());
    let theirs = condition.clone();
    later(move || theirs.notify_all());
    (Mutex::new(1), condition)
}

/// A variable that becomes true in a moment.
fn filled() -> TVar<bool> {
    let full = TVar::new(false);
    let theirs = full.clone();
    later(move || atomically(|t| theirs.set(t, true)));
    full
}

fn all() -> Vec<Case> {
    let mut all = Vec::from(channels());
    all.extend(threads());
    all.extend(locks());
    all.extend(others());
    all
}

#[rustfmt::skip]
fn channels() -> [Case; 20] {
    cases! {
        "Sender::send", "send_async", { let (tx, rx) = lamprey::channel(); later(move || rx.recv()); } tx.send(1);
        "Receiver::recv", "recv_async", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); } rx.recv();
        "Receiver::recv_timeout", "with_timeout_async(limit, recv_async(..))",
            { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); } rx.recv_timeout(LONG);
        "Iter::next", "recv_async", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); } rx.iter().next();
        "Sender::send", "send_async",
            { let (tx, rx) = lamprey::bounded(1); tx.send(1).unwrap(); later(move || rx.recv()); } tx.send(2);
        "Receiver::recv", "recv_async", { let (tx, rx) = lamprey::bounded(1); later(move || tx.send(1)); } rx.recv();
        "Receiver::recv", "recv_async", { let (tx, rx) = lamprey::unbounded(); later(move || tx.send(1)); } rx.recv().ok();
        "Receiver::recv", "recv_async", { let (tx, mut rx) = lamprey::mailbox(); later(move || tx.send(1)); } rx.recv();
        "Receiver::recv", "recv_async", { let (tx, rx) = lamprey::oneshot(); later(move || tx.send(1)); } rx.recv().err();
        "Receiver::recv", "recv_async",
            { let (tx, mut rx) = lamprey::broadcast::<u8>(4); later(move || tx.send(1)); } rx.recv().is_ok();
        "Receiver::changed", "changed_async", { let (tx, mut rx) = lamprey::watch(1); later(move || tx.send(2)); } rx.changed();
        "MVar::take", "take_async", { let v = Arc::new(MVar::empty()); let w = v.clone(); later(move || w.put(1)); } v.take();
        "MVar::put", "put_async", { let v = Arc::new(MVar::new(1)); let w = v.clone(); later(move || w.take()); } v.put(2);
        "MVar::read", "read_async", { let v = Arc::new(MVar::empty()); let w = v.clone(); later(move || w.put(1)); } v.read();
        "IVar::get", "get_async", { let v = Arc::new(IVar::new()); let w = v.clone(); later(move || w.put(1)); } v.get();
        "SwapChannel::swap", "swap_async",
            { let v = Arc::new(lamprey::SwapChannel::new()); let w = v.clone(); later(move || w.swap(1)); } v.swap(2);
        "Event::sync", "select_async!", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); }
            choose((rx.recv_evt().wrap(drop), timeout(LONG))).sync();
        "Event::sync", "event.await", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); } rx.recv_evt().sync();
        "Event::sync", "select_async!", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); }
            lamprey::select! { recv(rx) -> message => message, event(timeout(LONG)) => panic!() };
        "Event::sync_timeout", "with_timeout_async(limit, event.into_future())",
            { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); } rx.recv_evt().wrap(drop).sync_timeout(LONG);
    }
}

#[rustfmt::skip]
fn threads() -> [Case; 11] {
    cases! {
        "sleep", "sleep_async", { } sleep(MOMENT);
        "JoinHandle::join", "handle.await", { let host = spawn(|| sleep(MOMENT)); } host.join();
        "JoinHandle::join_timeout", "with_timeout_async(limit, handle)",
            { let mut host = spawn(|| sleep(MOMENT)); } host.join_timeout(LONG);
        "ParasiteHandle::join", "handle.await", { let other = parasite(lamprey::sleep_async(MOMENT)); } other.join();
        "JoinHandle::cancel_and_join", "handle.cancel(); handle.await", { let host = spawn(|| sleep(LONG)); } host.cancel_and_join();
        "wait", "Write `.await` instead", { let (tx, rx) = lamprey::channel(); later(move || tx.send(1)); }
            lamprey::wait(rx.recv_async());
        "scope", "no form for async code", { } lamprey::scope(|s| { s.spawn(|| sleep(MOMENT)); });
        "join_all", "no form for async code", { } lamprey::scope::join_all([|| sleep(MOMENT)]);
        "block", "block_async", { let (tx, rx) = mpsc::channel(); later(move || tx.send(1)); } lamprey::block(move || rx.recv());
        "compute", "compute_async", { let (tx, rx) = mpsc::channel(); later(move || tx.send(1)); } lamprey::compute(move || rx.recv());
        "suspend", "suspend_async", { } lamprey::suspend(|token| later(move || token.wake()));
    }
}

#[rustfmt::skip]
fn locks() -> [Case; 12] {
    cases! {
        "Mutex::lock", "lock_async", { let lock = locked(); } lock.lock();
        "Mutex::lock_timeout", "with_timeout_async(limit, lock_async(..))",
            { let lock = locked(); } lock.lock_timeout(LONG);
        "RwLock::read", "read_async", { let lock = written(); } lock.read();
        "RwLock::write", "write_async", { let lock = written(); } lock.write();
        "Semaphore::acquire", "acquire_async", { let s = Arc::new(Semaphore::new(0)); let t = s.clone(); later(move || t.add_permits(1)); }
            s.acquire(1).map(drop);
        "Semaphore::acquire_owned", "acquire_owned_evt",
            { let s = Arc::new(Semaphore::new(0)); let t = s.clone(); later(move || t.add_permits(1)); } s.acquire_owned(1).map(drop);
        "Condvar::wait", "wait_async", { let (lock, condition) = notified(); } drop(condition.wait(lock.lock().unwrap()));
        "Barrier::wait", "wait_async", { let b = Arc::new(Barrier::new(2)); let c = b.clone(); later(move || c.wait()); } b.wait();
        "WaitGroup::wait", "wait_async",
            { let group = WaitGroup::new(); let part = group.member(); later(move || drop(part)); } group.wait();
        "OnceLock::wait", "wait_async",
            { let once = Arc::new(OnceLock::new()); let o = once.clone(); later(move || o.set(1)); } once.wait();
        "CancelToken::wait", "wait_async",
            { let token = lamprey::CancelToken::new(); let t = token.clone(); later(move || t.cancel()); } token.wait();
        "atomically", "atomically_async", { let full = filled(); }
            atomically(|t| if full.get(t)? { Ok(()) } else { retry() });
    }
}

#[rustfmt::skip]
fn others() -> [Case; 9] {
    cases! {
        "TcpStream::read", "read_async", { let (mut near, far) = connection(); later(move || (&far).write_all(b"x")); }
            near.read(&mut [0]);
        "TcpStream::read", "read_async", { let (mut near, far) = connection(); later(move || (&far).write_all(b"xy")); }
            near.read_exact(&mut [0; 2]);
        "TcpListener::accept", "accept_async",
            { let listener = TcpListener::bind("127.0.0.1:0").unwrap(); let at = listener.local_addr().unwrap();
              later(move || TcpStream::connect(at)); } listener.accept();
        "UdpSocket::recv", "recv_async", { let (near, far) = datagrams(); later(move || far.send(b"x")); } near.recv(&mut [0]);
        "read", "read_async", { let path = fifo(); } lamprey::fs::read(&path);
        "Child::wait", "wait_async", { let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
              let input = child.stdin.take(); later(move || drop(input)); } child.wait();
        "Address::ask", "ask_async",
            { let (address, _host) = lamprey::actor::spawn(|inbox| inbox.into_iter().for_each(|reply: Reply<u8>| reply.send(1).unwrap())); }
            address.ask(|reply| reply);
        "Client::call", "call_async",
            { let (client, server) = lamprey::rpc::<u8, u8>(); later(move || server.recv().map(|(n, reply)| reply.send(n))); }
            client.call(1);
        "sleep", "sleep_async", { } lamprey::shield(|| sleep(MOMENT));
    }
}

/// A pipe with a name, which another host opens to write nothing, and removes.
fn fifo() -> PathBuf {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let name = format!("lamprey-blocked-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    rustix::fs::mkfifoat(rustix::fs::CWD, &path, rustix::fs::Mode::RWXU).unwrap();
    let theirs = path.clone();
    later(|| {
        lamprey::block(move || {
            drop(std::fs::OpenOptions::new().write(true).open(&theirs).unwrap());
            std::fs::remove_file(theirs).unwrap();
        });
    });
    path
}

/// Two sockets that are each other's peers.
fn datagrams() -> (UdpSocket, UdpSocket) {
    let (near, far) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    near.connect(far.local_addr().unwrap()).unwrap();
    far.connect(near.local_addr().unwrap()).unwrap();
    (near, far)
}

fn without_spaces(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

#[test]
fn a_blocking_call_in_async_code_is_reported_with_its_place_and_its_async_form() {
    const ME: &str = "a_blocking_call_in_async_code_is_reported_with_its_place_and_its_async_form";
    if role().is_some() {
        run_at_once(1, || {
            for case in all() {
                eprintln!("\ncase");
                for _ in 0..2 {
                    (case.make)();
                }
            }
        });
        return;
    }
    let (output, text) = rerun(ME, "all");
    assert!(output.status.success(), "{text}");
    let source: Vec<&str> = include_str!("blocked.rs").lines().collect();
    let reports: Vec<&str> = text.split("\ncase\n").skip(1).collect();
    assert_eq!(reports.len(), all().len());
    let mut lines = Vec::new();
    for (case, report) in all().iter().zip(reports) {
        let what = format!("{}: {report}", case.code);
        assert_eq!(report.lines().filter(|line| line.starts_with("lamprey: ")).count(), 1, "{what}");
        // Without the type where debug information has lines only.
        let bare = case.call.rsplit("::").next().unwrap();
        let head = |call| format!("lamprey: `{call}` at tests/parasite/blocked.rs:");
        let (full, bare_head) = (head(case.call), head(bare));
        let mut rests =
            report.lines().filter_map(|line| line.strip_prefix(&full).or(line.strip_prefix(&bare_head)));
        let rest = rests.next().expect(&what);
        let line: usize = rest.split(':').next().unwrap().parse().unwrap();
        let code = without_spaces(source[line - 1]);
        assert!(code.contains(bare) || code.contains("select!"), "{what}: {code}");
        assert!(!lines.contains(&line), "{what}: the line of another");
        lines.push(line);
        assert!(rest.contains(case.instead), "{what}");
        assert!(rest.contains("is polled on the stack of host") && rest.contains("blocked.rs"), "{what}");
    }
}

#[test]
fn what_does_not_hold_up_another_thread_is_not_reported() {
    const ME: &str = "what_does_not_hold_up_another_thread_is_not_reported";
    if role().is_some() {
        run(2, || {
            // It need not wait.
            let (tx, rx) = lamprey::unbounded();
            tx.send(1).unwrap();
            parasite(async move { rx.recv() }).join().unwrap().unwrap();
            let lock = Mutex::new(1);
            parasite(async move { drop(lock.lock()) }).join().unwrap();
            // It waits on a stack of its own.
            parasite_fn(|| sleep(MOMENT)).join().unwrap();
            spawn(|| sleep(MOMENT)).join().unwrap();
            lamprey::wait(async { sleep(MOMENT) });
            parasite(async {
                lamprey::parasite::inflate().await;
                sleep(MOMENT);
            })
            .join()
            .unwrap();
            // It gives way.
            parasite(async { lamprey::yield_now() }).join().unwrap();
        });
        return;
    }
    let (output, text) = rerun(ME, "all");
    assert!(output.status.success(), "{text}");
    assert!(!text.contains("lamprey: "), "{text}");
}

#[test]
fn code_that_a_thread_returns_and_nobody_runs_is_reported() {
    const ME: &str = "code_that_a_thread_returns_and_nobody_runs_is_reported";
    async fn work() {}
    if let Some(role) = role() {
        run_at_once(1, move || {
            match role.as_str() {
                "block" => drop(spawn(|| async { sleep(LONG) })),
                "function" => drop(spawn(work)),
                "boxed" => {
                    drop(spawn(|| Box::pin(async {}) as std::pin::Pin<Box<dyn Future<Output = ()> + Send>>))
                }
                "closure" => {
                    let text = "never".to_owned();
                    drop(spawn(move || move || println!("{text}")));
                }
                "scope" => lamprey::scope(|s| _ = s.spawn(|| async {})),
                "parasite" => drop(parasite_fn(|| async {})),
                // Taken, or no code.
                "joined" => lamprey::wait(spawn(work).join().unwrap()),
                "nested" => drop(spawn(|| spawn(|| 5))),
                other => unreachable!("{other}"),
            }
            spawn(|| ()).join().unwrap(); // after the others
        });
        return;
    }
    for (role, reports) in [
        ("block", 1),
        ("function", 1),
        ("boxed", 1),
        ("closure", 1),
        ("scope", 1),
        ("parasite", 1),
        ("joined", 0),
        ("nested", 0),
    ] {
        let (output, text) = rerun(ME, role);
        assert!(output.status.success(), "{role}: {text}");
        let lines: Vec<&str> = text.lines().filter(|line| line.contains("its code has never run")).collect();
        assert_eq!(lines.len(), reports, "{role}: {text}");
        assert!(lines.iter().all(|line| line.contains("lamprey::wait(future)")), "{role}: {text}");
    }
}
