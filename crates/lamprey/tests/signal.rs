//! Signals, by the moment at which they come. Each test has signals of its own, as all tests are one process.

mod common;

use common::awaiting::{Wakes, everywhere, in_tokio, is_send, poll};
use common::*;
use lamprey::event::{Event, choose, timeout};
use lamprey::signal::{Signal, Signals, ctrl_c, listen};
use lamprey::{Io, JoinError, Runtime, shield};
use std::io::{BufRead, BufReader, ErrorKind};
use std::os::unix::thread::JoinHandleExt;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

/// A real-time signal that nobody else uses.
fn signal(number: i32) -> Signal {
    Signal::from_raw(libc::SIGRTMIN() + number)
}

fn listener(signals: &[Signal]) -> Arc<Signals> {
    Arc::new(listen(signals).unwrap())
}

/// The handlers have run when this returns.
fn raise(signal: Signal) {
    // SAFETY: a plain number.
    assert_eq!(unsafe { libc::raise(signal.as_raw()) }, 0);
}

/// Sends `signal` to a kernel thread of this process.
fn send_to(thread: libc::pid_t, signal: Signal) {
    // SAFETY: plain numbers.
    assert_eq!(unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), thread, signal.as_raw()) }, 0);
}

/// Runs `main` with each event loop that this machine has.
#[track_caller]
fn with_each_loop<T: Send + 'static>(workers: usize, main: fn() -> T) {
    for io in [Io::Epoll, Io::Uring] {
        match io.check() {
            Ok(()) => {
                let runtime = Runtime::builder().workers(workers).io(io).build().unwrap();
                within(FOREVER, move || runtime.run(main));
            }
            Err(why) => println!("{why}"),
        }
    }
}

#[test]
fn raised_before_recv() {
    const N: i32 = 0;
    with_each_loop(1, || {
        let signals = listen(&[signal(N)]).unwrap();
        raise(signal(N));
        raise(signal(N));
        assert_eq!(signals.recv().unwrap(), signal(N));
        assert_eq!(signals.try_recv(), None, "both at once");
        raise(signal(N));
        assert_eq!(signals.try_recv(), Some(signal(N)));
        raise(signal(N));
        assert_eq!(lamprey::wait(signals.recv_async()).unwrap(), signal(N));
        raise(signal(N));
        assert_eq!(signals.recv_evt().sync().unwrap(), signal(N));
    });
}

#[test]
fn raised_while_a_host_is_blocked() {
    const N: i32 = 1;
    with_each_loop(1, || {
        let signals = listener(&[signal(N)]);
        for _ in 0..10 {
            let theirs = signals.clone();
            let waits = blocked(move || theirs.recv().unwrap());
            assert!(!waits.is_finished());
            raise(signal(N));
            assert_eq!(waits.join().unwrap(), signal(N));
        }
    });
}

#[test]
fn raised_on_an_os_thread_and_on_the_worker_that_sleeps() {
    const N: i32 = 2;
    with_each_loop(2, || {
        let signals = listener(&[signal(N)]);
        let (tell, told) = lamprey::bounded(1);
        for round in 0..20 {
            let (theirs, tell) = (signals.clone(), tell.clone());
            let waits = blocked_in(&here(), move || {
                // SAFETY: a plain call.
                tell.send(unsafe { libc::gettid() }).unwrap();
                theirs.recv().unwrap()
            });
            let worker = told.recv().unwrap();
            let raises = move || if round % 2 == 0 { raise(signal(N)) } else { send_to(worker, signal(N)) };
            let raiser = std::thread::spawn(raises);
            assert_eq!(waits.join().unwrap(), signal(N));
            raiser.join().unwrap();
        }
    });
}

#[test]
fn raised_while_os_threads_are_blocked() {
    const N: i32 = 3;
    let signals = listener(&[signal(N), signal(N + 1)]);
    let waits = || {
        let theirs = signals.clone();
        blocked_os(move || theirs.recv().unwrap())
    };
    for _ in 0..10 {
        let both = [waits(), waits()];
        raise(signal(N));
        raise(signal(N + 1));
        let mut taken = within(FOREVER, || both.map(|thread| thread.join().unwrap()));
        taken.sort();
        assert_eq!(taken, [signal(N), signal(N + 1)]);
        // To the thread itself, whose `poll` is interrupted.
        let one = waits();
        // SAFETY: the thread has not been joined.
        assert_eq!(unsafe { libc::pthread_kill(one.as_pthread_t(), signal(N).as_raw()) }, 0);
        assert_eq!(within(FOREVER, || one.join().unwrap()), signal(N));
    }
}

#[test]
fn a_signal_is_awaited_everywhere() {
    const N: i32 = 5;
    everywhere(|| async {
        let signals = listen(&[signal(N)]).unwrap();
        raise(signal(N));
        assert_eq!(signals.recv_async().await.unwrap(), signal(N));
        let later = std::thread::spawn(|| {
            lamprey::sleep(Duration::from_millis(1));
            raise(signal(N));
        });
        assert_eq!(signals.recv_async().await.unwrap(), signal(N));
        later.join().unwrap();
    });
}

#[test]
fn raised_while_a_foreign_task_is_pending() {
    const N: i32 = 6;
    let signals = listener(&[signal(N)]);
    let (wakes, waker) = Wakes::new();
    let mut future = Box::pin(is_send(signals.recv_async()));
    assert!(poll(&mut future, &waker).is_pending());
    raise(signal(N));
    eventually("the wake", || wakes.count() > 0);
    assert!(matches!(poll(&mut future, &waker), Poll::Ready(Ok(taken)) if taken == signal(N)));
    // One that is dropped after its wake has taken nothing.
    let mut future = Box::pin(signals.recv_async());
    let before = wakes.count();
    assert!(poll(&mut future, &waker).is_pending());
    raise(signal(N));
    eventually("the wake", || wakes.count() > before);
    drop(future);
    assert_eq!(in_tokio(signals.recv_async()).unwrap(), signal(N));
}

#[test]
fn two_listeners_get_each_signal() {
    const N: i32 = 7;
    with_each_loop(2, || {
        let (one, two) = (listener(&[signal(N)]), listener(&[signal(N), signal(N), signal(N + 1)]));
        let waits = [&one, &two].map(|signals| {
            let theirs = signals.clone();
            lamprey::spawn(move || theirs.recv().unwrap())
        });
        raise(signal(N));
        waits.into_iter().for_each(|host| assert_eq!(host.join().unwrap(), signal(N)));
        // In the order of their numbers; those that a listener does not listen for are not for it.
        raise(signal(N + 1));
        raise(signal(N));
        assert_eq!((two.recv().unwrap(), two.recv().unwrap()), (signal(N), signal(N + 1)));
        assert_eq!((one.recv().unwrap(), one.try_recv()), (signal(N), None));
    });
}

#[test]
fn one_listener_goes_and_the_other_stays() {
    const N: i32 = 9;
    let (one, two) = (listener(&[signal(N)]), listener(&[signal(N)]));
    drop(one);
    raise(signal(N));
    assert_eq!(two.recv().unwrap(), signal(N));
    drop(two);
    raise(signal(N)); // whose default action would end the process
    let again = listener(&[signal(N)]);
    assert_eq!(again.try_recv(), None);
    raise(signal(N));
    assert_eq!(again.recv().unwrap(), signal(N));
}

#[test]
fn two_runtimes_get_each_signal_and_one_ends_while_a_host_waits() {
    const N: i32 = 10;
    let shared = listener(&[signal(N)]);
    let runtimes = [runtime(1), runtime(1)];
    let waits = [0, 1].map(|at| {
        let own = listener(&[signal(N)]);
        blocked_in(&runtimes[at].handle(), move || own.recv().unwrap())
    });
    let waits_on = blocked_in(&runtimes[1].handle(), {
        let theirs = shared.clone();
        move || theirs.recv()
    });
    let [first, second] = runtimes;
    drop(within(FOREVER, move || second.shutdown(FOREVER)));
    assert!(matches!(waits_on.join(), Err(JoinError::Cancelled(_))));
    raise(signal(N));
    let [of_first, of_second] = waits;
    assert_eq!(of_first.join().unwrap(), signal(N));
    assert!(matches!(of_second.join(), Err(JoinError::Cancelled(_))));
    assert_eq!(shared.recv().unwrap(), signal(N));
    drop(first);
}

#[test]
fn a_future_goes_on_after_its_runtime_has_ended() {
    const N: i32 = 11;
    let signals: &'static Signals = Box::leak(Box::new(listen(&[signal(N)]).unwrap()));
    let (wakes, waker) = Wakes::new();
    let runtime = runtime(1);
    let theirs = waker.clone();
    let mut future = runtime.run(move || {
        let mut future = Box::pin(signals.recv_async());
        assert!(poll(&mut future, &theirs).is_pending());
        future
    });
    drop(runtime);
    eventually("the wake at its end", || wakes.count() > 0);
    assert!(poll(&mut future, &waker).is_pending());
    raise(signal(N));
    assert_eq!(lamprey::wait(future).unwrap(), signal(N));
}

#[test]
fn cancelled_and_then_raised() {
    const N: i32 = 12;
    with_each_loop(1, || {
        let signals = listener(&[signal(N)]);
        let theirs = signals.clone();
        let waits = blocked(move || theirs.recv().unwrap());
        waits.cancel();
        assert!(matches!(waits.join(), Err(JoinError::Cancelled(_))));
        raise(signal(N));
        assert_eq!(signals.recv().unwrap(), signal(N));
    });
}

#[test]
fn raised_and_cancelled_before_it_runs() {
    const N: i32 = 13;
    with_each_loop(2, || {
        let signals = listener(&[signal(N)]);
        for round in 0..200 {
            let theirs = signals.clone();
            let waits = lamprey::spawn(move || theirs.recv().unwrap());
            if round % 2 == 0 {
                lamprey::yield_now();
            }
            raise(signal(N));
            waits.cancel();
            let taken = match waits.join() {
                Ok(taken) => Some(taken),
                Err(JoinError::Cancelled(_)) => None,
                Err(error) => panic!("{error}"),
            };
            let left = signals.try_recv();
            assert_eq!(taken.or(left), Some(signal(N)));
            assert!(taken.is_none() || left.is_none(), "it was taken twice");
        }
    });
}

#[test]
fn a_choice_with_a_timeout() {
    const N: i32 = 14;
    with_each_loop(1, || {
        let signals = listen(&[signal(N)]).unwrap();
        let within =
            |limit| choose((signals.recv_evt().wrap(|taken| taken.ok()), timeout(limit).wrap(|()| None)));
        assert_eq!(within(Duration::from_millis(1)).sync(), None);
        raise(signal(N));
        assert_eq!(within(FOREVER).sync(), Some(signal(N)));
        let waiting = within(FOREVER);
        lamprey::scope(|scope| {
            scope.spawn(|| raise(signal(N)));
            assert_eq!(waiting.sync(), Some(signal(N)));
        });
        // What loses takes nothing.
        let (tx, rx) = lamprey::bounded(1);
        tx.send(()).unwrap();
        raise(signal(N));
        lamprey::event::prefer((rx.recv_evt().wrap(drop), signals.recv_evt().wrap(drop))).sync();
        assert_eq!(signals.try_recv(), Some(signal(N)));
    });
}

#[test]
fn a_limit_of_time() {
    const N: i32 = 15;
    with_each_loop(1, || {
        let signals = listen(&[signal(N)]).unwrap();
        for limit in [Duration::ZERO, Duration::from_millis(1)] {
            assert_eq!(signals.recv_timeout(limit).unwrap_err().kind(), ErrorKind::TimedOut);
            assert!(lamprey::with_timeout(limit, || signals.recv().unwrap()).is_err());
        }
        raise(signal(N));
        assert_eq!(signals.recv_timeout(Duration::ZERO).unwrap(), signal(N));
        raise(signal(N));
        assert_eq!(signals.recv_timeout(Duration::MAX).unwrap(), signal(N));
    });
    let signals = listen(&[signal(N)]).unwrap();
    assert_eq!(signals.recv_timeout(Duration::from_millis(1)).unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn ten_thousand_raises() {
    const N: i32 = 16;
    with_each_loop(2, || {
        let signals = listener(&[signal(N), signal(N + 1)]);
        let theirs = signals.clone();
        let counts = lamprey::spawn(move || {
            theirs.iter().map(Result::unwrap).take_while(|taken| *taken == signal(N)).count()
        });
        let raiser = std::thread::spawn(|| {
            (0..10_000).for_each(|_| raise(signal(N)));
            raise(signal(N + 1));
        });
        let count = counts.join().unwrap();
        assert!((1..=10_000).contains(&count), "{count}");
        lamprey::block(|| raiser.join().unwrap());
        assert_eq!(signals.try_recv(), None);
    });
}

/// Each of several signals is raised again when the last one of its kind has been taken, by one of several threads.
#[test]
fn many_raise_and_many_take() {
    const N: i32 = 18;
    const KINDS: usize = 4;
    with_each_loop(2, || {
        let all: Vec<_> = (N..N + KINDS as i32).map(signal).collect();
        let signals = listener(&all);
        let (acknowledge, acknowledged): (Vec<_>, Vec<_>) = (0..KINDS).map(|_| mpsc::channel::<()>()).unzip();
        let take = move |signals: Arc<Signals>, taken: Arc<AtomicUsize>| {
            while taken.load(Ordering::SeqCst) < KINDS * 1000 {
                if let Ok(signal) = signals.recv_timeout(Duration::from_millis(20)) {
                    taken.fetch_add(1, Ordering::SeqCst);
                    let _ = acknowledge[(signal.as_raw() - libc::SIGRTMIN() - N) as usize].send(());
                }
            }
        };
        let taken = counter();
        let hosts: Vec<_> = (0..3)
            .map(|_| {
                let (take, signals, taken) = (take.clone(), signals.clone(), taken.clone());
                lamprey::spawn(move || take(signals, taken))
            })
            .collect();
        let takers: Vec<_> = (0..2)
            .map(|_| {
                let (take, signals, taken) = (take.clone(), signals.clone(), taken.clone());
                std::thread::spawn(move || take(signals, taken))
            })
            .collect();
        let raisers = acknowledged.into_iter().zip(all).map(|(acknowledged, signal)| {
            std::thread::spawn(move || {
                for _ in 0..1000 {
                    raise(signal);
                    acknowledged.recv().unwrap();
                }
            })
        });
        let others: Vec<_> = takers.into_iter().chain(raisers).collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        lamprey::block(|| others.into_iter().for_each(|thread| thread.join().unwrap()));
        assert_eq!((count(&taken), signals.try_recv()), (KINDS * 1000, None));
    });
}

/// As above, where nobody looks again by itself: two wait, two signals come at once, and both wake up.
#[test]
fn two_signals_at_once_wake_two_that_wait() {
    const N: i32 = 22;
    with_each_loop(2, || {
        let signals = listener(&[signal(N), signal(N + 1)]);
        for _ in 0..500 {
            let (mine, theirs) = (signals.clone(), signals.clone());
            let host = lamprey::spawn(move || mine.recv().unwrap());
            let os = std::thread::spawn(move || theirs.recv().unwrap());
            raise(signal(N));
            raise(signal(N + 1));
            let mut taken = [host.join().unwrap(), lamprey::block(|| os.join().unwrap())];
            taken.sort();
            // If the first has been taken before the second came: both of them, in any case.
            assert_eq!(taken, [signal(N), signal(N + 1)]);
        }
    });
}

static BEFORE: AtomicUsize = AtomicUsize::new(0);

extern "C" fn before(_: libc::c_int) {
    BEFORE.fetch_add(1, Ordering::SeqCst);
}

fn flags_of(signal: Signal) -> libc::c_int {
    // SAFETY: the call only writes to `action`, which is valid when zeroed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        assert_eq!(libc::sigaction(signal.as_raw(), std::ptr::null(), &raw mut action), 0);
        action.sa_flags
    }
}

#[test]
fn handlers_that_were_there_before_are_called_too() {
    const N: i32 = 24;
    // SAFETY: `before` is async-signal-safe.
    unsafe { libc::signal(signal(N).as_raw(), before as *const () as libc::sighandler_t) };
    let one = listen(&[signal(N)]).unwrap();
    let two = listen(&[signal(N)]).unwrap();
    raise(signal(N));
    assert_eq!(BEFORE.load(Ordering::SeqCst), 1);
    assert_eq!((one.recv().unwrap(), two.recv().unwrap()), (signal(N), signal(N)));
    drop((one, two));
    raise(signal(N));
    assert_eq!(BEFORE.load(Ordering::SeqCst), 2);
    assert_eq!(flags_of(signal(N)) & libc::SA_ONSTACK, 0, "it stays on the stack that it had");
}

#[test]
fn the_handler_is_on_the_alternate_stack() {
    const N: i32 = 25;
    let _signals = listen(&[signal(N)]).unwrap();
    assert_ne!(flags_of(signal(N)) & libc::SA_ONSTACK, 0);
    run(1, || {
        let small = lamprey::Builder::new().stack_size(1).spawn(|| (0..100).for_each(|_| raise(signal(N))));
        small.unwrap().join().unwrap();
    });
}

#[test]
fn a_child_made_by_fork() {
    const N: i32 = 26;
    let signals = listen(&[signal(N)]).unwrap();
    raise(signal(N));
    // SAFETY: the child makes calls that need no other thread, and ends without destructors.
    let child = unsafe { libc::fork() };
    if child == 0 {
        raise(signal(N));
        let is_right = signals.try_recv().is_none() && signals.recv().is_err();
        // SAFETY: a plain number.
        unsafe { libc::_exit(if is_right { 0 } else { 1 }) };
    }
    let mut status = -1;
    // SAFETY: the call writes to a live local.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!((signals.try_recv(), signals.try_recv()), (Some(signal(N)), None));
    raise(signal(N));
    assert_eq!(signals.recv().unwrap(), signal(N));
}

#[test]
fn signals_that_nobody_can_listen_for() {
    let refused = |signal: Signal| {
        let error = listen(&[Signal::USR2, signal]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        error.to_string()
    };
    for (signal, name) in [
        (Signal::KILL, "SIGKILL"),
        (Signal::STOP, "SIGSTOP"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::FPE, "SIGFPE"),
        (Signal::URG, "SIGURG"),
        (Signal::from_raw(0), "signal 0"),
        (Signal::from_raw(-1), "signal -1"),
        (Signal::from_raw(32), "signal 32"),
        (Signal::from_raw(65), "signal 65"),
        (Signal::from_raw(i32::MAX), "signal 2147483647"),
    ] {
        let text = refused(signal);
        assert!(text.contains(name), "{text}");
    }
    assert_eq!(listen(&[]).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(flags_of(Signal::USR2), 0, "the others of a refused list keep their action");
}

#[test]
fn a_host_that_unwinds_does_not_wait() {
    const N: i32 = 27;
    struct Receives(Arc<Signals>, mpsc::Sender<Result<Signal, ErrorKind>>);
    impl Drop for Receives {
        fn drop(&mut self) {
            self.1.send(self.0.recv().map_err(|error| error.kind())).unwrap();
        }
    }
    with_each_loop(1, || {
        let (tell, told) = mpsc::channel();
        let receives = Receives(listener(&[signal(N)]), tell);
        let host = lamprey::spawn(move || {
            let _receives = receives;
            std::panic::resume_unwind(Box::new("unwinds"));
        });
        assert!(host.join().is_err());
        assert_eq!(told.recv().unwrap(), Err(ErrorKind::WouldBlock));
    });
}

#[test]
fn a_shielded_host_waits_although_it_is_cancelled() {
    const N: i32 = 28;
    with_each_loop(1, || {
        let signals = listener(&[signal(N)]);
        let waits = blocked(move || shield(|| signals.recv().unwrap()));
        waits.cancel();
        lamprey::yield_now();
        raise(signal(N));
        assert_eq!(waits.join().unwrap(), signal(N));
    });
}

#[test]
fn ctrl_c_ends_a_program_that_waits_for_it() {
    if role().is_some() {
        runtime(2).run(|| {
            let stop = ctrl_c().unwrap();
            println!("\nready");
            assert_eq!(stop.recv().unwrap(), Signal::INT);
            drop(stop);
            raise(Signal::INT); // ignored from now on
        });
        std::process::exit(7);
    }
    let mut command = again("ctrl_c_ends_a_program_that_waits_for_it", "waits");
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line == "ready"));
    // SAFETY: plain numbers; the child has not been waited for.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), libc::SIGINT) }, 0);
    let status = within(FOREVER, move || child.wait().unwrap());
    assert_eq!(status.code(), Some(7));
}
