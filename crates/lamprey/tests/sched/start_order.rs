//! The order in which hosts start: those of one spawner in the order of their spawns, the children of one that
//! runs before older hosts.

use crate::common::{FOREVER, run, within};
use lamprey::{Sender, channel, scope, spawn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn hosts_start_in_the_order_of_their_spawns() {
    run(1, || {
        let log = Mutex::new(Vec::new());
        scope(|scope| {
            for n in 0..1000 {
                let log = &log;
                scope.spawn(move || log.lock().unwrap().push(n));
            }
        });
        assert_eq!(log.into_inner().unwrap(), (0..1000).collect::<Vec<_>>());
    });
}

#[test]
fn the_children_of_a_host_start_before_older_hosts() {
    run(1, || {
        let log = Arc::new(Mutex::new(Vec::new()));
        let hosts: Vec<_> = (1..=3)
            .map(|n| {
                let log = log.clone();
                spawn(move || {
                    log.lock().unwrap().push(n);
                    scope(|scope| {
                        for child in [10 * n + 1, 10 * n + 2] {
                            let log = &log;
                            scope.spawn(move || log.lock().unwrap().push(child));
                        }
                    });
                })
            })
            .collect();
        hosts.into_iter().for_each(|host| host.join().unwrap());
        assert_eq!(*log.lock().unwrap(), [1, 11, 12, 2, 21, 22, 3, 31, 32]);
    });
}

#[test]
fn an_old_host_starts_although_each_new_one_spawns_another() {
    fn chain(over: Arc<AtomicBool>) {
        if !over.load(Ordering::Relaxed) {
            drop(spawn(move || chain(over)));
        }
    }
    within(FOREVER, || {
        run(1, || {
            let over = Arc::new(AtomicBool::new(false));
            let first = over.clone();
            drop(spawn(move || chain(first)));
            let hosts: Vec<_> = (0..10).map(|_| spawn(|| ())).collect();
            hosts.into_iter().for_each(|host| host.join().unwrap());
            over.store(true, Ordering::Relaxed);
        });
    });
}

/// A tree of hosts; counts those that have started and not ended, now and at most.
fn tree(leaves: usize, out: &Sender<usize>, alive: &Arc<[AtomicUsize; 2]>) {
    let now = alive[0].fetch_add(1, Ordering::Relaxed) + 1;
    alive[1].fetch_max(now, Ordering::Relaxed);
    if leaves == 1 {
        out.send(1).unwrap();
    } else {
        let (tx, rx) = channel();
        for _ in 0..10 {
            let (tx, alive) = (tx.clone(), alive.clone());
            drop(spawn(move || tree(leaves / 10, &tx, &alive)));
        }
        out.send((0..10).map(|_| rx.recv().unwrap()).sum()).unwrap();
    }
    alive[0].fetch_sub(1, Ordering::Relaxed);
}

#[test]
fn a_tree_of_hosts_runs_depth_first() {
    run(1, || {
        let alive = Arc::<[AtomicUsize; 2]>::default();
        let (tx, rx) = channel();
        let theirs = alive.clone();
        drop(spawn(move || tree(10_000, &tx, &theirs)));
        assert_eq!(rx.recv().unwrap(), 10_000);
        let most = alive[1].load(Ordering::Relaxed);
        // All the 1111 inner nodes, if the oldest started first.
        assert!(most < 300, "{most} of 11,111 at a time");
    });
}
