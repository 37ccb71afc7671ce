//! The smallest scheduler: a queue of contexts, each running until it yields, without a context for the
//! scheduler. A context that yields takes the next one from the queue and switches straight to it.

use std::collections::VecDeque;
use swapstack::{LocalPool, PoolConfig, PooledStack, Stack, StackPointer, StackPool, init, jump, switch};

struct Scheduler {
    ready: VecDeque<StackPointer>,
    main: StackPointer,
    /// The stack of the context that has ended last; it is reusable, because another context runs now.
    ended: Option<PooledStack>,
    log: Vec<String>,
}

struct Task {
    scheduler: *mut Scheduler,
    name: char,
    stack: PooledStack,
}

/// Lets the other tasks run.
#[inline(always)]
fn yield_now(scheduler: *mut Scheduler) {
    // SAFETY: contexts in the queue are suspended and run on this thread; the slot at the back, in which this
    // context is saved, is filled before it is read. The queue does not grow here: it pushes as many as it
    // pops.
    unsafe {
        let ready = &mut (*scheduler).ready;
        if let Some(next) = ready.pop_front() {
            ready.push_back(StackPointer::NULL);
            let me = &raw mut *ready.back_mut().expect("just pushed");
            switch(me, next, 0);
        }
    }
}

/// The entry function of a task.
///
/// # Safety
/// `task` is a `Task` from `Box::into_raw`, for this call alone, and this runs on its stack.
unsafe extern "C" fn run(_word: usize, task: *mut ()) -> ! {
    // SAFETY: `spawn` made this box for this call, and the scheduler outlives all tasks.
    let (scheduler, stack) = unsafe {
        let task = Box::from_raw(task.cast::<Task>());
        for round in 0..3 {
            (*task.scheduler).log.push(format!("{}{round}", task.name));
            yield_now(task.scheduler);
        }
        (task.scheduler, task.stack)
    };
    // SAFETY: the scheduler outlives all tasks. This still runs on `stack`: the next task that ends gives it
    // back, as this one does for the task before.
    unsafe {
        (*scheduler).ended = Some(stack);
        let next = (*scheduler).ready.pop_front();
        jump(next.unwrap_or((*scheduler).main), 0)
    }
}

fn spawn(scheduler: *mut Scheduler, pool: &LocalPool, name: char) -> std::io::Result<()> {
    let stack = pool.take(16 << 10)?;
    let top = stack.top();
    let task = Box::into_raw(Box::new(Task { scheduler, name, stack }));
    // SAFETY: only the task uses the stack.
    unsafe { (*scheduler).ready.push_back(init(top, run, task.cast())) };
    Ok(())
}

fn main() -> std::io::Result<()> {
    let pool = LocalPool::new(StackPool::new(PoolConfig::default()).into());
    let mut scheduler =
        Scheduler { ready: VecDeque::new(), main: StackPointer::NULL, ended: None, log: Vec::new() };
    let shared = &raw mut scheduler;
    for name in ['a', 'b', 'c'] {
        spawn(shared, &pool, name)?;
    }
    // SAFETY: all tasks are in the queue; the last one to end jumps back here.
    unsafe {
        let first = (*shared).ready.pop_front().expect("three are ready");
        switch(&raw mut (*shared).main, first, 0);
    }
    println!("{}", scheduler.log.join(" "));
    assert_eq!(scheduler.log.join(" "), "a0 b0 c0 a1 b1 c1 a2 b2 c2");
    Ok(())
}

#[test]
fn example() {
    main().unwrap();
}
