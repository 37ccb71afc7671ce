//! A child that is made while its parent looks up symbols for a report.

use crate::common::{rerun, role};
use crate::{fork, io_of, on_own, runtime_on, with_each};
use lamprey::inspect::dump;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn a_child_prints_a_dump_while_its_parent_prints_one() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_child_prints_a_dump_while_its_parent_prints_one", name));
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    let (_tx, rx) = lamprey::channel::<u8>();
    let waits = runtime.run(|| lamprey::spawn(move || rx.recv()));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        // Relaxed: a flag.
        let prints = || {
            while !stop.load(Ordering::Relaxed) {
                assert!(!dump().to_string().is_empty());
            }
        };
        scope.spawn(prints);
        for _ in 0..12 {
            let child = fork(|| {
                on_own(io, || assert!(!dump().to_string().is_empty()));
            });
            child.must_be_good("dump");
        }
        stop.store(true, Ordering::Relaxed);
    });
    waits.cancel();
}
