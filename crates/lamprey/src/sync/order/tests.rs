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

/// True if the checks regard the lock as held by the calling thread.
fn is_held(id: &Id) -> bool {
    catch_unwind(AssertUnwindSafe(|| id.before_code(here()))).is_err()
}

#[test]
fn what_the_thread_holds_is_not_waited_for_and_another_may_wait() {
    let id = Id::new();
    lock(&id);
    assert!(is_held(&id));
    assert!(thread::scope(|scope| scope.spawn(|| !is_held(&id)).join().unwrap()));
    id.unlocked();
    assert!(!is_held(&id));
}

#[test]
fn a_guard_that_ends_on_another_thread_is_not_held_here_any_more() {
    let id = Id::new();
    lock(&id);
    thread::scope(|scope| scope.spawn(|| id.unlocked()).join().unwrap());
    assert!(!is_held(&id));
    let shared = id.locked_shared(here());
    assert!(is_held(&id));
    thread::scope(|scope| scope.spawn(|| drop(shared)).join().unwrap());
    assert!(!is_held(&id));
}

#[test]
fn a_lock_that_is_dropped_while_it_is_held_is_not_taken_for_a_later_one() {
    let first = Id::new();
    lock(&first);
    drop(first);
    assert!(!is_held(&Id::new()));
}

#[test]
fn locks_that_are_dropped_leave_nothing_in_the_graph() {
    // The graph is shared by the process: the numbers distinguish these locks from those of other tests.
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
    assert_eq!(graph::neighbours_of(outer.number()), Vec::<usize>::new());
}
