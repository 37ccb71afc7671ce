use super::watched::Id;
use super::{Site, graph};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::thread;

#[track_caller]
fn here() -> Site {
    Location::caller()
}

#[track_caller]
fn lock(id: &Id) {
    id.before_lock(here());
    id.locked(here());
}

#[track_caller]
fn panics(f: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(f)).expect_err("no panic");
    *payload.downcast::<String>().unwrap()
}

#[test]
fn a_lock_that_the_thread_holds_is_not_waited_for() {
    let id = Id::new();
    lock(&id);
    let (line, text) = (line!(), panics(|| lock(&id)));
    let site = |line: u32| format!("order/tests.rs:{line}:");
    assert!(text.contains(&site(line)) && text.contains(&site(line - 1)), "{text}");
    // Another thread may wait for it; and this one once it has let go.
    thread::scope(|scope| scope.spawn(|| id.before_lock(here())).join().unwrap());
    id.unlocked();
    lock(&id);
}

#[test]
fn a_guard_that_ends_on_another_thread_is_not_held_here_any_more() {
    let id = Id::new();
    lock(&id);
    thread::scope(|scope| scope.spawn(|| id.unlocked()).join().unwrap());
    lock(&id);
    id.unlocked();
    let shared = id.locked_shared(here());
    thread::scope(|scope| scope.spawn(|| drop(shared)).join().unwrap());
    lock(&id);
}

#[test]
fn a_lock_that_is_dropped_while_it_is_held_is_not_taken_for_a_later_one() {
    let first = Id::new();
    lock(&first);
    drop(first);
    let second = Id::new();
    lock(&second);
}

#[test]
fn who_reads_may_not_write_as_well() {
    let id = Id::new();
    id.before_shared(here());
    let shared = id.locked_shared(here());
    panics(|| id.before_lock(here()));
    drop(shared);
    lock(&id);
    panics(|| id.before_shared(here()));
}

#[test]
fn locks_that_are_dropped_leave_nothing_in_the_graph() {
    // The graph is the process's: these are told from those of other tests by their number.
    let outer = Id::new();
    lock(&outer);
    let mut numbers = Vec::new();
    for _ in 0..100 {
        let inner = Id::new();
        lock(&inner);
        numbers.extend(graph::neighbours_of(inner.number()));
        inner.unlocked();
    }
    assert_eq!(numbers, [outer.number(); 100]);
    assert_eq!(graph::neighbours_of(outer.number()), []);
}
