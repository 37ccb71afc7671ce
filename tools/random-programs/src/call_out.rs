//! The program's code that Lamprey calls: what it does is a script of the program, within the bounds of the place.

use crate::class::Class;
use crate::run::{Context, quietly, run};
use crate::world::World;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::task::{Wake, Waker};

/// Where code of the program's own runs inside of Lamprey.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// A value's destructor.
    Drop,
    /// A value's `Clone` or `Debug`.
    Clone,
    /// A waker.
    Wake,
    /// A notifier.
    Notify,
    /// A policy: must not block, by its documentation.
    Policy,
    /// The destructor of a panic's payload.
    Payload,
}

/// How many call-outs of a program may be active at a time: they can nest without end otherwise.
const ACTIVE: u32 = 6;

struct Active<'a>(&'a World);

impl Drop for Active<'_> {
    fn drop(&mut self) {
        // Relaxed: a counter that orders nothing.
        self.0.active.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Runs a script, if the program is still there.
pub fn call_out(world: &Weak<World>, script: Option<u8>, site: Site) {
    let (Some(script), Some(world)) = (script, world.upgrade()) else { return };
    // Relaxed, here and below: a counter that orders nothing.
    if world.active.fetch_add(1, Ordering::Relaxed) >= ACTIVE {
        world.active.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    let active = Active(&world);
    let classes = world.program.classes;
    let (blocks, panics) = match site {
        Site::Drop | Site::Clone => {
            (classes.has(Class::Destructors), classes.has(Class::PanickingDestructors))
        }
        Site::Wake => (classes.has(Class::BlockingWakers), classes.has(Class::PanickingWakers)),
        Site::Notify | Site::Payload => (true, false),
        Site::Policy => (false, false),
    };
    let unwinding = std::thread::panicking();
    let context = Context { world: world.clone(), endless: false, blocks, panics: panics && !unwinding };
    let body = world.program.script(script);
    if panics && !unwinding {
        run(&context, &body);
    } else {
        // A panic must not leave a destructor during an unwind.
        quietly(|| run(&context, &body));
    }
    drop(active);
}

/// A waker that calls the API.
pub struct OddWaker(Weak<World>, Option<u8>);

impl OddWaker {
    /// With this script.
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
