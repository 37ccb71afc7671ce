//! Groups of threads that end together: scopes, races, supervisors, runtimes.

use crate::program::{Body, Kind, Shape};
use crate::run::{Context, run, time};
use crate::threads;
use crate::whole;
use lamprey::scope::{
    Backoff, Restart, Strategy, Supervisor, isolate, join_all as join_each, race as race_all,
};
use lamprey::{Builder, Scope};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A scope with children of all kinds.
pub fn scope(context: &Context, isolated: bool, children: &[(Kind, Body)], body: &Body, cancel: bool) {
    if isolated {
        isolate(|scope| within(context, scope, children, body, cancel));
    } else {
        lamprey::scope(|scope| within(context, scope, children, body, cancel));
    }
}

fn within<'scope, 'env>(
    context: &'env Context,
    scope: &'scope Scope<'scope, 'env>,
    children: &'env [(Kind, Body)],
    body: &'env Body,
    cancel: bool,
) {
    let free = Context::free(&context.world);
    for (kind, child) in children {
        let context = free.clone();
        match kind {
            Kind::Stackless | Kind::StacklessLocal if lamprey::Handle::current().is_some() => {
                drop(scope.parasite(threads::steps(context, child.clone())));
            }
            Kind::Stackful | Kind::StackfulLocal if lamprey::Handle::current().is_some() => {
                drop(scope.parasite_fn(move || run(&context, child)));
            }
            _ => {
                let Some(runtime) = threads::runtime(&context, 0) else { return };
                drop(scope.spawn_in(&runtime, Builder::new(), move || run(&context, child)));
            }
        }
    }
    run(context, body);
    if cancel {
        scope.cancel();
    }
}

/// Joins all of the bodies.
pub fn join_all(context: &Context, bodies: &[Body]) {
    if lamprey::Handle::current().is_some() {
        let free = Context::free(&context.world);
        join_each(bodies.iter().map(|body| || run(&free, body)));
    }
}

/// Races the bodies.
pub fn race(context: &Context, bodies: &[Body]) {
    if lamprey::Handle::current().is_some() {
        let free = Context::free(&context.world);
        let free = &free;
        let tasks = bodies.iter().map(|body| {
            move || {
                run(free, body);
                if body.len() % 2 == 0 { Ok(()) } else { Err(()) }
            }
        });
        let _ = race_all(tasks);
    }
}

/// A supervisor, whose children are restarted.
pub fn supervise(context: &Context, children: &[Body], strategy: u8) {
    if lamprey::Handle::current().is_none() {
        return;
    }
    let free = Context::free(&context.world);
    let free = &free;
    let strategies = [Strategy::OneForOne, Strategy::OneForAll, Strategy::RestForOne];
    let mut supervisor = Supervisor::<String>::typed()
        .strategy(strategies[usize::from(strategy % 3)])
        .limit(2, Duration::from_secs(1))
        .backoff(Backoff::new(Duration::from_micros(50)));
    for (n, body) in children.iter().enumerate() {
        let runs = Arc::new(AtomicU32::new(0));
        let restart = if strategy & 4 == 0 { Restart::OnFailure } else { Restart::Never };
        supervisor = supervisor.child(n.to_string(), restart, move || {
            run(free, body);
            // Relaxed: a counter that orders nothing.
            let first = runs.fetch_add(1, Ordering::Relaxed) == 0;
            if first && body.len() % 2 == 1 { Err("once".to_owned()) } else { Ok(()) }
        });
    }
    let _ = supervisor.run();
}

/// A runtime within the program.
pub fn runtime(context: &Context, shape: &Shape, body: &Body) {
    if !context.blocks || std::thread::panicking() {
        return;
    }
    let Ok(runtime) = whole::build(&context.world, shape) else { return };
    let inner = Context::free(&context.world);
    whole::run_main(&runtime, &inner, body, time(200));
    whole::end(&context.world, runtime, shape);
}
