//! Host-local values.

use crate::common::{Counted, count, counter, run, runtime, tick};
use lamprey::{JoinError, ThreadKind, host_local, sleep, spawn, yield_now};
use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, mpsc};
use std::time::Duration;

host_local! {
    static NUMBER: Cell<u64> = Cell::new(1);
    static TEXT: RefCell<String> = RefCell::new("new".to_owned());
    static HELD: RefCell<Vec<Counted>> = RefCell::default();
}

#[test]
fn each_host_has_its_own_across_blocking() {
    run(2, || {
        let hosts: Vec<_> = (0..50_u64)
            .map(|n| {
                spawn(move || {
                    assert_eq!(NUMBER.with(Cell::get), 1);
                    NUMBER.with(|number| number.set(n));
                    for _ in 0..10 {
                        yield_now();
                        sleep(Duration::from_micros(50));
                        assert_eq!(NUMBER.with(Cell::get), n);
                    }
                    TEXT.with_borrow(String::clone)
                })
            })
            .collect();
        assert!(hosts.into_iter().all(|host| host.join().unwrap() == "new"));
    });
}

trait WithBorrow {
    fn with_borrow<R>(&'static self, f: impl FnOnce(&String) -> R) -> R;
}

impl WithBorrow for lamprey::HostLocal<RefCell<String>> {
    fn with_borrow<R>(&'static self, f: impl FnOnce(&String) -> R) -> R {
        self.with(|cell| f(&cell.borrow()))
    }
}

#[test]
fn a_borrow_lives_across_a_switch() {
    run(1, || {
        let hosts: Vec<_> = (0..10)
            .map(|n| {
                spawn(move || {
                    TEXT.with(|text| {
                        text.borrow_mut().push_str(&n.to_string());
                        let held = text.borrow();
                        yield_now();
                        // Other keys while this one is borrowed, which may move the table.
                        NUMBER.with(|number| number.set(n));
                        assert_eq!(*held, format!("new{n}"));
                    });
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
    });
}

#[test]
fn os_threads_have_their_own() {
    NUMBER.with(|number| number.set(5));
    assert_eq!(std::thread::spawn(|| NUMBER.with(Cell::get)).join().unwrap(), 1);
    assert_eq!(run(1, || NUMBER.with(Cell::get)), 1);
    assert_eq!(NUMBER.with(Cell::get), 5);
}

#[test]
fn values_are_dropped_before_the_joiner_wakes() {
    let drops = counter();
    let theirs = drops.clone();
    run(1, move || {
        let ours = theirs.clone();
        spawn(move || HELD.with(|held| held.borrow_mut().push(Counted(ours)))).join().unwrap();
        assert_eq!(count(&theirs), 1);
    });
}

#[test]
fn values_are_dropped_after_a_panic_and_after_a_cancellation() {
    let drops = counter();
    let put = |drops: &Arc<AtomicUsize>| HELD.with(|held| held.borrow_mut().push(Counted(drops.clone())));
    let theirs = drops.clone();
    run(1, move || {
        let host = spawn(move || {
            put(&theirs);
            panic!("with a value");
        });
        let _: () = host.join().map_err(drop).unwrap_err();
    });
    assert_eq!(count(&drops), 1);
    let runtime = runtime(1);
    let (begun, theirs) = (counter(), drops.clone());
    let start = begun.clone();
    let host = runtime.handle().spawn(move || {
        put(&theirs);
        tick(&start);
        sleep(Duration::MAX);
    });
    crate::common::eventually("its start", || count(&begun) == 1);
    drop(runtime);
    assert!(matches!(host.join(), Err(JoinError::Cancelled(_))));
    assert_eq!(count(&drops), 2);
}

/// Uses a host-local value in its destructor.
struct Leaves(Arc<AtomicUsize>);

impl Drop for Leaves {
    fn drop(&mut self) {
        HELD.with(|held| held.borrow_mut().push(Counted(self.0.clone())));
    }
}

#[test]
fn values_made_by_a_destructor_of_an_unwanted_result_are_dropped() {
    let drops = counter();
    let theirs = drops.clone();
    run(1, move || {
        let result = Leaves(theirs.clone());
        drop(spawn(move || result));
        crate::common::eventually("the drop", || count(&theirs) == 1);
    });
    assert_eq!(count(&drops), 1);
}

#[test]
fn values_made_by_a_destructor_of_a_closure_that_never_ran_are_dropped() {
    let drops = counter();
    let runtime = runtime(1);
    let (let_go, held_up) = std::sync::mpsc::channel::<()>();
    // Holds the worker up, so that the second host is still unstarted when the runtime stops.
    let started = counter();
    let theirs = started.clone();
    let busy = runtime.handle().spawn(move || {
        tick(&theirs);
        let _ = held_up.recv();
    });
    crate::common::eventually("its start", || count(&started) == 1);
    let capture = Leaves(drops.clone());
    let unstarted = runtime.handle().spawn(move || drop(capture));
    let stopper = crate::common::blocked_os(move || drop(runtime));
    drop(let_go);
    stopper.join().unwrap();
    busy.join().unwrap();
    drop(unstarted.join()); // ran or not: a stop that came late let it run
    assert_eq!(count(&drops), 1);
}

thread_local! {
    static ORDER: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) };
}

struct Named(&'static str);

impl Drop for Named {
    fn drop(&mut self) {
        ORDER.with_borrow_mut(|order| order.push(self.0));
        if self.0 == "first" {
            LATE.with(|_| ()); // made while others are being dropped
        }
    }
}

host_local! {
    static FIRST: Named = Named("first");
    static SECOND: Named = Named("second");
    static LATE: Named = Named("late");
}

#[test]
fn destructors_run_in_the_order_of_making_and_may_make_more() {
    run(1, || {
        ORDER.take();
        spawn(|| {
            FIRST.with(|_| ());
            SECOND.with(|_| ());
        })
        .join()
        .unwrap();
        assert_eq!(ORDER.take(), ["first", "second", "late"]);
    });
}

struct Blocks(Arc<AtomicUsize>);

impl Drop for Blocks {
    fn drop(&mut self) {
        sleep(Duration::from_millis(1));
        tick(&self.0);
    }
}

host_local! {
    static BLOCKS: RefCell<Option<Blocks>> = RefCell::default();
}

#[test]
fn a_destructor_may_block() {
    run(1, || {
        let drops = counter();
        let hosts: Vec<_> = (0..10)
            .map(|_| {
                let drops = drops.clone();
                spawn(move || BLOCKS.with(|cell| drop(cell.borrow_mut().replace(Blocks(drops)))))
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(count(&drops), 10);
    });
}

#[test]
fn an_initial_value_may_use_other_keys() {
    host_local! {
        static SUM: u64 = NUMBER.with(Cell::get) + 1;
    }
    run(1, || {
        NUMBER.with(|number| number.set(10));
        assert_eq!(SUM.with(|sum| *sum), 11);
    });
}

/// Says where it is dropped.
struct Says(mpsc::Sender<(ThreadKind, u64)>);

impl Drop for Says {
    fn drop(&mut self) {
        // Whose values those are that it sees.
        let _ = self.0.send((lamprey::current().kind(), NUMBER.with(Cell::get)));
    }
}

host_local! {
    static SAYS: RefCell<Option<Says>> = RefCell::default();
}

#[test]
fn destructors_of_a_parasites_values_run_as_the_parasite() {
    let (tx, rx) = mpsc::channel();
    run(1, move || {
        NUMBER.with(|number| number.set(7));
        for waits in [false, true] {
            let tx = tx.clone();
            let parasite = lamprey::parasite(async move {
                SAYS.with(|says| *says.borrow_mut() = Some(Says(tx)));
                if waits {
                    lamprey::yield_now_async().await;
                }
            });
            parasite.join().unwrap();
        }
    });
    assert_eq!(rx.iter().collect::<Vec<_>>(), [(ThreadKind::Parasite, 1), (ThreadKind::Parasite, 1)]);
}

#[test]
fn values_of_a_parasite_that_starts_as_a_host_are_dropped_before_the_joiner_wakes() {
    let runtime =
        lamprey::Runtime::builder().workers(1).time_slice(Duration::from_millis(1)).build().unwrap();
    runtime.run(|| {
        let kinds = (0..1000).map(|_| {
            // A penalty for its spawner, whose next ones start as hosts.
            let long = || {
                let start = std::time::Instant::now();
                while start.elapsed() < Duration::from_millis(5) {
                    std::hint::spin_loop();
                }
            };
            lamprey::parasite_fn(long).join().unwrap();
            let dropped = counter();
            let theirs = dropped.clone();
            let parasite = lamprey::parasite_fn(move || {
                HELD.with(|held| held.borrow_mut().push(Counted(theirs)));
                lamprey::current().kind()
            });
            let kind = parasite.join().unwrap();
            assert_eq!(count(&dropped), 1, "as {kind:?}");
            kind
        });
        assert!({ kinds }.any(|kind| kind == ThreadKind::Host), "none had to pay");
    });
}

#[test]
fn values_of_an_os_thread_whose_destructors_panic_do_not_end_the_process() {
    host_local! {
        static LOUD: Loud = Loud;
    }
    struct Loud;
    impl Drop for Loud {
        fn drop(&mut self) {
            panic!("a destructor");
        }
    }
    let dropped = counter();
    let theirs = dropped.clone();
    let thread = std::thread::spawn(move || {
        LOUD.with(|_| ());
        HELD.with(|held| held.borrow_mut().push(Counted(theirs)));
    });
    thread.join().unwrap();
    assert_eq!(count(&dropped), 1);
}
