//! The slab against a naive book of what is out, and at its moments. Runs under miri, except for what looks at the memory
//! of the process.

use super::class::{CLASSES, HUGE, class_of, size_of_class};
use super::{Slab, owner_of};
use std::alloc::Layout;
use std::collections::BTreeMap;
use std::ptr::{self, NonNull};

const STEPS: usize = if cfg!(miri) { 400 } else { 40_000 };

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// A slab whose owner word is `word`.
fn slab(word: usize) -> Slab {
    unsafe fn nothing(_: *const ()) {}
    Slab::new(ptr::without_provenance(word), nothing)
}

/// Takes a block and marks it with a word of its own.
fn take(slab: &Slab, layout: Layout) -> NonNull<u8> {
    let block = slab.take(layout).expect("there is memory");
    mark(block);
    block
}

fn mark(block: NonNull<u8>) {
    let mark = ptr::without_provenance_mut::<()>(block.addr().get() ^ 1);
    // SAFETY: every block has two words.
    unsafe { block.cast::<*mut ()>().add(1).write(mark) };
}

fn live(slab: &Slab) -> Vec<NonNull<u8>> {
    let mut all = Vec::new();
    slab.each_live(|block| all.push(block));
    all.sort();
    all
}

/// What is out: each block with its layout and the byte that it is filled with behind its first two words.
#[derive(Default)]
struct Book(BTreeMap<NonNull<u8>, (Layout, u8)>);

impl Book {
    fn take(&mut self, slab: &Slab, layout: Layout, byte: u8) {
        let block = take(slab, layout);
        let address = block.addr().get();
        assert!(address.is_multiple_of(layout.align()), "{layout:?} at {address:#x}");
        if let Some((before, (other, _))) = self.0.range(..block).next_back() {
            assert!(before.addr().get() + other.size().max(16) <= address, "overlaps the one below");
        }
        if let Some((after, _)) = self.0.range(block..).next() {
            assert!(address + layout.size().max(16) <= after.addr().get(), "overlaps the one above");
        }
        // SAFETY: as large as its layout.
        unsafe { block.add(16.min(layout.size())).write_bytes(byte, layout.size().saturating_sub(16)) };
        self.0.insert(block, (layout, byte));
    }

    /// Takes a block out of the book, any; checks that nobody wrote into it.
    fn pick(&mut self, random: &mut fastrand::Rng) -> Option<(NonNull<u8>, Layout)> {
        let at = random.usize(..self.0.len().max(1));
        let block = *self.0.keys().nth(at)?;
        let (layout, byte) = self.0.remove(&block).unwrap();
        for at in 16..layout.size() {
            // SAFETY: within the block, written above.
            assert_eq!(unsafe { block.add(at).read() }, byte, "byte {at} of {layout:?} was overwritten");
        }
        Some((block, layout))
    }

    fn check(&self, slab: &Slab) {
        assert_eq!(live(slab), self.0.keys().copied().collect::<Vec<_>>());
    }
}

fn any_layout(random: &mut fastrand::Rng) -> Layout {
    let align = 1 << random.u32(..8);
    let size = match random.u32(..100) {
        0..80 => random.usize(1..=600),
        80..95 => random.usize(600..=9000),
        95..98 => random.usize(9000..=70_000),
        98 => random.usize(70_000..=200_000),
        _ => return layout(random.usize(1..=9000), 1 << random.u32(8..18)),
    };
    layout(size, align)
}

#[test]
fn the_slab_agrees_with_a_naive_book() {
    for seed in 0..if cfg!(miri) { 2 } else { 20 } {
        let (random, slab, mut book) = (&mut fastrand::Rng::with_seed(seed), slab(8), Book::default());
        for step in 0..STEPS {
            // Grows and shrinks in turn.
            if random.u32(..10) < if step / (STEPS / 5) % 2 == 0 { 7 } else { 3 } {
                book.take(&slab, any_layout(random), step as u8);
            } else if let Some((block, layout)) = book.pick(random) {
                // SAFETY: out, with this layout.
                unsafe { slab.give(block, layout) };
            }
            if step % (STEPS / 10) == 0 {
                book.check(&slab);
                slab.trim();
                book.check(&slab);
            }
        }
        while let Some((block, layout)) = book.pick(random) {
            // SAFETY: as above.
            unsafe { slab.give(block, layout) };
        }
        book.check(&slab);
        slab.trim();
        assert_eq!(slab.bytes(), 0, "seed {seed}");
    }
}

#[test]
fn a_class_wastes_at_most_an_eighth() {
    for size in 16..=8192 {
        let class = class_of(layout(size, 8));
        assert!(size_of_class(class) >= size);
        assert!(size_of_class(class) - size <= if size <= 512 { 7 } else { size / 8 }, "{size}: {class}");
    }
    assert_eq!(class_of(layout(65_408, 1)), CLASSES - 1);
    assert_eq!(class_of(layout(65_409, 1)), HUGE);
    assert_eq!(class_of(layout(64, 256)), HUGE);
    assert_eq!(size_of_class(class_of(layout(88, 8))), 88);
    assert_eq!(size_of_class(class_of(layout(88, 16))), 96);
}

#[test]
fn the_owner_is_found_from_every_size_and_alignment() {
    let slab = slab(0x1238);
    for align in (0..22).map(|bits| 1 << bits) {
        for size in [0, 1, 16, 88, 4096, 8192, 8193, 65_408, 65_409, 300_000] {
            let layout = layout(size, align);
            let block = take(&slab, layout);
            assert!(block.addr().get().is_multiple_of(align));
            // SAFETY: out; the last byte is within the block.
            unsafe {
                block.add(size.max(16) - 1).write(7);
                assert_eq!(owner_of(block).addr(), 0x1238, "{layout:?}");
                slab.give(block, layout);
            }
        }
    }
}

#[test]
fn the_block_given_last_is_taken_first() {
    let (slab, layout) = (slab(8), layout(88, 8));
    let (one, two) = (take(&slab, layout), take(&slab, layout));
    // SAFETY: both are out.
    unsafe { [one, two].into_iter().for_each(|block| slab.give(block, layout)) };
    assert_eq!((take(&slab, layout), take(&slab, layout)), (two, one));
}

#[test]
fn blocks_may_come_and_go_while_they_are_enumerated() {
    let (slab, small, huge) = (slab(8), layout(88, 8), layout(100_000, 8));
    let mut out: BTreeMap<_, _> =
        (0..100).map(|at| if at % 10 == 0 { huge } else { small }).map(|l| (take(&slab, l), l)).collect();
    let mut met = 0;
    slab.each_live(|block| {
        met += 1;
        if let Some(layout) = out.remove(&block) {
            // SAFETY: out until here.
            unsafe { slab.give(block, layout) };
            // Another one that may have been met or not, and a new one of each kind.
            if let Some((other, layout)) = out.pop_last() {
                // SAFETY: as above.
                unsafe { slab.give(other, layout) };
            }
            if met < 30 {
                [small, huge].into_iter().for_each(|layout| mark(slab.take(layout).unwrap()));
            }
        }
    });
    assert!(out.is_empty(), "{} were not met", out.len());
}
