//! A child can make every call, whatever its parent has used, on an OS thread and on a runtime of its own.

use crate::common::{eventually, rerun, role};
use crate::{fork, io_of, on_own, runtime_on, with_each};
use lamprey::signal::{Signal, listen};
use lamprey::{net, process, wait};
use std::io::{Read, Write};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

const MS: Duration = Duration::from_millis(5);
type Call = (&'static str, fn());

fn write_later(mut to: net::UnixStream) -> thread::JoinHandle<net::UnixStream> {
    thread::spawn(move || {
        thread::sleep(MS);
        to.write_all(b"x").unwrap();
        to
    })
}

fn is_there(pid: u32) -> bool {
    // SAFETY: signal 0 only asks.
    unsafe { libc::kill(pid.cast_signed(), 0) == 0 }
}

fn drop_a_child() {
    let child = process::Command::new("sleep").arg("100").kill_on_drop(true).spawn().unwrap();
    let pid = child.id();
    drop(child);
    eventually("it is reaped", || !is_there(pid));
}

fn raise_and_hear(signal: Signal, hear: fn(&lamprey::signal::Signals) -> Signal) {
    let signals = listen(&[signal]).unwrap();
    // SAFETY: plain calls; the process listens.
    unsafe { libc::kill(libc::getpid(), signal.as_raw()) };
    assert_eq!(hear(&signals), signal);
}

const CALLS: &[Call] = &[
    ("sleep", || lamprey::sleep(MS)),
    ("sleep_async", || wait(lamprey::sleep_async(MS))),
    ("with_timeout", || assert!(lamprey::with_timeout(MS, || lamprey::sleep(Duration::MAX)).is_err())),
    ("with_timeout_async", || {
        assert!(wait(lamprey::with_timeout_async(MS, std::future::pending::<()>())).is_err());
    }),
    ("block", || assert_eq!(lamprey::block(|| 3), 3)),
    ("block_async", || assert_eq!(wait(lamprey::block_async(|| 3)), 3)),
    ("compute", || assert_eq!(lamprey::compute(|| 3), 3)),
    ("status", || assert!(process::Command::new("true").status().unwrap().success())),
    ("output", || assert_eq!(process::Command::new("echo").arg("x").output().unwrap().stdout, b"x\n")),
    ("kill_on_drop", drop_a_child),
    ("fs", || drop(lamprey::fs::read("/etc/hostname").unwrap())),
    ("fs async", || drop(wait(lamprey::fs::read_async("/etc/hostname")).unwrap())),
    ("lookup", || drop(net::lookup("localhost:1").unwrap())),
    ("lookup_async", || drop(wait(net::lookup_async("localhost:1")).unwrap())),
    ("signal", || raise_and_hear(Signal::USR1, |signals| signals.recv().unwrap())),
    ("signal async", || raise_and_hear(Signal::USR2, |signals| wait(signals.recv_async()).unwrap())),
    ("read", || {
        let (s, p) = net::UnixStream::pair().unwrap();
        let writer = write_later(p);
        assert_eq!((&s).read(&mut [0]).unwrap(), 1);
        drop(writer.join());
    }),
    ("read_async", || {
        let (s, p) = net::UnixStream::pair().unwrap();
        let writer = write_later(p);
        assert_eq!(wait(s.read_async(&mut [0])).unwrap(), 1);
        drop(writer.join());
    }),
    ("accept and connect", || {
        let l = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = l.local_addr().unwrap();
        let client = thread::spawn(move || net::TcpStream::connect(address).unwrap());
        drop((l.accept().unwrap(), client.join().unwrap()));
    }),
    ("datagrams", || {
        let (a, b) =
            (net::UdpSocket::bind("127.0.0.1:0").unwrap(), net::UdpSocket::bind("127.0.0.1:0").unwrap());
        let to = a.local_addr().unwrap();
        let sender = thread::spawn(move || {
            thread::sleep(MS);
            b.send_to(b"x", to).unwrap()
        });
        assert_eq!(a.recv(&mut [0]).unwrap(), sender.join().unwrap());
    }),
    ("channel", || {
        let (tx, rx) = lamprey::channel();
        let sender = thread::spawn(move || {
            thread::sleep(MS);
            tx.send(1).unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        sender.join().unwrap();
        assert!(rx.recv_timeout(MS).is_err());
    }),
    ("mutex", || {
        let mutex = lamprey::sync::Mutex::new(1);
        assert_eq!(*mutex.lock().unwrap(), 1);
    }),
    ("stm", || {
        let v = lamprey::stm::TVar::new(1);
        lamprey::stm::atomically(|tx| v.set(tx, 2));
        assert_eq!(v.get_now(), 2);
    }),
    ("stdin", || {
        assert_eq!(lamprey::io::stdin().read_line(&mut String::new()).unwrap(), 0);
    }),
    ("stdout", || writeln!(lamprey::io::stdout(), "said").unwrap()),
    ("threads", || drop(lamprey::inspect::threads())),
];

/// Waits until the kernel threads of a runtime that has ended are gone. `std` takes a lock of the process's where a thread starts and ends, and a
/// child that is made meanwhile has it locked for ever: none of its threads would start.
fn await_ends() {
    let is_ending = |task: fs::DirEntry| {
        let name = fs::read_to_string(task.path().join("comm")).unwrap_or_default();
        name.starts_with("lamprey-") && name.trim_end() != "lamprey-reaper"
    };
    let limit = Instant::now() + Duration::from_secs(30);
    while fs::read_dir("/proc/self/task").unwrap().flatten().any(is_ending) {
        assert!(Instant::now() < limit, "a thread of a runtime that has ended is still there");
        thread::sleep(MS);
    }
}

#[test]
fn every_call_works_in_a_child() {
    let Some(role) = role() else {
        return with_each(|name| rerun("every_call_works_in_a_child", name));
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    CALLS.iter().for_each(|(_, call)| call());
    runtime.run(|| {
        CALLS.iter().for_each(|(_, call)| call());
        drop(process::Command::new("sleep").arg("2").spawn().unwrap()); // it is the reaper's at the forks
    });
    for (name, call) in CALLS {
        fork(call).must_be_good(name);
        // A child of a child, whose parent has used it, too.
        fork(|| {
            on_own(io, call);
            await_ends();
            fork(|| on_own(io, call)).must_be_good(name);
        })
        .must_be_good(name);
    }
    runtime.run(|| CALLS.iter().for_each(|(_, call)| call()));
}

#[test]
fn a_simulation_runs_in_a_child() {
    let Some(_) = role() else {
        let (output, text) = rerun("a_simulation_runs_in_a_child", "here");
        return assert!(output.status.success(), "{text}");
    };
    let sim = || {
        lamprey::Runtime::simulated(1).run(|| {
            lamprey::sleep(Duration::from_secs(5));
            lamprey::block(|| 2)
        })
    };
    assert_eq!(sim(), 2);
    fork(|| assert_eq!(sim(), 2)).must_be_good("a simulation");
}

/// A transaction that has been tried often in vain is the only one that may commit: at the fork it is another thread's.
#[test]
fn a_child_commits_while_its_parent_starves() {
    const OFTEN: u32 = 64;
    let Some(_) = role() else {
        let (output, text) = rerun("a_child_commits_while_its_parent_starves", "here");
        return assert!(output.status.success(), "{text}");
    };
    let commit = || {
        let own = lamprey::stm::TVar::new(1);
        lamprey::stm::atomically(|tx| own.set(tx, 2));
        assert_eq!(own.get_now(), 2);
    };
    commit();
    let sum = Arc::new(lamprey::stm::TVar::new(0_u32));
    let ((disturb, disturbs), (disturbed, is_disturbed)) = (mpsc::channel(), mpsc::channel());
    let ((alone, is_alone), (go_on, goes_on)) = (mpsc::channel(), mpsc::channel());
    let others = sum.clone();
    let other = thread::spawn(move || {
        for () in disturbs {
            lamprey::stm::atomically(|tx| others.modify(tx, |sum| sum + 1));
            disturbed.send(()).unwrap();
        }
    });
    let starving = thread::spawn(move || {
        let mut tries = 0;
        lamprey::stm::atomically(|tx| {
            tries += 1;
            let was = sum.get(tx)?;
            if tries <= OFTEN {
                disturb.send(()).unwrap();
                is_disturbed.recv().unwrap();
            } else {
                alone.send(()).unwrap();
                goes_on.recv().unwrap();
            }
            sum.set(tx, was + 1)
        });
        assert_eq!(tries, OFTEN + 1);
    });
    is_alone.recv_timeout(Duration::from_secs(60)).unwrap();
    fork(commit).must_be_good("a transaction");
    go_on.send(()).unwrap();
    starving.join().unwrap();
    other.join().unwrap();
}
