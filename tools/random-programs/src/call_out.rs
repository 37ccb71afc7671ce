//! Call-outs: the program's code that Lamprey calls. It runs a script of the program, within the limits of
//! its site.

use crate::class::Class;
use crate::run::{Context, quietly, run};
use crate::world::World;
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

/// The sites where the program's own code runs inside Lamprey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// A value's destructor.
    Drop,
    /// A value's `Clone` or `Debug`.
    Clone,
    /// A waker: must not block, nor panic.
    Wake,
    /// A notifier: must not block.
    Notify,
    /// A policy: must not block.
    Policy,
    /// The destructor of a panic's payload.
    Payload,
}

/// The maximum number of call-outs of a program that are active at a time; otherwise they could nest without
/// end.
const ACTIVE: u32 = 6;

struct Active<'a>(&'a World);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        // Relaxed: a counter that orders nothing.
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    /// The number of nested call-outs on this kernel thread, counted from one that must not block. That one
    /// does not block, so until it returns the same thread of control runs here.
    static LENT: Cell<u32> = const { Cell::new(0) };
    /// Set if threads of the program that can be cancelled have run on this kernel thread.
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Exists while a call-out runs that must not block, or one nested in it.
struct Within(bool);

impl Within {
    fn new(must_not_block: bool) -> Self {
        let is_lent = must_not_block || LENT.get() > 0;
        LENT.set(LENT.get() + u32::from(is_lent));
        Self(is_lent)
    }

    fn is_lent(&self) -> bool {
        self.0
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        LENT.set(LENT.get() - u32::from(self.0));
    }
}

/// Records that a thread of the program that can be cancelled runs on the calling kernel thread.
pub fn mark_own() {
    IS_OWN.set(true);
}

/// Runs a script, if the program still exists.
pub fn call_out(world: &Weak<World>, script: Option<u8>, site: Site) {
    let (Some(script), Some(world)) = (script, world.upgrade()) else { return };
    // Relaxed: set by the thread that then drops the program's objects.
    if world.over.load(Ordering::Relaxed) {
        return;
    }
    // If a future is polled outside of every runtime, a worker of Lamprey's own runtime calls its waker:
    // threads that are spawned there live as long as the process.
    if lamprey::Handle::current().is_some() && !IS_OWN.get() {
        return;
    }
    // Relaxed, here and below: a counter that orders nothing.
    if world.active.fetch_add(1, Ordering::Relaxed) >= ACTIVE {
        world.active.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let active = Active(&world);
    let classes = world.program.classes;
    let within = Within::new(matches!(site, Site::Wake | Site::Notify | Site::Policy));
    let panics = matches!(site, Site::Drop | Site::Clone) && classes.has(Class::PanickingDestructors);
    let blocks = !within.is_lent() && (site == Site::Payload || classes.has(Class::Destructors));
    let unwinding = std::thread::panicking();
    let context = Context { world: world.clone(), endless: false, blocks, panics: panics && !unwinding };
    let body = world.program.script(script);
    if panics && !unwinding {
        run(&context, &body);
    } else {
        // A panic must not leave a destructor during an unwind.
        quietly(|| run(&context, &body));
    }
    drop(within);
    drop(active);
}

/// A waker that calls the API.
pub struct OddWaker(Weak<World>, Option<u8>);

impl OddWaker {
    /// A waker with this script.
    pub fn waker(world: &Arc<World>, script: Option<u8>) -> Waker {
        let script = script.filter(|_| world.program.classes.has(Class::Wakers));
        Waker::from(Arc::new(Self(Arc::downgrade(world), script)))
    }
}

impl Wake for OddWaker {
    fn wake(self: Arc<Self>) {
        call_out(&self.0, self.1, Site::Wake);
    }
}

impl Drop for OddWaker {
    fn drop(&mut self) {
        call_out(&self.0, self.1, Site::Wake);
    }
}

/// A panic's payload whose destructor calls the API.
pub struct Payload(pub Weak<World>, pub Option<u8>);

impl Drop for Payload {
    fn drop(&mut self) {
        call_out(&self.0, self.1, Site::Payload);
    }
}
