//! Where threads come from: parents and scopes.

use crate::common::run;
use lamprey::inspect::{ThreadRow, threads};
use lamprey::{Builder, Wait, channel, current, parasite, parasite_fn, scope, spawn, yield_now};

/// The row of the thread of that name, once it waits.
fn row_of(name: &str) -> ThreadRow {
    loop {
        let is_it = |row: &ThreadRow| row.thread().name() == Some(name) && row.wait().is_some();
        if let Some(row) = threads().into_iter().find(is_it) {
            return row;
        }
        yield_now();
    }
}

#[test]
fn a_host_has_the_parent_that_has_spawned_it() {
    run(2, || {
        let me = current().id();
        let (tx, rx) = channel::<u8>();
        let child = Builder::new().name("its child").spawn(move || rx.recv().is_err()).unwrap();
        let row = row_of("its child");
        let parent = row.parent().unwrap();
        assert_eq!(parent.id(), me);
        assert_eq!(parent.thread().unwrap().id(), me);
        assert!(row.scope().is_none());
        drop(tx);
        assert!(child.join().unwrap());
    });
}

#[test]
fn a_parent_that_has_ended_is_known_by_its_number() {
    run(2, || {
        let (tx, rx) = channel::<u8>();
        let parent = spawn(move || {
            drop(Builder::new().name("an orphan").spawn(move || rx.recv()).unwrap());
            current().id()
        });
        let parent = parent.join().unwrap();
        let row = row_of("an orphan");
        assert_eq!(row.parent().unwrap().id(), parent);
        assert!(row.parent().unwrap().thread().is_none());
        assert!(row.parent().unwrap().to_string().ends_with("which has ended"));
        drop(tx);
    });
}

#[test]
fn a_stackful_parasite_has_a_parent() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        let me = current().id();
        let child = parasite_fn(move || rx.recv().is_err());
        let is_mine = |row: &ThreadRow| row.parent().is_some_and(|parent| parent.id() == me);
        assert!(threads().iter().any(|row| is_mine(row) && row.wait() == Some(Wait::Recv)));
        drop(tx);
        assert!(child.join().unwrap());
    });
}

#[test]
fn what_a_parasite_spawns_has_it_as_its_parent_in_builds_with_debug_assertions() {
    run(1, || {
        let (tx, rx) = channel::<u8>();
        let (ids, id) = channel();
        let theirs = rx.clone();
        let spawner = parasite(async move {
            drop(Builder::new().name("of a parasite").spawn(move || theirs.recv()).unwrap());
            ids.send_async(current().id()).await.unwrap();
            rx.recv_async().await.unwrap_err();
        });
        let spawned_by = id.recv().unwrap();
        let parent = row_of("of a parasite").parent().map(|parent| parent.id());
        assert_eq!(parent, cfg!(debug_assertions).then_some(spawned_by));
        drop(tx);
        spawner.join().unwrap();
    });
}

#[test]
fn children_of_a_scope_name_it_and_its_owner() {
    run(2, || {
        let me = current().id();
        let (tx, rx) = channel::<u8>();
        let outer = rx.clone();
        let outside = Builder::new().name("of no scope").spawn(move || outer.recv().is_err()).unwrap();
        scope(|outer| {
            let inner = rx.clone();
            outer
                .spawn_with(Builder::new().name("child one"), move || {
                    scope(|s| {
                        let rx = inner.clone();
                        s.spawn_with(Builder::new().name("grandchild"), move || rx.recv().is_err()).unwrap();
                    });
                })
                .unwrap();
            let theirs = rx.clone();
            outer.spawn_with(Builder::new().name("child two"), move || theirs.recv().is_err()).unwrap();
            let (one, two, grandchild) = (row_of("child one"), row_of("child two"), row_of("grandchild"));
            let of_one = one.scope().unwrap();
            assert_eq!(Some(of_one), two.scope());
            assert_eq!(of_one.owner(), Some(me));
            assert!(of_one.site().file().ends_with("origins.rs"));
            let of_grandchild = grandchild.scope().unwrap();
            assert_ne!(of_grandchild.id(), of_one.id());
            assert_eq!(of_grandchild.owner(), Some(one.thread().id()));
            assert_eq!(grandchild.parent().unwrap().id(), one.thread().id());
            assert_eq!(row_of("of no scope").scope(), None);
            drop(tx);
        });
        assert!(outside.join().unwrap());
    });
}
