//! The critical path of a wait: programs of which it is known beforehand.

use crate::common::{FOREVER, run, within};
use lamprey::inspect::{Cause, CriticalPath, Spent, ThreadRow, What, recording, threads};
use lamprey::net::{TcpListener, TcpStream};
use lamprey::sync::Mutex;
use lamprey::{Builder, Runtime, Wait, block, channel, current, parasite, parasite_fn, sleep, yield_now};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_millis(20);

/// Why the caller was late since `begun`; the segments have been looked at for what is true of all.
fn why_since(begun: Instant) -> CriticalPath {
    let until = Instant::now();
    let path = recording().why(current().id(), begun..until);
    assert_whole(&path, begun, until);
    path
}

/// Asserts that each segment begins where the one before it ends, and that they add up to the whole.
fn assert_whole(path: &CriticalPath, from: Instant, until: Instant) {
    let mut at = from;
    for segment in path.segments() {
        assert_eq!(segment.from, at, "{path:#}");
        at += segment.length;
    }
    assert_eq!(at, until, "{path:#}");
}

/// True if a part of the path was not recorded.
fn has_gap(path: &CriticalPath) -> bool {
    path.segments().iter().any(|segment| matches!(segment.spent, Spent::NotRecorded))
}

/// The threads of the path, by name, each once for each time that the path comes to it.
fn names(path: &CriticalPath) -> Vec<&str> {
    let mut names: Vec<_> = path.segments().iter().filter_map(|segment| segment.thread.name()).collect();
    names.dedup();
    names
}

/// How long the thread with this name spent like that.
fn spent(path: &CriticalPath, name: &str, is: impl Fn(&Spent) -> bool) -> Duration {
    let of_it =
        |segment: &&lamprey::inspect::Segment| segment.thread.name() == Some(name) && is(&segment.spent);
    path.segments().iter().filter(of_it).map(|segment| segment.length).sum()
}

fn compute(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {}
}

fn named<T: Send + 'static>(name: &str, f: impl FnOnce() -> T + Send + 'static) -> lamprey::JoinHandle<T> {
    Builder::new().name(name).spawn(f).unwrap()
}

/// Returns when the thread with this name waits for that.
fn until_it_waits(name: &str, wait: Wait) {
    while !waits(name, wait) {
        sleep(Duration::from_millis(1));
    }
}

fn waits(name: &str, wait: Wait) -> bool {
    let waits = |row: &ThreadRow| row.thread().name() == Some(name) && row.wait() == Some(wait);
    threads().iter().any(waits)
}

#[test]
fn a_wait_leads_to_the_timer_of_who_has_ended_it() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let begun = Instant::now();
        let sender = named("sleeps first", move || {
            sleep(LONG);
            tx.send(1).unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        let path = why_since(begun);
        assert_eq!(names(&path), ["main", "sleeps first", "main"], "{path:#}");
        let slept = spent(&path, "sleeps first", |spent| {
            matches!(spent, Spent::Waited(Some(Wait::Sleep), Some(Cause::Time)))
        });
        // Not exactly as long, because the CPU's counter has told the time.
        assert!(slept >= LONG * 9 / 10, "{path:#}");
        let text = path.to_string();
        assert!(
            text.contains("`sleeps first`") && text.contains("waited: sleep, until its time was over"),
            "{text}"
        );
        assert!(
            text.contains("and woke host") && text.contains("which waited: receive on a channel"),
            "{text}"
        );
        sender.join().unwrap();
    });
}

#[test]
fn a_path_goes_through_channels_locks_joins_and_computations() {
    run(1, || {
        let lock = Arc::new(Mutex::new(()));
        let (tx, rx) = channel::<u32>();
        let (held, has_lock) = channel::<()>();
        let begun = Instant::now();
        let theirs = lock.clone();
        let holder = named("holds the lock", move || {
            let guard = theirs.lock().unwrap();
            held.send(()).unwrap();
            block(|| std::thread::sleep(LONG));
            compute(LONG);
            drop(guard);
        });
        has_lock.recv().unwrap();
        let waiter = named("wants the lock", move || {
            drop(lock.lock().unwrap());
            tx.send(7).unwrap();
        });
        let joiner = named("joins", move || waiter.join().unwrap());
        assert_eq!(rx.recv(), Ok(7));
        joiner.join().unwrap();
        let path = why_since(begun);
        holder.join().unwrap();
        let names = names(&path);
        let order = ["holds the lock", "wants the lock", "main"];
        let mut at = names.iter();
        assert!(order.iter().all(|name| at.any(|one| one == name)), "{path:#}");
        let in_pool = spent(&path, "holds the lock", |spent| {
            matches!(spent, Spent::Waited(Some(Wait::Blocking), Some(Cause::Wake)))
        });
        let ran = spent(&path, "holds the lock", |spent| matches!(spent, Spent::Ran));
        assert!(in_pool >= LONG * 9 / 10 && ran >= LONG * 9 / 10, "{path:#}");
        assert!(
            path.to_string().contains("call on a pool of threads, until a thread of a pool had made it"),
            "{path}"
        );
    });
}

/// Computes until then: whoever is ready on its worker from an earlier moment on waits for its turn until then at least.
fn compute_until(end: Instant) {
    while Instant::now() < end {}
}

/// How long the thread with this name was ready behind another one that held its worker.
fn behind(path: &CriticalPath, name: &str, other: &str) -> Duration {
    spent(path, name, |spent| match spent {
        Spent::Ready(Some((one, _))) | Spent::Sent(Some((one, _))) => one.name() == Some(other),
        _ => false,
    })
}

#[test]
fn a_timer_that_a_computation_holds_up_is_told_as_a_wait_for_a_turn() {
    run(1, || {
        let path = loop {
            let begun = Instant::now();
            let end = begun + 10 * LONG;
            let sleeper = named("sleeps", move || {
                sleep(end.saturating_duration_since(Instant::now()));
                why_since(begun)
            });
            // On a machine that stood still the time is over before anybody has seen that it waits.
            while !waits("sleeps", Wait::Sleep) && !sleeper.is_finished() {
                sleep(Duration::from_millis(1));
            }
            let holder = named("holds the worker", move || {
                let is_in_time = Instant::now() < end;
                compute_until(end + 10 * LONG);
                is_in_time
            });
            let path = sleeper.join().unwrap();
            if holder.join().unwrap() {
                break path;
            }
        };
        assert!(behind(&path, "sleeps", "holds the worker") >= 8 * LONG, "{path:#}");
        let slept = spent(&path, "sleeps", |spent| matches!(spent, Spent::Waited(Some(Wait::Sleep), _)));
        assert!(slept <= 12 * LONG, "{path:#}");
        let delays = recording().delays();
        let longest = delays.iter().find(|delay| delay.thread.name() == Some("sleeps"));
        assert!(longest.is_some_and(|delay| delay.waited >= 8 * LONG), "{delays:?}");
        let metrics = lamprey::Handle::current().unwrap().metrics();
        assert!(u128::from(metrics.workers[0].wake_to_run.largest()) >= (8 * LONG).as_nanos());
    });
}

/// Worker 1, which has nothing to do, looks again and again at what was sent to worker 0.
#[test]
fn a_wake_for_a_worker_that_computes_is_told_once() {
    run(2, || {
        let (tx, rx) = channel::<()>();
        let on = |worker, name: &str| Builder::new().worker(worker).name(name);
        let woken = on(0, "is woken").spawn(move || {
            let begun = Instant::now();
            rx.recv().unwrap();
            why_since(begun)
        });
        let woken = woken.unwrap();
        until_it_waits("is woken", Wait::Recv);
        let (is_held, end) = (Arc::new(AtomicBool::new(false)), Arc::new(OnceLock::new()));
        let (holds, until) = (is_held.clone(), end.clone());
        let holder = on(0, "holds the worker").spawn(move || {
            holds.store(true, Ordering::Relaxed);
            compute_until(*until.wait());
        });
        let sender = on(1, "sends").spawn(move || {
            while !is_held.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(1));
            }
            tx.send(()).unwrap();
            end.set(Instant::now() + 10 * LONG).unwrap();
        });
        [holder, sender].into_iter().for_each(|host| host.unwrap().join().unwrap());
        let path = woken.join().unwrap();
        assert!(behind(&path, "is woken", "holds the worker") >= 8 * LONG, "{path:#}");
        let recording = recording();
        let is_sent =
            |what: &What| matches!(what, What::Sent { thread, .. } if thread.name() == Some("is woken"));
        // Once at its start, and once when it is woken.
        let sent = recording.steps().filter(|step| is_sent(&step.what)).count();
        assert!((1..=2).contains(&sent), "sent {sent} times");
        let delays = recording.delays();
        let longest = delays.iter().find(|delay| delay.thread.name() == Some("is woken"));
        assert!(longest.is_some_and(|delay| delay.waited >= 8 * LONG), "{delays:?}");
    });
}

#[test]
fn who_waits_for_its_turn_is_told_behind_whom() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let late = named("comes late", move || {
            let begun = Instant::now();
            assert_eq!(rx.recv(), Ok(1));
            why_since(begun)
        });
        yield_now(); // it begins, and waits
        tx.send(1).unwrap();
        compute(LONG);
        let path = late.join().unwrap();
        let behind = path.segments().iter().find_map(|segment| match &segment.spent {
            Spent::Ready(behind) if segment.thread.name() == Some("comes late") => behind.clone(),
            _ => None,
        });
        let Some((other, length)) = behind else { panic!("{path:#}") };
        assert!(other.name() == Some("main") && length >= LONG * 9 / 10, "{path:#}");
    });
}

#[test]
fn a_socket_is_waited_for_until_the_kernel_has_it() {
    run(1, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (awaited, is_awaited) = std::sync::mpsc::channel();
        // A kernel thread of which the runtime knows nothing.
        let server = std::thread::spawn(move || {
            let mut client = std::net::TcpStream::connect(address).unwrap();
            is_awaited.recv().unwrap();
            client.write_all(b"x").unwrap();
        });
        let mut stream: TcpStream = listener.accept().unwrap().0;
        let (tx, rx) = channel::<u8>();
        let begun = Instant::now();
        let reader = named("reads the socket", move || {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            tx.send(byte[0]).unwrap();
        });
        until_it_waits("reads the socket", Wait::SocketRead);
        awaited.send(()).unwrap();
        assert_eq!(rx.recv(), Ok(b'x'));
        let path = why_since(begun);
        let read = spent(&path, "reads the socket", |spent| {
            matches!(spent, Spent::Waited(Some(Wait::SocketRead), Some(Cause::Wake)))
        });
        assert!(!read.is_zero(), "{path:#}");
        assert!(path.to_string().contains(", until the kernel had it"), "{path}");
        reader.join().unwrap();
        block(|| server.join().unwrap());
    });
}

#[test]
fn parasites_are_on_the_path() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let (answer, answers) = channel::<u32>();
        let other = answer.clone();
        let rx_of_other = rx.clone();
        let stackless = Builder::new()
            .name("a stackless one")
            .parasite(async move { answer.send_async(rx.recv_async().await.unwrap()).await.unwrap() })
            .unwrap();
        let stackful = Builder::new()
            .name("a stackful one")
            .parasite_fn(move || other.send(rx_of_other.recv().unwrap()).unwrap())
            .unwrap();
        for n in 0..2 {
            let begun = Instant::now();
            let theirs = tx.clone();
            let first = named("asks", move || {
                sleep(LONG);
                theirs.send(n).unwrap();
            });
            assert_eq!(answers.recv(), Ok(n));
            let path = why_since(begun);
            let names = names(&path);
            assert!(names.contains(&"asks"), "{path:#}");
            assert!(names.contains(&"a stackless one") || names.contains(&"a stackful one"), "{path:#}");
            assert!(!has_gap(&path), "{path:#}");
            first.join().unwrap();
        }
        stackless.join().unwrap();
        stackful.join().unwrap();
    });
}

#[test]
fn a_parasite_that_has_never_blocked_is_its_host() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let begun = Instant::now();
        let sender = named("has parasites", move || {
            let (first, second) = (tx.clone(), tx);
            compute(LONG);
            parasite_fn(move || first.send(1).unwrap()).join().unwrap();
            parasite(async move { second.send_async(2).await.unwrap() }).join().unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        let path = why_since(begun);
        let ran = spent(&path, "has parasites", |spent| matches!(spent, Spent::Ran));
        assert!(ran >= LONG * 9 / 10, "{path:#}");
        assert_eq!(rx.recv(), Ok(2));
        let path = why_since(begun);
        assert!(!has_gap(&path), "{path:#}");
        sender.join().unwrap();
    });
}

#[test]
fn a_path_goes_from_worker_to_worker() {
    run(2, || {
        let (tx, rx) = channel::<u32>();
        let begun = Instant::now();
        let there = Builder::new().name("on worker one").worker(1).spawn(move || {
            until_it_waits("on worker zero", Wait::Recv);
            sleep(LONG);
            tx.send(3).unwrap();
        });
        let here = Builder::new().name("on worker zero").worker(0).spawn(move || {
            assert_eq!(rx.recv(), Ok(3));
            why_since(begun)
        });
        let path = here.unwrap().join().unwrap();
        let slept =
            spent(&path, "on worker one", |spent| matches!(spent, Spent::Waited(Some(Wait::Sleep), _)));
        assert!(slept >= LONG * 9 / 10, "{path:#}");
        assert!(!has_gap(&path), "{path:#}");
        there.unwrap().join().unwrap();
    });
}

#[test]
fn a_wait_that_has_not_ended_is_told_as_far_as_it_goes() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let waits = named("still waits", move || rx.recv());
        sleep(LONG);
        let path = recording().why(waits.id(), ..);
        let waited =
            spent(&path, "still waits", |spent| matches!(spent, Spent::Waited(Some(Wait::Recv), None)));
        assert!(waited >= LONG * 9 / 10, "{path:#}");
        tx.send(1).unwrap();
        waits.join().unwrap().unwrap();
    });
}

#[test]
fn a_path_through_a_gap_says_so() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let begun = Instant::now();
        let busy = named("busy", move || rx.iter().count());
        for n in 0..200_000 {
            tx.send(n).unwrap();
        }
        drop(tx);
        assert_eq!(busy.join().unwrap(), 200_000);
        let path = why_since(begun);
        // On a machine on which each step takes microseconds all are recorded, and the first ones overwritten.
        assert!(has_gap(&path), "{path}");
        let text = path.to_string();
        assert!(text.contains("not recorded") && text.contains("The last 40 of"), "{text}");
    });
}

#[test]
fn a_full_recorder_says_how_far_it_reaches_back() {
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(1).recorder(64).build().unwrap();
        runtime.run(|| {
            let begun = Instant::now();
            for _ in 0..1000 {
                block(|| ());
            }
            let path = why_since(begun);
            assert!(matches!(path.segments()[0].spent, Spent::NotRecorded), "{path:#}");
        });
    });
}

#[test]
fn a_thread_of_which_nothing_is_recorded_has_no_path() {
    run(1, || {
        let path = recording().why(u64::MAX, ..);
        assert!(path.thread().is_none() && path.segments().is_empty());
        assert!(path.to_string().starts_with("nothing is recorded of this thread: "), "{path}");
    });
}

#[cfg(feature = "live")]
#[test]
fn the_endpoint_tells_why() {
    run(1, || {
        let server = lamprey::inspect::serve("127.0.0.1:0").unwrap();
        let address = server.addr();
        let get = |query: String| {
            block(move || {
                let mut client = std::net::TcpStream::connect(address).unwrap();
                let head =
                    format!("GET /api/v1/{query} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
                client.write_all(head.as_bytes()).unwrap();
                let mut answer = String::new();
                client.read_to_string(&mut answer).unwrap();
                answer
            })
        };
        let (tx, rx) = channel::<u32>();
        let waits = named("asked about", move || rx.recv());
        yield_now();
        // Threads of other tests have the same numbers, and runtimes are counted among those that there are: one that ends between the
        // two questions gives its number to the next.
        let start = Instant::now();
        loop {
            let rows = get("threads?search=asked%20about".to_owned());
            let runtime = rows.split("\"runtime\":").nth(1).unwrap_or_else(|| panic!("{rows}"));
            let runtime: usize = runtime[..runtime.find([',', '}']).unwrap()].parse().unwrap();
            let answer = get(format!("recording?format=why&thread={}&runtime={runtime}", waits.id()));
            if answer.contains(" 200 ") && answer.contains("`asked about` waited: receive on a channel") {
                break;
            }
            assert!(start.elapsed() < FOREVER, "{answer}");
        }
        let answer = get("recording?format=why".to_owned());
        assert!(answer.contains(" 400 ") && answer.contains("thread=ID"), "{answer}");
        drop(tx);
        assert!(waits.join().unwrap().is_err());
    });
}
