//! The ring of the recorder: what a reader has copied beside the writer is whole, and in order.

use super::{Broken, check, must_fail};
use crate::sched::record::ring::{Copied, Ring};
use crate::sync_shim::{Arc, thread};

/// A writer that goes once around a ring of two, and a reader.
fn read_beside_the_writer() {
    let ring = Arc::new(Ring::new(2));
    ring.push([0, !0]);
    let theirs = ring.clone();
    let writer = thread::spawn(move || (1..4).for_each(|number| theirs.push([number, !number])));
    let Copied { notes, overwritten } = ring.copy();
    for (number, note) in (overwritten..).zip(notes) {
        assert_eq!(note, [number, !number]);
    }
    writer.join().unwrap();
    assert_eq!(ring.copy().notes, [[3, !3]]);
}

#[test]
fn what_is_copied_is_whole_and_in_order() {
    check(read_beside_the_writer);
}

#[test]
fn without_the_second_look_it_is_caught() {
    must_fail(Broken::RecordLook, read_beside_the_writer);
}

#[test]
fn without_the_fences_it_is_caught() {
    must_fail(Broken::Fence, read_beside_the_writer);
}
