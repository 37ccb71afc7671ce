//! Mapped guards are limited in the whole process: those of idle stacks are there for others. Alone in its process, as it uses them all.

use swapstack::{GuardKind, PoolConfig, PooledStack, Stack, StackPool};

fn pool() -> StackPool {
    StackPool::new(PoolConfig::default().guard(GuardKind::Mapped))
}

/// Takes stacks until there is no guard left.
fn all(pool: &StackPool, size: usize) -> (Vec<PooledStack>, std::io::Error) {
    let mut stacks = Vec::new();
    loop {
        match pool.take(size) {
            Ok(stack) => stacks.push(stack),
            Err(error) => return (stacks, error),
        }
    }
}

/// Writes to the lowest word that may be used.
fn touch(stack: &PooledStack) {
    // SAFETY: the stack is not in use, and this is its memory.
    unsafe { stack.limit().cast::<u64>().write(7) };
}

#[test]
#[cfg_attr(miri, ignore = "no mprotect")]
fn guards_of_idle_stacks_are_there_for_other_sizes_and_pools() {
    let limit = std::fs::read_to_string("/proc/sys/vm/max_map_count").unwrap();
    if limit.trim().parse::<usize>().unwrap() > 300_000 {
        return println!("NOT TESTED: vm.max_map_count is so large that this would take minutes");
    }
    let first = pool();
    let (crowd, error) = all(&first, 16 << 10);
    assert!(crowd.len() > 1000, "{}", crowd.len());
    assert_eq!(error.kind(), std::io::ErrorKind::OutOfMemory);
    assert!(error.to_string().contains("in use"), "{error}");
    assert!(pool().take(64 << 10).is_err(), "all are in use");

    let count = crowd.len();
    crowd.iter().for_each(touch);
    crowd.into_iter().for_each(|stack| first.give(stack));
    let other = pool();
    for size in [64 << 10, 256 << 10, 1 << 20, 16 << 20] {
        for pool in [&first, &other] {
            let stack = pool.take(size).unwrap_or_else(|error| panic!("{size}: {error}"));
            touch(&stack);
            pool.give(stack);
        }
    }
    // Those that have lost their guards get them again.
    let (crowd, _) = all(&first, 16 << 10);
    assert!(crowd.len() >= count - 100, "{} of {count}", crowd.len());
    crowd.iter().for_each(touch);
    crowd.into_iter().for_each(|stack| first.give(stack));
    let (larger, error) = all(&other, 64 << 10);
    assert!(larger.len() >= count - 100, "{} of {count}: {error}", larger.len());
}
