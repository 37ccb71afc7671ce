//! The slab against a simple model of what is out, and in single situations. Runs under miri, except for the
//! tests that measure the memory of the process.

use super::class::{CLASSES, HUGE, class_of, size_of_class};
use super::{Slab, give_from_outside, owner_of};
use std::alloc::Layout;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::ptr::{self, NonNull};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const STEPS: usize = if cfg!(miri) { 200 } else { 40_000 };
/// The bytes of a block that are filled and checked: miri is slow.
const FILLED: usize = if cfg!(miri) { 64 } else { 1 << 20 };

fn layout(size: usize, align: usize) -> Layout {
    Layout::from_size_align(size, align).unwrap()
}

/// A slab whose owner word is `word`.
fn slab(word: usize) -> Slab {
    unsafe fn nothing(_: *const ()) {}
    Slab::new(ptr::without_provenance(word), nothing)
}

/// A slab that counts in its owner word how often it ends.
fn slab_with_end(ends: &Arc<AtomicUsize>) -> Slab {
    unsafe fn count(owner: *const ()) {
        // SAFETY: from `Arc::into_raw` below, and called once.
        unsafe { Arc::from_raw(owner.cast::<AtomicUsize>()) }.fetch_add(1, Ordering::SeqCst);
    }
    Slab::new(Arc::into_raw(ends.clone()).cast(), count)
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

/// Blocks that are moved to another kernel thread.
struct Sent(Vec<NonNull<u8>>);
// SAFETY: the receiver gets exclusive access.
unsafe impl Send for Sent {}

impl Sent {
    fn give_from_outside(self) {
        // SAFETY: out, and owned by this thread alone.
        self.0.into_iter().for_each(|block| unsafe { give_from_outside(block) });
    }
}

fn live(slab: &Slab) -> Vec<NonNull<u8>> {
    let mut all = Vec::new();
    slab.each_live(|block| all.push(block));
    all.sort();
    all
}

/// Frees the blocks that are still out, then drops the slab: miri detects leaks.
fn end(slab: Slab) {
    Sent(live(&slab)).give_from_outside();
}

/// The blocks that are out, each with its layout and the byte that fills it behind its first two words.
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
        unsafe {
            block.add(16.min(layout.size())).write_bytes(byte, layout.size().min(FILLED).saturating_sub(16))
        };
        self.0.insert(block, (layout, byte));
    }

    /// Removes any block from the model; checks that it has not been overwritten.
    fn pick(&mut self, random: &mut fastrand::Rng) -> Option<(NonNull<u8>, Layout)> {
        let at = random.usize(..self.0.len().max(1));
        let block = *self.0.keys().nth(at)?;
        let (layout, byte) = self.0.remove(&block).unwrap();
        for at in 16..layout.size().min(FILLED) {
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
    for seed in 0..if cfg!(miri) { 1 } else { 20 } {
        let (random, slab, mut book) = (&mut fastrand::Rng::with_seed(seed), slab(8), Book::default());
        for step in 0..STEPS {
            // Grows and shrinks alternately.
            if random.u32(..10) < if (step / (STEPS / 5)).is_multiple_of(2) { 7 } else { 3 } {
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
            // SAFETY: out, with this layout.
            unsafe { slab.give(block, layout) };
        }
        book.check(&slab);
        slab.trim();
        assert_eq!(slab.bytes(), 0, "seed {seed}");
    }
}

#[test]
fn a_class_wastes_little() {
    let step = if cfg!(miri) { 97 } else { 1 };
    for size in (16..=8192).step_by(step) {
        let class = class_of(layout(size, 8));
        assert!(size_of_class(class) >= size);
        assert!(size_of_class(class) - size <= if size <= 512 { 7 } else { size / 8 }, "{size}: {class}");
    }
    for size in (8193..=65_408).step_by(step) {
        let class = class_of(layout(size, 128));
        let count = 65_408 / size_of_class(class);
        // Larger blocks have fewer to a chunk.
        assert!(
            size_of_class(class) >= size && (count + 1) * size.next_multiple_of(128) > 65_408,
            "{size}: {class}"
        );
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
    end(slab);
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
            // Frees another block, visited or not, and takes a new one of each kind.
            if let Some((other, layout)) = out.pop_last() {
                // SAFETY: out, with this layout.
                unsafe { slab.give(other, layout) };
            }
            if met < 30 {
                [small, huge].into_iter().for_each(|layout| mark(slab.take(layout).unwrap()));
            }
        }
    });
    assert!(out.is_empty(), "{} were not met", out.len());
    end(slab);
}

#[test]
fn a_block_given_elsewhere_comes_home_before_fresh_memory_is_touched() {
    let (home, other, layout) = (slab(8), slab(16), layout(88, 8));
    let (one, two, fresh) = (take(&home, layout), take(&home, layout), take(&home, layout));
    // SAFETY: out.
    unsafe {
        other.give(one, layout);
        give_from_outside(two);
    }
    assert_eq!(live(&home), [one, two, fresh], "until the owner takes them in, they look live");
    assert!(live(&other).is_empty());
    let again = [take(&home, layout), take(&home, layout)];
    assert!(again.contains(&one) && again.contains(&two));
    // SAFETY: out.
    unsafe { give_from_outside(fresh) };
    home.trim();
    assert_eq!(live(&home), [one, two]);
    end(home);
}

#[test]
fn blocks_come_back_from_many_kernel_threads_while_the_owner_takes_and_looks() {
    const ROUNDS: usize = if cfg!(miri) { 10 } else { 300 };
    let slab = slab(8);
    let layouts = [layout(48, 8), layout(1000, 8), layout(100_000, 8)];
    thread::scope(|scope| {
        for round in 0..ROUNDS {
            let blocks: Vec<_> = (0..20).map(|at| take(&slab, layouts[at % 20 / 8])).collect();
            let kept = take(&slab, layouts[round % 2]);
            let sent = Sent(blocks);
            scope.spawn(move || sent.give_from_outside());
            let mut met = false;
            slab.each_live(|block| met |= block == kept);
            assert!(met);
            // SAFETY: out.
            unsafe { slab.give(kept, layouts[round % 2]) };
        }
    });
    slab.trim();
    assert_eq!((live(&slab).len(), slab.bytes()), (0, 0));
}

#[test]
fn a_slab_without_blocks_out_ends_when_it_is_dropped() {
    let ends = Arc::new(AtomicUsize::new(0));
    let (slab, layout) = (slab_with_end(&ends), layout(88, 8));
    let (one, two) = (take(&slab, layout), take(&slab, layout));
    // SAFETY: both are out.
    unsafe {
        slab.give(one, layout);
        give_from_outside(two);
    }
    assert_eq!(ends.load(Ordering::SeqCst), 0);
    drop(slab);
    assert_eq!((ends.load(Ordering::SeqCst), Arc::strong_count(&ends)), (1, 1));
}

#[test]
fn a_dropped_slab_ends_with_the_last_block_that_comes_back() {
    let ends = Arc::new(AtomicUsize::new(0));
    let (slab, other) = (slab_with_end(&ends), slab(16));
    let layouts = [layout(48, 8), layout(88, 16), layout(9000, 8), layout(100_000, 64)];
    let out: Vec<_> = (0..1000).map(|at| (take(&slab, layouts[at % 4]), layouts[at % 4])).collect();
    // Most blocks are returned before the end; their chunks do not wait for the others.
    let (before, after) = out.split_at(900);
    // SAFETY: out.
    before.iter().for_each(|&(block, layout)| unsafe { slab.give(block, layout) });
    drop(slab);
    for (at, &(block, layout)) in after.iter().enumerate() {
        assert_eq!(ends.load(Ordering::SeqCst), 0, "ended with {} blocks out", after.len() - at);
        // SAFETY: out, and as large as its layout.
        unsafe {
            assert_eq!(owner_of(block).addr(), Arc::as_ptr(&ends).addr());
            block.add(16).write_bytes(1, (layout.size() - 16).min(FILLED));
            if at % 2 == 0 { other.give(block, layout) } else { give_from_outside(block) }
        }
    }
    assert_eq!((ends.load(Ordering::SeqCst), Arc::strong_count(&ends)), (1, 1));
}

#[test]
fn blocks_come_back_from_many_kernel_threads_while_the_slab_ends() {
    for _ in 0..if cfg!(miri) { 10 } else { 500 } {
        let ends = Arc::new(AtomicUsize::new(0));
        let slab = slab_with_end(&ends);
        thread::scope(|scope| {
            for size in [88, 9000, 100_000] {
                let sent = Sent((0..5).map(|_| take(&slab, layout(size, 8))).collect());
                scope.spawn(move || sent.give_from_outside());
            }
            drop(slab);
        });
        assert_eq!((ends.load(Ordering::SeqCst), Arc::strong_count(&ends)), (1, 1));
    }
}

#[test]
fn trim_keeps_what_shares_a_chunk_with_a_live_block() {
    let (slab, layout) = (slab(8), layout(4000, 8));
    let blocks: Vec<_> = (0..300).map(|_| take(&slab, layout)).collect();
    assert_eq!(slab.bytes(), 20 * (64 << 10));
    // One block stays in every second chunk.
    let (kept, gone): (Vec<_>, Vec<_>) = blocks.into_iter().enumerate().partition(|(at, _)| at % 30 == 0);
    // SAFETY: out.
    gone.into_iter().for_each(|(_, block)| unsafe { slab.give(block, layout) });
    assert_eq!(slab.trim(), 10 * (64 << 10));
    // Sorted by address, as `live` is: the system need not place later regions behind earlier ones.
    let kept: BTreeSet<_> = kept.into_iter().map(|(_, block)| block).collect();
    assert_eq!(live(&slab), Vec::from_iter(kept));
    assert_eq!(slab.trim(), 0);
    // The free blocks in the chunks that stayed are taken first.
    (0..140).for_each(|_| mark(slab.take(layout).unwrap()));
    assert_eq!(slab.bytes(), 10 * (64 << 10));
    mark(slab.take(layout).unwrap());
    assert_eq!(slab.bytes(), 11 * (64 << 10));
    end(slab);
}

#[test]
fn trim_does_nothing_for_less_than_an_eighth() {
    let (slab, layout) = (slab(8), layout(65_000, 8));
    let blocks: Vec<_> = (0..17).map(|_| take(&slab, layout)).collect();
    for (at, &block) in blocks.iter().take(3).enumerate() {
        assert_eq!(slab.trim(), 0, "{at} of 17 are free");
        // SAFETY: out.
        unsafe { slab.give(block, layout) };
    }
    assert_eq!(slab.trim(), 3 * (64 << 10));
    end(slab);
}

/// Runs this test binary again in a separate process, with only `test`; true in that process.
fn alone(test: &str) -> bool {
    const ROLE: &str = "LAMPREY_TEST_ROLE";
    if std::env::var_os(ROLE).is_some() {
        return true;
    }
    let test = format!("memory::slab::tests::{test}");
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", &test, "--nocapture"]).env(ROLE, "alone").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{:?} {text} {}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(text.contains("1 passed"), "{text}");
    false
}

/// The pages of this process: mapped, and resident without those of files. The latter are counted by walking the
/// tables; the sums in `statm` are off by what each processor has not yet added, and grow with the code that runs.
fn pages() -> (usize, usize) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let anonymous = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:")).unwrap();
    let kilobytes: usize = anonymous.trim().trim_end_matches(" kB").parse().unwrap();
    (statm.split(' ').next().unwrap().parse().unwrap(), kilobytes / 4)
}

#[test]
#[cfg_attr(miri, ignore = "looks at the memory of the process")]
fn a_crowd_costs_its_size_and_trim_gives_it_back() {
    const CROWD: usize = 1_000_000;
    if !alone("a_crowd_costs_its_size_and_trim_gives_it_back") {
        return;
    }
    let (slab, layout) = (slab(8), layout(88, 8));
    let mut crowd = vec![NonNull::dangling(); CROWD];
    // A small crowd first: the pages of the code that is used count, too.
    for size in [CROWD / 100, CROWD, CROWD] {
        let crowd = &mut crowd[..size];
        let before = pages();
        crowd.iter_mut().for_each(|block| *block = take(&slab, layout));
        let used = (pages().1 - before.1) * 4096;
        assert!(used <= size * 88 + (5 << 20), "{used} bytes are resident");
        fastrand::Rng::with_seed(1).shuffle(crowd);
        // SAFETY: out.
        crowd.iter().for_each(|&block| unsafe { slab.give(block, layout) });
        assert!(slab.trim() >= size * 88);
        let after = pages();
        let is_given_back = after.1 <= before.1 + 100 && after.0 <= before.0 + 100;
        assert!(is_given_back || size < CROWD, "{before:?} {after:?} pages");
    }
}

#[test]
#[cfg_attr(miri, ignore = "looks at the memory of the process")]
fn chunks_between_live_ones_lose_their_memory_too() {
    if !alone("chunks_between_live_ones_lose_their_memory_too") {
        return;
    }
    let (slab, layout) = (slab(8), layout(4000, 8));
    let before = pages().1;
    let blocks: Vec<_> = (0..16_000).map(|_| take(&slab, layout)).collect();
    assert!(pages().1 - before >= 15_000);
    for (_, &block) in blocks.iter().enumerate().filter(|(at, _)| at % 160 != 0) {
        // SAFETY: out.
        unsafe { slab.give(block, layout) };
    }
    slab.trim();
    // A chunk for each live block, the rest of a huge page, and the list.
    assert!(pages().1 - before <= 100 * 16 + 512 + 100, "{} pages are resident", pages().1 - before);
    assert_eq!(live(&slab).len(), 100);
}

#[test]
#[cfg_attr(miri, ignore = "lowers a limit of the process")]
fn without_address_space_there_is_no_block_and_with_it_there_is_again() {
    if !alone("without_address_space_there_is_no_block_and_with_it_there_is_again") {
        return;
    }
    let (slab, small, huge) = (slab(8), layout(1000, 8), layout(1 << 20, 8));
    let mut out = Vec::with_capacity(1 << 20);
    let to = (pages().0 * 4096 + (33 << 20)) as u64;
    let limit = libc::rlimit { rlim_cur: to, rlim_max: to };
    // SAFETY: the pointer is valid for the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    for _ in 0..3 {
        for layout in [small, huge, small] {
            while let Some(block) = slab.take(layout) {
                mark(block);
                out.push((block, layout));
            }
        }
        let bytes: usize = out.iter().map(|(_, layout)| layout.size()).sum();
        assert!(bytes > 30 << 20, "none at {bytes} bytes");
        assert!(slab.take(layout(1 << 40, 8)).is_none() && slab.take(layout(8, 1 << 40)).is_none());
        assert!(slab.take(layout(isize::MAX as usize - 7, 8)).is_none());
        // SAFETY: out.
        out.drain(..).for_each(|(block, layout)| unsafe { slab.give(block, layout) });
        slab.trim();
        assert_eq!(slab.bytes(), 0);
    }
}
