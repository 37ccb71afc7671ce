//! What is called at the end of a thread.

use super::Use;
use crate::common::{count, counter, tick};
use lamprey::stm::{StmResult, TVar, atomically, retry};
use lamprey::sync::{Barrier, Condvar, Mutex, RwLock, Semaphore};
use lamprey::{Handle, Runtime, event::Event, sleep};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

pub struct Call {
    pub name: &'static str,
    /// Makes the objects. What it returns uses them.
    pub make: fn() -> Use,
}

const SHORT: Duration = Duration::from_millis(1);
const LONG: Duration = Duration::from_secs(60);

/// A runtime that lives as long as the process.
fn live() -> &'static Runtime {
    static LIVE: OnceLock<Runtime> = OnceLock::new();
    LIVE.get_or_init(|| crate::common::runtime(2))
}

/// What comes later, from another thread.
fn later<T>(f: impl FnOnce() -> T + Send + 'static) {
    drop(live().handle().spawn(move || {
        sleep(SHORT);
        let _ = f();
    }));
}

macro_rules! call {
    ($name:literal, $make:expr) => {
        Call { name: $name, make: || Box::new($make()) }
    };
}

lamprey::host_local! {
    static KEPT: lamprey::Receiver<u8> = {
        let (tx, rx) = lamprey::channel();
        later(move || tx.send(7));
        rx
    };
}

lamprey::host_local! {
    static PLAIN: std::cell::Cell<u32> = std::cell::Cell::new(0);
}

/// Uses what it is in when it is dropped.
struct Uses;
impl Drop for Uses {
    fn drop(&mut self) {
        PLAIN.with(|it| it.set(it.get() + 1));
        sleep(SHORT);
    }
}
lamprey::host_local! {
    static USES: Uses = Uses;
}

fn pair<A, B>(pair: (A, B), use_it: impl FnOnce(A, B)) -> impl FnOnce() {
    move || use_it(pair.0, pair.1)
}

pub const CALLS: &[Call] = &[
    call!("run", || {
        let mut borrowed = vec![0];
        move || {
            live().run(|| {
                sleep(SHORT);
                borrowed.push(1);
            });
            assert_eq!(borrowed, [0, 1]);
        }
    }),
    call!("a runtime", || {
        let runtime = crate::common::runtime(1);
        move || assert_eq!(runtime.run(|| lamprey::spawn(|| 2).join().unwrap()), 2)
    }),
    call!("a runtime that is only dropped", || {
        let runtime = crate::common::runtime(1);
        drop(runtime.handle().spawn(|| sleep(LONG)));
        move || drop(runtime)
    }),
    call!("shutdown", || {
        let runtime = crate::common::runtime(1);
        move || assert!(runtime.shutdown(LONG).is_empty())
    }),
    call!("lamprey::run", || || assert_eq!(lamprey::run(|| 3), 3)),
    call!("a handle", || {
        let handle = live().handle();
        move || {
            assert_eq!(handle.spawn(|| 4).join().unwrap(), 4);
            assert_eq!(handle.parasite(async { 5 }).join().unwrap(), 5);
            assert_eq!(handle.workers(), 2);
            let _ = handle.stats();
        }
    }),
    call!("the handle of a runtime that has ended", || {
        let handle = crate::common::runtime(1).handle();
        move || assert!(matches!(handle.spawn(|| 4).join(), Err(lamprey::JoinError::Cancelled(_))))
    }),
    call!("join", || {
        let host = live().handle().spawn(|| sleep(SHORT));
        move || host.join().unwrap()
    }),
    call!("join of a panic", || {
        let host = live().handle().spawn(|| std::panic::resume_unwind(Box::new(1)));
        move || drop(host.join().unwrap_err())
    }),
    call!("a handle of a host that is only dropped", || {
        let host = live().handle().spawn(|| sleep(SHORT));
        move || drop(host)
    }),
    call!("cancel", || {
        let host = live().handle().spawn(|| sleep(LONG));
        move || {
            host.cancel();
            assert!(host.join().is_err());
        }
    }),
    call!("sleep and yields", || || {
        sleep(SHORT);
        lamprey::yield_now();
        assert_eq!(lamprey::current().worker().is_some(), Handle::current().is_some());
        lamprey::is_cancelled();
    }),
    call!("time limits", || || {
        assert!(lamprey::with_timeout(SHORT, || sleep(LONG)).is_err());
        lamprey::shield(|| sleep(SHORT));
        let token = lamprey::CancelToken::new();
        let theirs = token.clone();
        later(move || theirs.cancel());
        assert!(token.run(|| sleep(LONG)).is_err());
    }),
    call!("futures", || {
        let sleeps = lamprey::sleep_async(SHORT);
        let (tx, rx) = lamprey::channel::<u8>();
        later(move || tx.send(7));
        move || {
            lamprey::wait(sleeps);
            assert_eq!(lamprey::wait(rx.recv_async()), Ok(7));
            assert!(lamprey::wait(lamprey::with_timeout_async(SHORT, std::future::pending::<()>())).is_err());
            lamprey::wait(lamprey::yield_now_async());
        }
    }),
    call!("suspend", || || lamprey::suspend(|token| later(move || token.wake())).unwrap()),
    call!("calls on pools", || || {
        assert_eq!(lamprey::block(|| 8), 8);
        assert_eq!(lamprey::compute(|| 9), 9);
        assert_eq!(lamprey::wait(lamprey::block_async(|| 10)), 10);
        assert_eq!(lamprey::wait(lamprey::compute_async(|| 10)), 10);
    }),
    call!("a channel", || {
        pair(lamprey::channel(), |tx, rx| {
            let sends = tx.clone();
            later(move || sends.send(1));
            assert_eq!(rx.recv(), Ok(1));
            let receives = rx.clone();
            later(move || receives.recv());
            tx.send(2).unwrap();
            assert!(rx.recv_timeout(SHORT).is_err());
        })
    }),
    call!("other channels", || {
        let (bounded, mut mailbox, oneshot) = (lamprey::bounded(1), lamprey::mailbox(), lamprey::oneshot());
        move || {
            later(move || (bounded.0.send(1), mailbox.0.send(2), oneshot.0.send(3)));
            assert_eq!((bounded.1.recv(), mailbox.1.recv(), oneshot.1.recv()), (Ok(1), Ok(2), Ok(3)));
        }
    }),
    call!("channels for many", || {
        let (broadcast, watch) = (lamprey::broadcast::<u8>(4), lamprey::watch(0));
        let (ivar, mvar) = (lamprey::IVar::new(), lamprey::MVar::new(1));
        move || {
            let (tx, mut rx) = broadcast;
            later(move || tx.send(1));
            assert_eq!(rx.recv(), Ok(1));
            drop(watch);
            let fills = ivar.clone();
            later(move || fills.put(2));
            assert_eq!(ivar.get(), 2);
            assert_eq!(mvar.take().unwrap(), 1);
            mvar.put(2).unwrap();
        }
    }),
    call!("ends that are only dropped", || {
        let ends = (
            lamprey::channel::<u8>(),
            lamprey::bounded::<u8>(1),
            lamprey::watch(0),
            lamprey::mailbox::<u8>(),
        );
        let waits = ends.0.1.clone();
        drop(live().handle().spawn(move || waits.recv()));
        ends.1.0.send(1).unwrap();
        move || drop(ends)
    }),
    call!("a choice", || {
        pair(lamprey::channel::<u8>(), |tx, rx| {
            assert!(
                lamprey::event::choose((
                    rx.recv_evt().wrap(|_| false),
                    lamprey::event::timeout(SHORT).wrap(|()| true)
                ))
                .sync()
            );
            drop(tx);
            assert!(rx.recv_evt().sync().is_err());
        })
    }),
    call!("locks", || {
        let (lock, rw) = (Arc::new((Mutex::new(0), Condvar::new())), Arc::new(RwLock::new(0)));
        move || {
            let theirs = lock.clone();
            let guard = lock.0.lock().unwrap();
            later(move || {
                *theirs.0.lock().unwrap() = 1;
                theirs.1.notify_all();
                sleep(SHORT);
            });
            let guard = lock.1.wait_while(guard, |it| *it == 0).unwrap();
            drop(guard);
            let theirs = rw.clone();
            let read = rw.read().unwrap();
            let writes = live().handle().spawn(move || *theirs.write().unwrap() = 1);
            sleep(SHORT);
            drop(read);
            writes.join().unwrap();
            *rw.write().unwrap() += 1;
            assert_eq!(*rw.read().unwrap(), 2);
        }
    }),
    call!("a lock that is held", || {
        let lock = Arc::new(Mutex::new(0));
        let theirs = lock.clone();
        let held = live().handle().spawn(move || {
            let guard = theirs.lock().unwrap();
            sleep(SHORT * 5);
            drop(guard);
        });
        move || {
            *lock.lock().unwrap() += 1;
            held.join().unwrap();
        }
    }),
    call!("semaphores and barriers", || {
        let (semaphore, barrier) = (Arc::new(Semaphore::new(0)), Arc::new(Barrier::new(2)));
        move || {
            let theirs = (semaphore.clone(), barrier.clone());
            later(move || {
                theirs.0.add_permits(1);
                theirs.1.wait();
            });
            drop(semaphore.acquire(1));
            barrier.wait();
        }
    }),
    call!("once", || || {
        static ONCE: lamprey::sync::OnceLock<u8> = lamprey::sync::OnceLock::new();
        static LAZY: lamprey::sync::LazyLock<u8> = lamprey::sync::LazyLock::new(|| 2);
        assert_eq!((*ONCE.get_or_init(|| 1), *LAZY), (1, 2));
    }),
    call!("transactions", || {
        let var = TVar::new(Box::new(0));
        move || {
            atomically(|tx| var.set(tx, Box::new(1)));
            let theirs = var.clone();
            later(move || atomically(|tx| theirs.set(tx, Box::new(2))));
            let seen = atomically(|tx| match *var.get(tx)? {
                2 => StmResult::Ok(2),
                _ => retry(),
            });
            assert_eq!(seen, 2);
            let more: Vec<_> = (0..100).map(TVar::new).collect();
            assert_eq!(more[7].get_now(), 7);
        }
    }),
    call!("a variable that is only dropped", || {
        let var = TVar::new(String::from("a"));
        move || drop(var)
    }),
    call!("a scope", || || {
        let mut sum = 0;
        lamprey::scope(|_| {
            sleep(SHORT);
            sum += 1;
        });
        assert_eq!(sum, 1);
    }),
    call!("an actor", || {
        let (address, inbox) = lamprey::actor::inbox::<u32>();
        let mut inbox = inbox;
        let host = live().handle().spawn(move || inbox.run(|inbox| inbox.recv().unwrap()).map_err(|_| ()));
        move || {
            let monitor = address.monitor();
            address.tell(4).unwrap();
            assert_eq!(host.join().unwrap(), Ok(4));
            monitor.wait();
        }
    }),
    call!("host-local values", || {
        KEPT.with(|rx| drop(rx.clone()));
        || {
            PLAIN.with(|it| it.set(it.get() + 1));
            assert!(PLAIN.with(std::cell::Cell::get) > 0);
            let _ = KEPT.with(|rx| rx.recv_timeout(SHORT));
            USES.with(|_| ());
        }
    }),
    call!("generators", || {
        let mut before = swapstack::Generator::<(), u32, ()>::new(|yielder, ()| {
            let _dropped = Uses;
            yielder.suspend(1);
        });
        before.resume(());
        move || {
            drop(before);
            let mut now = swapstack::Generator::<(), u32, ()>::new(|yielder, ()| {
                yielder.suspend(1);
            });
            now.resume(());
            now.resume(());
        }
    }),
    call!("TCP", || {
        let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        move || {
            later(move || {
                let mut theirs = lamprey::net::TcpStream::connect(address).unwrap();
                sleep(SHORT);
                theirs.write_all(b"here").unwrap();
            });
            let (mut stream, _) = listener.accept().unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            assert_eq!(text, "here");
            let (mut mine, _theirs) =
                (lamprey::net::TcpStream::connect(address).unwrap(), listener.accept().unwrap());
            mine.set_read_timeout(Some(SHORT)).unwrap();
            mine.read(&mut [0]).unwrap_err();
        }
    }),
    call!("a socket that another closes", || {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let (mut ours, theirs) = (
            lamprey::net::UnixStream::from_std(ours).unwrap(),
            lamprey::net::UnixStream::from_std(theirs).unwrap(),
        );
        move || {
            later(move || drop(theirs));
            assert_eq!(ours.read(&mut [0]).unwrap(), 0);
        }
    }),
    call!("futures of sockets", || {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let (ours, theirs) = (
            lamprey::net::UnixStream::from_std(ours).unwrap(),
            lamprey::net::UnixStream::from_std(theirs).unwrap(),
        );
        move || {
            later(move || (&theirs).write_all(b"x"));
            assert_eq!(lamprey::wait(ours.read_async(&mut [0; 4])).unwrap(), 1);
        }
    }),
    call!("UDP, and names", || {
        let socket = lamprey::net::UdpSocket::bind("127.0.0.1:0").unwrap();
        move || {
            socket.send_to(b"x", socket.local_addr().unwrap()).unwrap();
            assert_eq!(socket.recv_from(&mut [0; 4]).unwrap().0, 1);
            drop(lamprey::net::TcpStream::connect("localhost:1"));
        }
    }),
    call!("files", || {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::SeqCst);
        let path = std::env::temp_dir().join(format!("lamprey-thread-end-{}-{number}", std::process::id()));
        let mut file = lamprey::fs::File::create(&path).unwrap();
        move || {
            file.write_all(b"text").unwrap();
            file.sync_all().unwrap();
            drop(file);
            assert_eq!(lamprey::fs::read(&path).unwrap(), b"text");
            assert_eq!(lamprey::wait(lamprey::fs::read_async(&path)).unwrap(), b"text");
            lamprey::fs::remove_file(&path).unwrap();
        }
    }),
    call!("processes", || {
        let mut child = lamprey::process::Command::new("sleep").arg("0.01").spawn().unwrap();
        move || {
            assert!(child.wait().unwrap().success());
            let output = lamprey::process::Command::new("echo").arg("text").output().unwrap();
            assert_eq!(output.stdout, b"text\n");
        }
    }),
    call!("signals", || {
        let signals = lamprey::signal::listen(&[lamprey::signal::Signal::USR2]).unwrap();
        move || {
            // To the worker that calls: `std` unmaps the first thread's stack for signals when another one exits.
            // SAFETY: a call without pointers.
            later(|| unsafe { libc::raise(libc::SIGUSR2) });
            assert_eq!(signals.recv().unwrap(), lamprey::signal::Signal::USR2);
        }
    }),
    call!("the calls of hosts that have errors", || || {
        if Handle::current().is_none() {
            let error = lamprey::Builder::new().spawn(|| ()).unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotConnected);
        }
    }),
    call!("output", || || {
        let mut output = lamprey::io::stdout();
        writeln!(output, "text").unwrap();
        output.flush().unwrap();
    }),
    call!("intervals and limits", || {
        let mut interval = lamprey::interval(SHORT);
        let limit = lamprey::RateLimiter::new(1000, Duration::from_secs(1));
        move || {
            interval.tick();
            interval.tick();
            limit.acquire(1);
        }
    }),
    call!("a simulation", || || {
        if Handle::current().is_some() {
            return; // refused there
        }
        let ended = counter();
        let theirs = ended.clone();
        Runtime::simulated(7).run(move || {
            lamprey::spawn(|| sleep(LONG)).join().unwrap();
            tick(&theirs);
        });
        assert_eq!(count(&ended), 1);
    }),
    call!("what lists threads", || || {
        drop(lamprey::current());
        let _ = live().stats();
    }),
];
