//! `stacks`: each spawn site has what its own threads have used, though stacks are used again.

use crate::common::{run, runtime};
use lamprey::inspect::{StackUse, Stacks, stacks};
use lamprey::{Builder, ThreadKind, channel, parasite_fn, spawn, yield_now};
use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const KIB: usize = 1 << 10;
/// What code takes that does nothing much, unoptimised or under a sanitizer.
const LITTLE: usize = 40 * KIB;

/// Touches `KIBS` of stack, and returns.
#[inline(never)]
fn dig<const KIBS: usize>() {
    let mut hole = [[0_u8; KIB]; KIBS];
    black_box(&mut hole).iter_mut().for_each(|piece| piece[7] = 1);
    black_box(&hole);
}

fn row(stacks: &Stacks, line: u32) -> StackUse {
    let is_there = |row: &&StackUse| {
        row.spawn_site().is_some_and(|site| site.file().ends_with("inspect/stacks.rs") && site.line() == line)
    };
    *stacks.rows().iter().find(is_there).unwrap_or_else(|| panic!("nothing of line {line} in: {stacks}"))
}

#[test]
fn a_site_has_what_its_own_hosts_have_used() {
    run(1, || {
        let sized = || Builder::new().stack_size(256 * KIB);
        for _ in 0..5 {
            let deep = sized().spawn(dig::<140>).unwrap();
            deep.join().unwrap();
            // On the stack of the one before.
            let shallow = sized().spawn(dig::<1>).unwrap();
            shallow.join().unwrap();
        }
        let stacks = stacks();
        let (deep, shallow) = (row(&stacks, line!() - 7), row(&stacks, line!() - 4));
        assert!((140 * KIB..140 * KIB + LITTLE).contains(deep.used().start()), "{stacks}");
        assert!((140 * KIB..140 * KIB + LITTLE).contains(deep.used().end()), "{stacks}");
        assert!(*shallow.used().end() < LITTLE, "{stacks}");
        assert_eq!((deep.measured(), deep.threads(), deep.is_bound()), (5, 0, false), "{stacks}");
        assert_eq!((deep.asked(), deep.would_do()), (256 * KIB, 512 * KIB), "{stacks}");
        assert!([16 * KIB, 64 * KIB, 256 * KIB].contains(&shallow.would_do()), "{stacks}");
        let text = stacks.to_string();
        assert!(text.contains(" KiB used (of 5 measured), 512 KiB would do"), "{text}");
        // The one with the least room comes first.
        let place = |one: &StackUse| stacks.rows().iter().position(|row| row.to_string() == one.to_string());
        assert!(place(&deep) < place(&shallow), "{text}");
    });
}

#[test]
fn those_that_are_there_count_too() {
    for workers in [1, 2] {
        run(workers, move || {
            let (tx, rx) = channel::<u32>();
            let waits = |rx: lamprey::Receiver<u32>| {
                dig::<60>();
                rx.recv()
            };
            let hosts: Vec<_> = (0..500)
                .map(|_| {
                    let rx = rx.clone();
                    Builder::new().stack_size(300 * KIB).spawn(move || waits(rx)).unwrap()
                })
                .collect();
            let line = line!() - 3;
            let all = loop {
                yield_now();
                let stacks = stacks();
                let is_there = stacks.rows().iter().any(|row| row.threads() == 500);
                if is_there && *row(&stacks, line).used().start() >= 60 * KIB {
                    break row(&stacks, line);
                }
            };
            assert!(*all.used().end() < 60 * KIB + LITTLE, "{all}");
            assert!(all.measured() >= 20 && all.measured() < 500, "some are measured: {all}");
            drop((tx, rx));
            hosts.into_iter().for_each(|host| _ = host.join().unwrap().unwrap_err());
            let stacks = stacks();
            assert_eq!(row(&stacks, line).threads(), 0, "{stacks}");
            assert!(*row(&stacks, line).used().start() >= 60 * KIB, "{stacks}");
        });
    }
}

#[test]
fn parasites_with_a_stack_of_their_own_are_measured_and_others_have_a_bound() {
    run(1, || {
        let (tx, rx) = channel::<u32>();
        let wait = |rx: lamprey::Receiver<u32>| {
            dig::<70>();
            rx.recv()
        };
        let theirs = rx.clone();
        let own = Builder::new().stack_size(200 * KIB).parasite_fn(move || wait(theirs)).unwrap();
        let theirs = rx.clone();
        let other = parasite_fn(move || wait(theirs));
        let stacks = stacks();
        let (own_row, other_row) = (row(&stacks, line!() - 4), row(&stacks, line!() - 2));
        assert_eq!((own_row.kind(), own_row.is_bound()), (ThreadKind::Parasite, false), "{stacks}");
        assert!((70 * KIB..70 * KIB + LITTLE).contains(own_row.used().end()), "{stacks}");
        assert!(other_row.is_bound() && *other_row.used().end() >= 70 * KIB, "{stacks}");
        assert!(other_row.to_string().contains("1 parasite spawned at"), "{stacks}");
        assert!(other_row.to_string().contains("at most "), "{stacks}");
        drop((tx, rx));
        own.join().unwrap().unwrap_err();
        other.join().unwrap().unwrap_err();
    });
}

/// A worker that computes does not answer; what has ended on it is known all the same.
#[test]
fn a_worker_that_computes_is_left_out() {
    let runtime = runtime(1);
    let handle = runtime.handle();
    let is_over = Arc::new(AtomicBool::new(false));
    let over = is_over.clone();
    handle.spawn(dig::<30>).join().unwrap();
    let line = line!() - 1;
    let computes = handle.spawn(move || {
        while !over.load(Ordering::Relaxed) {
            spin_loop();
        }
    });
    let found = loop {
        let found = stacks();
        // Its runtime is one of several of this process.
        if found.silent_workers() > 0 {
            break found;
        }
    };
    is_over.store(true, Ordering::Relaxed);
    computes.join().unwrap();
    assert!(*row(&found, line).used().end() >= 30 * KIB, "{found}");
    assert!(found.to_string().contains("answered)"), "{found}");
}

#[test]
fn many_hosts_are_counted_from_several_threads() {
    const HOSTS: usize = 20_000;
    run(2, || {
        let (tx, rx) = channel::<u32>();
        let hosts: Vec<_> = (0..HOSTS)
            .map(|_| {
                let rx = rx.clone();
                spawn(move || rx.recv())
            })
            .collect();
        let line = line!() - 3;
        let asks = [(); 4].map(|()| spawn(move || while row(&stacks(), line).threads() != HOSTS {}));
        asks.into_iter().for_each(|ask| ask.join().unwrap());
        drop((tx, rx));
        hosts.into_iter().for_each(|host| _ = host.join().unwrap().unwrap_err());
    });
}
