//! A whole program: its runtimes, its end, and the final checks.

use crate::call_out::{Site, call_out};
use crate::class::{Class, Classes};
use crate::program::{Body, Program, Shape};
use crate::run::{Context, quietly, run};
use crate::world::World;
use lamprey::{Notifier, Policy, Ready, Runtime, Source, Unstarted, Why};
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// How long ended threads may take to finish.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the main hosts of a program may take.
const MAIN: Duration = Duration::from_millis(20);

/// A policy that is sometimes last in, first out; it may call the API.
struct Odd {
    ready: VecDeque<Ready>,
    calls: u32,
    world: Weak<World>,
    script: Option<u8>,
}

impl Policy for Odd {
    fn ready(&mut self, thread: Ready, _: Why) {
        self.ready.push_back(thread);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        self.calls += 1;
        call_out(&self.world, self.script, Site::Policy);
        self.ready.extend(unstarted.pop());
        if self.calls.is_multiple_of(3) { self.ready.pop_back() } else { self.ready.pop_front() }
    }
}

/// A source in which its worker sleeps, and which wakes hosts that have suspended themselves.
struct Bell {
    rung: Arc<(Mutex<bool>, Condvar)>,
    world: Weak<World>,
    script: Option<u8>,
}

impl Source for Bell {
    fn poll(&mut self) {
        let token = self.world.upgrade().and_then(|world| world.wakes.take());
        token.into_iter().for_each(lamprey::WakeToken::wake);
    }

    fn wait(&mut self, timeout: Option<Duration>) {
        let rung = self.rung.0.lock().unwrap_or_else(PoisonError::into_inner);
        let timeout = timeout.unwrap_or(Duration::from_secs(60));
        let waited = self.rung.1.wait_timeout_while(rung, timeout, |rung| !*rung);
        let (mut rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        *rung = false;
    }

    fn notifier(&self) -> Option<Notifier> {
        let (rung, world, script) = (self.rung.clone(), self.world.clone(), self.script);
        Some(Notifier::new(move || {
            *rung.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
            rung.1.notify_all();
            call_out(&world, script, Site::Notify);
        }))
    }
}

/// A runtime of this shape.
pub fn build(world: &Arc<World>, shape: &Shape) -> io::Result<Runtime> {
    let classes = world.program.classes;
    let mut builder = Runtime::builder()
        .workers(usize::from(shape.workers))
        .stack_size(4 << 20)
        .blocking_threads(4)
        .offering(shape.offering)
        .inflation(shape.inflation);
    if shape.policy {
        let world = Arc::downgrade(world);
        let script = shape.script.filter(|_| classes.has(Class::BusyPolicies));
        builder =
            builder.policy(move || Odd { ready: VecDeque::new(), calls: 0, world: world.clone(), script });
    }
    if shape.source {
        let world = Arc::downgrade(world);
        let script = shape.script.filter(|_| classes.has(Class::Notifiers));
        builder = builder.source(move || {
            Ok(Box::new(Bell { rung: Arc::default(), world: world.clone(), script }) as Box<dyn Source>)
        });
    }
    builder.build()
}

/// Runs a main host, for a limited time.
pub fn run_main(runtime: &Runtime, context: &Context, body: &Body, limit: Duration) {
    quietly(|| {
        let _ = runtime.run(|| lamprey::with_timeout(limit, || run(context, body)));
    });
}

/// What the main hosts of a program do.
pub fn run_body(context: &Context, body: &Body) {
    let _ = lamprey::with_timeout(MAIN, || run(context, body));
}

/// Ends a runtime.
pub fn end(world: &World, runtime: Runtime, shape: &Shape) {
    match shape.shutdown {
        Some(millis) => drop(format!("{:?}", runtime.shutdown(Duration::from_millis(millis.into())))),
        None => {
            let survivors = runtime.shutdown(PATIENCE);
            for survivor in survivors {
                world.ledger.wrong(format!("{PATIENCE:?} after it was cancelled there is still {survivor}"));
            }
        }
    }
}

/// Drops what threads have left for others.
pub fn drain(world: &World) {
    loop {
        let things = (world.kept.take(), world.futures.take(), world.wakes.take(), world.parasites.take());
        let ends = (world.one_in.take(), world.one_out.take());
        let over = things.0.is_none() && things.1.is_none() && things.2.is_none() && things.3.is_none();
        let over = over && ends.0.is_none() && ends.1.is_none();
        quietly(|| drop(things));
        quietly(|| drop(ends));
        if over {
            return;
        }
    }
}

fn everything(world: &Arc<World>) {
    let runtimes: Vec<_> = world.program.runtimes.iter().map(|shape| build(world, shape)).collect();
    let Ok(runtimes) = runtimes.into_iter().collect::<io::Result<Vec<_>>>() else {
        world.ledger.wrong("no runtime could be built".to_owned());
        return;
    };
    let _ = world.handles.set(runtimes.iter().map(Runtime::handle).collect());
    std::thread::scope(|threads| {
        for (runtime, body) in runtimes.iter().zip(&world.program.mains) {
            let context = Context::free(world);
            threads.spawn(move || run_main(runtime, &context, body, MAIN));
        }
    });
    for (runtime, shape) in runtimes.into_iter().zip(&world.program.runtimes) {
        end(world, runtime, shape);
    }
    while let Some(thread) = world.os_threads.take() {
        let _ = thread.join();
    }
    drain(world);
}

/// Runs a program, and returns its failures.
pub fn run_program(bytes: &[u8], classes: Classes) -> Vec<String> {
    let world = World::new(Program::decode(bytes, classes), false);
    let ledger = world.ledger.clone();
    let main = {
        let world = world.clone();
        std::thread::spawn(move || everything(&world))
    };
    if main.join().is_err() {
        ledger.wrong("the program's main thread panicked".to_owned());
    }
    let deadline = Instant::now() + PATIENCE;
    // Detached threads may still be ending.
    while Arc::strong_count(&world) > 1 {
        if Instant::now() > deadline {
            ledger.wrong(format!("{} threads or values outlive the program", Arc::strong_count(&world) - 1));
            break;
        }
        std::thread::sleep(Duration::from_micros(200));
        drain(&world);
    }
    drop(world);
    let all_are_dropped = !classes.has(Class::Destructors) && !classes.has(Class::PanickingDestructors);
    let deadline = Instant::now() + PATIENCE;
    loop {
        // Asked first: the last value may be dropped between the two.
        let is_hopeless = ledger.is_hopeless();
        let wrongs = ledger.close(all_are_dropped);
        if wrongs.is_empty() || Instant::now() > deadline || is_hopeless {
            return wrongs;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
