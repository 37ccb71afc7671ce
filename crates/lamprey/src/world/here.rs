//! The world of the calling kernel thread.
//!
//! # Invariants
//! 1. `HERE` is null, or points to the world of the [`Entered`] that this kernel thread has.

use super::World;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr;
use std::rc::Rc;
use std::time::Instant;

std::thread_local! {
    static HERE: Cell<*const World> = const { Cell::new(ptr::null()) };
}

/// The kernel thread runs in the world until this is dropped.
pub(crate) struct Entered {
    world: Rc<World>,
    _of_this_thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        debug_assert!(ptr::eq(HERE.get(), &*self.world));
        HERE.set(ptr::null());
    }
}

/// Puts the calling kernel thread into `world`; `None` if it is in one already.
pub(crate) fn enter(world: Rc<World>) -> Option<Entered> {
    if !HERE.get().is_null() {
        return None;
    }
    HERE.set(&*world);
    Some(Entered { world, _of_this_thread: PhantomData })
}

/// Runs `f` with the calling kernel thread's world; `None` outside of every simulation.
pub(crate) fn with<R>(f: impl FnOnce(&World) -> R) -> Option<R> {
    // SAFETY: null or alive: `Entered` owns it and sets the pointer to null before it is freed. No caller can drop it in
    // `f`: who has it is in `sim::run`, below all that is called here.
    unsafe { HERE.get().as_ref() }.map(f)
}

/// Runs `f`, which does not unwind, as if the kernel thread were in no world: for what is to go by the system's clock.
pub(crate) fn apart<R>(f: impl FnOnce() -> R) -> R {
    let here = HERE.replace(ptr::null());
    let result = f();
    HERE.set(here);
    result
}

/// True in a simulation.
pub(crate) fn is_simulated() -> bool {
    !HERE.get().is_null()
}

/// The clock that deadlines are measured by: `Instant::now()`, or that of the simulation.
pub(crate) fn now() -> Instant {
    with(World::now).unwrap_or_else(Instant::now)
}
