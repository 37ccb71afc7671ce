//! A whole program in a simulation: its runtimes are machines, which share a kernel thread and one clock.

use crate::class::{Class, Classes};
use crate::program::Program;
use crate::run::{Context, quietly};
use crate::whole::{drain, run_body};
use crate::world::World;
use lamprey::sim::Machine;
use lamprey::{Handle, JoinError, Panics, Runtime};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// How a run ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Simulated {
    /// Its failures.
    pub wrongs: Vec<String>,
    /// The simulator's log, if it was asked for and the run has ended.
    pub log: String,
}

/// Runs a program by this seed of the simulator.
pub fn run_simulated(bytes: &[u8], classes: Classes, seed: u64, logged: bool) -> Simulated {
    let world = World::new(Program::decode(bytes, classes), true);
    let ledger = world.ledger.clone();
    let mut log = String::new();
    // The first run on a kernel thread is to be as the others.
    crate::call_out::mark_own();
    let sim = Runtime::simulated(seed)
        .workers(usize::from(world.program.runtimes[0].workers))
        .stack_size(4 << 20)
        .panics(Panics::Report);
    let main = || everything(&world);
    let run = || if logged { log = sim.run_logged(main).1 } else { sim.run(main) };
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text =
            text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a payload without text");
        ledger.wrong(format!("the simulation failed: {text}"));
    }
    // Relaxed: read on this kernel thread. Without the simulation, scripts could wait for what never comes.
    world.over.store(true, Ordering::Relaxed);
    drain(&world);
    if Arc::strong_count(&world) > 1 {
        ledger.wrong(format!("{} threads or values outlive the program", Arc::strong_count(&world) - 1));
    }
    drop(world);
    let all_are_dropped = !classes.has(Class::Destructors) && !classes.has(Class::PanickingDestructors);
    Simulated { wrongs: ledger.close(all_are_dropped), log }
}

/// The main host of the simulation.
fn everything(world: &Arc<World>) {
    let machines: Vec<_> = (0..world.program.runtimes.len())
        .map(|number| if number == 0 { Machine::here() } else { Machine::new(&number.to_string()) })
        .collect();
    let handles = machines.iter().map(|machine| machine.spawn(Handle::current).join());
    let Ok(Some(handles)) = handles.collect::<Result<Option<Vec<_>>, JoinError>>() else {
        world.ledger.wrong("a machine has no runtime".to_owned());
        return;
    };
    let _ = world.handles.set(handles);
    let mains: Vec<_> = machines
        .iter()
        .zip(&world.program.mains)
        .map(|(machine, body)| {
            let (context, body) = (Context::free(world), body.clone());
            machine.spawn(move || quietly(|| run_body(&context, &body)))
        })
        .collect();
    for main in mains {
        let _ = main.join();
    }
    // What the program has kept ends by the simulator's clock, not after it.
    drain(world);
}
