//! The pools: stacks never overlap, are guarded, and come back; limits are errors.

mod common;

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, mpsc};
use swapstack::{GuardKind, LocalPool, PoolConfig, PooledStack, Stack, StackPool, conformance};

const KIB: usize = 1 << 10;

fn pool() -> StackPool {
    StackPool::new(PoolConfig::default())
}

fn top(stack: &PooledStack) -> usize {
    stack.top().addr().get()
}

fn limit(stack: &PooledStack) -> usize {
    stack.limit().addr().get()
}

/// Small random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The stacks that are out: from the guard to the end of the label, by start.
#[derive(Default)]
struct Out(BTreeMap<usize, usize>);

impl Out {
    fn insert(&mut self, stack: &PooledStack) {
        let (from, to) = (limit(stack) - 4096, top(stack) + 16);
        let before = self.0.range(..to).next_back();
        assert!(before.is_none_or(|(_, &end)| end <= from), "{from:#x}..{to:#x} overlaps {before:x?}");
        self.0.insert(from, to);
    }

    fn remove(&mut self, stack: &PooledStack) {
        assert!(self.0.remove(&(limit(stack) - 4096)).is_some(), "a stack has changed its place");
    }
}

/// Writes the first and the last word, to notice other writers.
fn mark(stack: &PooledStack, value: usize) {
    // SAFETY: the stack is ours and nothing runs on it.
    unsafe {
        stack.limit().cast::<usize>().write(value);
        stack.top().cast::<usize>().sub(1).write(value);
    }
}

fn assert_marked(stack: &PooledStack, value: usize) {
    // SAFETY: the stack is ours and nothing runs on it.
    let words = unsafe { [stack.limit().cast::<usize>().read(), stack.top().cast::<usize>().sub(1).read()] };
    assert_eq!(words, [value; 2]);
}

/// Takes and gives at random, in all sizes, through two local pools and the shared one.
fn take_and_give_at_random(guard: GuardKind, seed: u64, steps: usize) {
    let shared = Arc::new(StackPool::new(PoolConfig::default().guard(guard)));
    let locals = [LocalPool::new(Arc::clone(&shared)), LocalPool::new(Arc::clone(&shared))];
    let mut random = Random(seed);
    let (mut out, mut held) = (Out::default(), Vec::new());
    for step in 0..steps {
        match random.below(100) {
            0 => drop(locals[random.below(2)].trim()),
            1 => locals[random.below(2)].flush(),
            2..55 => {
                let size = [1, 9 * KIB, 16 * KIB, 17 * KIB, 64 * KIB, 200 * KIB, 300 * KIB][random.below(7)];
                let stack = match random.below(3) {
                    2 => shared.take(size).unwrap(),
                    local => locals[local].take(size).unwrap(),
                };
                assert!(stack.size() >= size);
                assert!(top(&stack).is_multiple_of(16));
                out.insert(&stack);
                mark(&stack, step);
                held.push((stack, step));
            }
            _ if held.is_empty() => {}
            _ => {
                let (stack, marked) = held.swap_remove(random.below(held.len()));
                assert_marked(&stack, marked);
                out.remove(&stack);
                match random.below(4) {
                    3 => drop(stack),
                    2 => shared.give(stack),
                    local => locals[local].give(stack),
                }
            }
        }
    }
    held.iter().for_each(|(stack, marked)| assert_marked(stack, *marked));
    drop(held);
    drop(locals);
    let stats = shared.stats();
    assert_eq!(stats.idle_dirty + stats.idle_clean, stats.carved, "{stats:?}");
    assert_eq!(stats.large, 0, "{stats:?}");
}

#[test]
fn nothing_overlaps_whatever_is_taken_and_given() {
    for seed in 1..=8 {
        take_and_give_at_random(GuardKind::Best, seed, 3000);
        take_and_give_at_random(GuardKind::Mapped, seed + 100, 3000);
    }
}

#[test]
fn stacks_may_move_between_threads() {
    let shared = Arc::new(pool());
    let (sender, receiver) = mpsc::channel::<PooledStack>();
    let consumer = std::thread::spawn({
        let shared = Arc::clone(&shared);
        move || {
            let local = LocalPool::new(shared);
            receiver.iter().for_each(|stack| local.give(stack));
        }
    });
    let local = LocalPool::new(Arc::clone(&shared));
    for _ in 0..10_000 {
        sender.send(local.take(16 * KIB).unwrap()).unwrap();
    }
    drop((sender, local));
    consumer.join().unwrap();
    let stats = shared.stats();
    assert_eq!(stats.idle_dirty, stats.carved);
    assert!(stats.carved <= 10_000 + 64);
}

#[test]
fn the_last_one_given_is_the_first_one_taken() {
    let local = LocalPool::new(Arc::new(pool()));
    let stacks: Vec<_> = (0..10).map(|_| local.take(64 * KIB).unwrap()).collect();
    let tops: Vec<_> = stacks.iter().map(top).collect();
    stacks.into_iter().for_each(|stack| local.give(stack));
    let again: Vec<_> = (0..10).map(|_| local.take(64 * KIB).unwrap()).collect();
    assert!(again.iter().map(top).eq(tops.into_iter().rev()));
}

#[test]
fn a_full_local_pool_hands_over_and_a_dropped_one_hands_over_all() {
    let shared = Arc::new(pool());
    let local = LocalPool::new(Arc::clone(&shared));
    let stacks: Vec<_> = (0..200).map(|_| local.take(1).unwrap()).collect();
    stacks.into_iter().for_each(|stack| local.give(stack));
    let stats = shared.stats();
    assert!((100..200).contains(&stats.idle_dirty), "{stats:?}");
    drop(local);
    let stats = shared.stats();
    assert_eq!(stats.idle_dirty, stats.carved, "{stats:?}");
}

#[test]
fn tops_have_all_colours_and_sizes_do_not_suffer() {
    for (nominal, class) in [(16 * KIB, 0), (64 * KIB, 1), (256 * KIB, 2)] {
        let pool = pool();
        let stacks: Vec<_> = (0..32).map(|_| pool.take(nominal).unwrap()).collect();
        let lines: HashSet<_> = stacks.iter().map(|stack| top(stack) / 64 % 64).collect();
        assert_eq!(lines.len(), 32, "32 stacks in a row have 32 different cache sets for their tops");
        assert!(stacks.iter().all(|stack| stack.class() == class && stack.size() >= nominal + 2 * KIB));
    }
}

#[test]
fn tops_of_different_sizes_and_of_large_stacks_are_apart_too() {
    let pool = pool();
    let firsts: Vec<_> =
        [16 * KIB, 64 * KIB, 256 * KIB, 1 << 20].into_iter().map(|size| pool.take(size).unwrap()).collect();
    let offsets: HashSet<_> = firsts.iter().map(|stack| top(stack) % (4 * KIB)).collect();
    assert_eq!(offsets.len(), 4, "the first stacks of four sizes lie at four offsets of their pages");
    let large: Vec<_> = (0..32).map(|_| pool.take(1 << 20).unwrap()).collect();
    let offsets: HashSet<_> = large.iter().map(|stack| top(stack) % (4 * KIB)).collect();
    assert_eq!(offsets.len(), 32, "32 large stacks in a row lie at 32 offsets");
    assert!(large.iter().all(|stack| stack.size() >= 1 << 20));
    drop((firsts, large));
    conformance::check(|| pool.take(1 << 20).unwrap());
}

#[test]
fn trimming_gives_memory_back_and_keeps_the_guards() {
    for guard in [GuardKind::Best, GuardKind::Mapped] {
        let pool = StackPool::new(PoolConfig::default().guard(guard));
        let stacks: Vec<_> = (0..100).map(|_| pool.take(64 * KIB).unwrap()).collect();
        for stack in &stacks {
            mark(stack, 1);
            // The whole stack, because its lowest word is written.
            assert_eq!(stack.high_water(), stack.size());
        }
        // Every third stays out: the runs between are short, and the memory of the stacks that are out is
        // untouched.
        let mut kept = Vec::new();
        for (index, stack) in stacks.into_iter().enumerate() {
            if index % 3 == 0 { kept.push(stack) } else { pool.give(stack) }
        }
        assert!(pool.trim() >= 66 * 64 * KIB);
        assert_eq!(pool.trim(), 0, "nothing dirty is left");
        kept.iter().for_each(|stack| assert_marked(stack, 1));
        let clean: Vec<_> = (0..66).map(|_| pool.take(64 * KIB).unwrap()).collect();
        assert!(clean.iter().all(|stack| stack.high_water() == 0));
        assert_eq!(pool.stats().carved, 100);
        drop((clean, kept));
        conformance::check(|| pool.take(64 * KIB).unwrap());
    }
}

#[test]
fn the_high_water_mark_counts_from_the_deepest_page() {
    let stack = pool().take(256 * KIB).unwrap();
    assert_eq!(stack.high_water(), 0);
    for deep in [100, 5_000, 100_000] {
        // SAFETY: within the stack, which is ours.
        unsafe { stack.top().sub(deep).write(1) };
        let mark = stack.high_water();
        assert!((deep..deep + 4096).contains(&mark), "{mark} for {deep}");
    }
}

#[test]
fn what_is_forgotten_counts_no_more() {
    for guard in [GuardKind::Best, GuardKind::Mapped] {
        let pool = StackPool::new(PoolConfig::default().guard(guard));
        let stack = pool.take(256 * KIB).unwrap();
        let top = stack.top().addr().get();
        mark(&stack, 1);
        // SAFETY: nobody uses the stack; `mark` has written its lowest word and its highest one.
        unsafe {
            stack.top().sub(9000).write(1);
            assert!(stack.forget_below(top - 10_000));
            assert!((9000..9000 + 4096).contains(&stack.high_water()), "{}", stack.high_water());
            assert_eq!(stack.limit().cast::<u64>().read(), 0, "its memory was given back");
            assert_ne!(stack.top().cast::<u64>().sub(1).read(), 0, "and that above was not");
            // Below the stack there is nothing to forget, above it all of it.
            assert!(stack.forget_below(stack.limit().addr().get() - 1) && stack.high_water() > 0);
            assert!(stack.forget_below(usize::MAX));
        }
        assert!(stack.high_water() <= 4096, "only the page of the top can be left");
        pool.give(stack);
        conformance::check(|| pool.take(256 * KIB).unwrap());
    }
}

#[test]
fn a_stack_outlives_its_pool() {
    let pool = pool();
    let (stack, large) = (pool.take(16 * KIB).unwrap(), pool.take(1 << 20).unwrap());
    drop(pool);
    mark(&stack, 7);
    mark(&large, 8);
    assert_marked(&stack, 7);
    assert_marked(&large, 8);
}

#[test]
fn a_stack_of_another_pool_goes_home() {
    let (home, other) = (pool(), Arc::new(pool()));
    let local = LocalPool::new(Arc::clone(&other));
    let (one, two) = (home.take(1).unwrap(), home.take(1).unwrap());
    other.give(one);
    local.give(two);
    assert_eq!(home.stats().idle_dirty, 2);
    assert_eq!(other.stats().idle_dirty, 0);
}

#[test]
fn large_stacks_have_a_mapping_of_their_own() {
    let pool = pool();
    let stack = pool.take(5 << 20).unwrap();
    assert_eq!((stack.class(), pool.stats().large), (3, 1));
    assert!(stack.size() >= 5 << 20);
    pool.give(stack);
    assert_eq!(pool.stats().large, 0);
}

#[test]
fn a_size_that_no_address_space_has_is_an_error() {
    let pool = pool();
    for size in [usize::MAX, usize::MAX - 4096, 1 << 62, 1 << 50] {
        let error = pool.take(size).err().expect("no such stack");
        assert!(error.to_string().contains("address space"), "{error}");
    }
    assert_eq!(pool.stats().large, 0);
}

// Tests that depend on the limits of the process, or change them, run in a process of their own.

#[test]
fn child() {
    match std::env::var("CASE").as_deref() {
        Ok("mappings") => run_out_of_mapped_guards(),
        Ok("address space") => run_out_of_address_space(),
        Ok("locked") => guards_in_locked_memory(),
        Ok("unmap") => the_last_stack_unmaps(),
        Ok(count) => take_many(count.parse().unwrap()),
        Err(_) => {}
    }
}

fn run(case: &str) {
    let output = common::this_test("child").env("CASE", case).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{case}: {} {text}", output.status);
    eprint!("{text}");
}

fn run_out_of_mapped_guards() {
    let pool = StackPool::new(PoolConfig::default().guard(GuardKind::Mapped));
    let mut stacks = Vec::new();
    let error = loop {
        match pool.take(16 * KIB) {
            Ok(stack) => stacks.push(stack),
            Err(error) => break error,
        }
    };
    let limit: usize = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap().trim().parse().unwrap();
    assert!(stacks.len() > limit / 3 && stacks.len() < limit / 2, "{} of {limit}", stacks.len());
    let text = error.to_string();
    assert!(text.contains(&format!("{} stacks in use are guarded", stacks.len())), "{text}");
    assert!(text.contains(&format!("vm.max_map_count is {limit}")), "{text}");
    // The process still works, a second pool gets the same error, and returned stacks can be taken again.
    std::thread::spawn(|| vec![0_u8; 64 << 20].len()).join().unwrap();
    let other = StackPool::new(PoolConfig::default().guard(GuardKind::Mapped));
    assert!(other.take(16 * KIB).is_err());
    pool.give(stacks.pop().unwrap());
    let again = pool.take(16 * KIB).unwrap();
    assert!(pool.take(16 * KIB).is_err());
    // Unmapping makes room for other pools.
    drop((again, stacks, pool));
    assert!(other.take(16 * KIB).is_ok());
}

#[test]
fn out_of_mapped_guards_is_an_error_that_says_how_many() {
    run("mappings");
}

fn run_out_of_address_space() {
    let limit = libc::rlimit { rlim_cur: 1 << 30, rlim_max: 1 << 30 };
    // SAFETY: only lowers a limit of this process.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_AS, &limit) }, 0);
    let pool = pool();
    let mut stacks = Vec::new();
    let error = loop {
        match pool.take(256 * KIB) {
            Ok(stack) => stacks.push(stack),
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("cannot reserve"), "{error}");
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
    // Most of the gigabyte has become stacks: the regions shrink until they fit.
    assert!(stacks.len() > 2000, "{}", stacks.len());
    pool.give(stacks.pop().unwrap());
    let again = pool.take(256 * KIB).unwrap();

    // What idle stacks had goes to stacks of other sizes and pools, region by region.
    let other = StackPool::new(PoolConfig::default());
    assert!(other.take(1024 * KIB).is_err(), "a region is unmapped while its stacks are in use");
    let kept = stacks.swap_remove(stacks.len() / 2);
    let before = pool.stats();
    stacks.into_iter().for_each(|stack| pool.give(stack));
    let small = other.take(16 * KIB).unwrap();
    let large = pool.take(100 << 20).unwrap();
    for stack in [&kept, &again, &small, &large] {
        // SAFETY: the bytes between `limit` and `top` of a stack that nobody runs on.
        unsafe { stack.limit().write_bytes(1, stack.size()) };
    }
    let after = pool.stats();
    assert!(after.carved >= 2 && after.carved < before.carved / 2 + 100, "{before:?} {after:?}");
    assert!(after.regions < before.regions && after.regions >= 1, "{before:?} {after:?}");
    assert!(after.reserved_bytes >= after.carved * 256 * KIB, "{after:?}");
    drop((kept, again, small, large));
    // Those of the regions that stayed are handed out, and new ones mapped.
    assert!((0..before.carved / 2).map(|_| pool.take(256 * KIB)).collect::<Result<Vec<_>, _>>().is_ok());
}

#[test]
fn out_of_address_space_is_an_error() {
    if cfg!(any(target_arch = "aarch64", feature = "asan")) {
        return eprintln!("SKIPPED: the emulator or the sanitizer needs the address space itself");
    }
    run("address space");
}

fn guards_in_locked_memory() {
    // SAFETY: affects only this process.
    if unsafe { libc::mlockall(libc::MCL_FUTURE | libc::MCL_ONFAULT) } != 0 {
        return eprintln!("SKIPPED: memory cannot be locked here");
    }
    let pool = pool();
    conformance::check(|| pool.take(16 * KIB).unwrap());
}

#[test]
fn locked_memory_has_guards_too() {
    run("locked");
}

fn the_last_stack_unmaps() {
    let mapped = |address: usize| {
        let mut resident = 0;
        // SAFETY: only queries a page.
        unsafe { libc::mincore((address & !4095) as *mut _, 1, &mut resident) == 0 }
    };
    let pool = pool();
    let (one, two) = (pool.take(64 * KIB).unwrap(), pool.take(64 * KIB).unwrap());
    let address = limit(&one);
    drop(pool);
    drop(one);
    assert!(mapped(address), "a neighbour is still in use");
    drop(two);
    assert!(!mapped(address));
}

#[test]
fn the_last_stack_of_a_dropped_pool_unmaps() {
    run("unmap");
}

/// Takes `count` stacks, touches each, and checks what they cost.
fn take_many(count: usize) {
    let resident = || {
        let text = std::fs::read_to_string("/proc/self/statm").unwrap();
        text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
    };
    let local = LocalPool::new(Arc::new(pool()));
    let before = resident();
    let stacks: Vec<_> = (0..count)
        .map(|_| {
            let stack = local.take(64 * KIB).unwrap();
            // SAFETY: the stack is ours.
            unsafe { stack.top().cast::<usize>().sub(1).write(1) };
            stack
        })
        .collect();
    let each = (resident() - before) / count;
    let mappings = std::fs::read_to_string("/proc/self/maps").unwrap().lines().count();
    eprintln!("{count} stacks: {each} bytes resident each, {mappings} mappings in the process");
    // One page, and 16 bytes in the vector; AddressSanitizer's shadow memory comes on top.
    let most = 4096 + if cfg!(feature = "asan") { 512 } else { 64 };
    assert!((4096..most).contains(&each), "{each}");
    assert!(mappings < 500, "{mappings}");
    stacks.into_iter().for_each(|stack| local.give(stack));
    local.trim();
    let left = resident() - before;
    assert!(left < (100 + count / 10_000) << 20, "{left} bytes are left after the trim");
}

fn many(count: &str) {
    if pool().stats().guard == GuardKind::Light {
        run(count);
    } else {
        eprintln!("SKIPPED: this kernel has no MADV_GUARD_INSTALL");
    }
}

#[test]
fn more_stacks_than_mappings() {
    many("100000");
}

#[test]
#[ignore = "takes 4 GiB of memory"]
fn a_million_stacks() {
    many("1000000");
}
