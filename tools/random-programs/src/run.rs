//! The body of a thread, step by step.

use crate::act::{How, perform, task};
use crate::call_out::{OddWaker, Payload};
use crate::class::Class;
use crate::evt;
use crate::ledger::{Offered, Tracked as T};
use crate::program::{Act, Body, Evt, Form, Op, PanicKind, Pending, Prepared};
use crate::threads::{self, Work};
use crate::world::World;
use crate::{generators, groups};
use lamprey::event::{AsyncEvent, Event};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

lamprey::host_local! {
    static LOCAL: RefCell<Vec<T>> = RefCell::default();
}

thread_local! {
    static THREAD_LOCAL: RefCell<Vec<T>> = RefCell::default();
}

/// What a thread may do at its site.
#[derive(Clone)]
pub struct Context {
    pub world: Arc<World>,
    /// It is cancelled at the end of the program, so it may wait without a limit.
    pub endless: bool,
    /// It may wait at all.
    pub blocks: bool,
    /// It may panic.
    pub panics: bool,
}

impl Context {
    /// The context of a thread that can be cancelled.
    pub fn free(world: &Arc<World>) -> Self {
        Self { world: world.clone(), endless: true, blocks: true, panics: true }
    }

    fn has(&self, class: Class) -> bool {
        self.world.program.classes.has(class)
    }

    /// The same, if only a limit of its own ends a wait.
    pub fn limited(&self) -> Self {
        Self { endless: false, ..self.clone() }
    }

    /// The same, if it must not wait.
    pub fn awake(&self) -> Self {
        Self { endless: false, blocks: false, ..self.clone() }
    }
}

/// The time encoded by a number of a program.
pub fn time(n: u8) -> Duration {
    Duration::from_micros(u64::from(n) * 20)
}

/// Runs a closure that may panic, and drops the payload, which may panic too.
pub fn quietly(f: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(f)) {
        let _ = catch_unwind(AssertUnwindSafe(|| drop(payload))).map_err(std::mem::forget);
    }
}

/// Does a body's steps, until the program's budget is used up.
pub fn run(context: &Context, body: &Body) {
    if context.endless {
        crate::call_out::mark_own();
    }
    for op in body.iter() {
        if !context.world.step() {
            return;
        }
        step(context, op);
    }
}

/// Waits in the form that the program says and the site allows.
pub fn wait_as<R>(context: &Context, form: Form, f: impl FnOnce(How) -> R) -> Option<R> {
    if !context.blocks {
        return Some(f(How::Try));
    }
    // Limits from outside do not reach a thread that unwinds.
    let unwinding = std::thread::panicking();
    match form {
        Form::Try => Some(f(How::Try)),
        Form::Within(n) => Some(f(How::Within(time(n)))),
        Form::Under(n) if unwinding => Some(f(How::Within(time(n)))),
        Form::Endless if unwinding => Some(f(How::Within(time(100)))),
        Form::Endless if context.endless => Some(f(How::Plain)),
        Form::Under(n) => lamprey::with_timeout(time(n), || f(How::Plain)).ok(),
        Form::Endless => lamprey::with_timeout(time(100), || f(How::Plain)).ok(),
    }
}

/// [`wait_as`] for waiting by polling, in which a thread that unwinds holds up its whole worker.
pub fn poll_as<R>(context: &Context, form: Form, f: impl FnOnce(How) -> R) -> Option<R> {
    let still = std::thread::panicking() && !context.has(Class::UnwindingWaits);
    wait_as(context, if still { Form::Try } else { form }, f)
}

/// Runs code that may wait, unless the thread unwinds, with a limit if necessary.
pub fn wait_in(context: &Context, limit: u8, f: impl FnOnce()) {
    if !context.blocks || std::thread::panicking() {
        return;
    }
    if context.endless {
        f();
    } else {
        let _ = lamprey::with_timeout(time(limit), f);
    }
}

fn sync(context: &Context, evt: &Evt, form: Form) {
    if evt::is_endless(evt) {
        wait_in(context, 100, || sync_now(context, evt, form));
    } else {
        sync_now(context, evt, form);
    }
}

fn sync_now(context: &Context, evt: &Evt, form: Form) {
    let mut offers = Vec::new();
    let exact = evt::is_exact(evt) && context.has(Class::ChoiceCommits);
    poll_as(context, form, |how| {
        let event = evt::build(context, evt, &mut offers);
        let mut offered = Offered::new(&context.world.ledger, if exact { offers } else { Vec::new() });
        let sent = match how {
            How::Try => event.poll(),
            How::Within(limit) => event.sync_timeout(limit),
            How::Plain => Some(event.sync()),
        };
        offered.sent(&sent.unwrap_or_default());
    });
}

fn begin(context: &Context, act: Act, then: Pending) {
    let (w, on) = (&context.world, usize::from(act.on));
    // The threads that it starts run on top of it, as a stackful parasite may.
    if lamprey::Handle::current().is_none() || !context.blocks {
        return;
    }
    let ((), pending) = match act.what {
        crate::program::What::Send => {
            w.channels[1 + on % 2].0.a_send_evt(T::new(w, act.script)).a_wrap(drop).a_sync()
        }
        crate::program::What::Recv => {
            w.channels[1 + on % 2].1.a_recv_evt().a_wrap(|v| v.into_iter().for_each(crate::act::got)).a_sync()
        }
        _ => lamprey::event::future_evt(task(w, act)).spawn_evt().a_sync(),
    };
    match then {
        Pending::Drop => drop(pending),
        Pending::Cancel(n) => wait_in(context, n, || drop(pending.cancel_and_join())),
        Pending::Sync(n) => drop(poll_as(context, Form::Within(n), |how| match how {
            How::Try => pending.poll().map(drop),
            How::Within(limit) => pending.sync_timeout(limit).map(drop),
            How::Plain => {
                drop(pending.sync());
                Some(())
            }
        })),
    }
}

fn poll(context: &Context, act: Act, polls: u8, script: Option<u8>, keep: bool) {
    let mut future = task(&context.world, act);
    for _ in 0..polls {
        let waker = OddWaker::waker(&context.world, script);
        if let Poll::Ready(()) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return;
        }
    }
    if keep {
        context.world.futures.put(future);
    }
}

fn kept_future(context: &Context, goes_on: bool) {
    let Some(mut future) = context.world.futures.take() else { return };
    let waker = OddWaker::waker(&context.world, None);
    if goes_on && future.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending() {
        context.world.futures.put(future);
    }
}

fn panic_as(context: &Context, kind: PanicKind, script: Option<u8>) {
    if !context.panics || std::thread::panicking() {
        return;
    }
    match kind {
        PanicKind::Resume => resume_unwind(Box::new("a panic of the program")),
        PanicKind::Text => panic!("a panic of the program"),
        PanicKind::Payload => resume_unwind(Box::new(Payload(Arc::downgrade(&context.world), script))),
    }
}

fn compute(micros: u8) {
    let end = Instant::now() + Duration::from_micros(u64::from(micros));
    while Instant::now() < end {
        std::hint::spin_loop();
    }
}

fn suspend(context: &Context, body: &Body) {
    wait_in(context, 50, || {
        let _ = lamprey::suspend(|token| {
            context.world.wakes.put(token);
            run(&context.awake(), body);
        });
    });
}

fn reify(context: &Context, form: Form, body: &Body) {
    let reified = lamprey::parasite::reify(|parasite| {
        context.world.parasites.put(parasite);
        run(&context.awake(), body);
    });
    let Some(value) = poll_as(context, form, |how| match how {
        How::Try => None,
        How::Within(limit) => reified.evt().sync_timeout(limit),
        How::Plain => Some(reified.sync()),
    }) else {
        return;
    };
    value.into_iter().for_each(crate::act::got);
}

fn prepared(context: &Context, what: Prepared, script: Option<u8>) {
    let Some(parasite) = context.world.parasites.take() else { return };
    if matches!(what, Prepared::Abandon) {
        return drop(parasite);
    }
    let ready = parasite.prepare(T::new(&context.world, script));
    match what {
        Prepared::Attach => ready.attach(),
        Prepared::Spawn if lamprey::Handle::current().is_some() => drop(ready.spawn()),
        _ => drop(ready),
    }
}

/// Operations on whole objects: printing and repairing them.
fn other_end(context: &Context, script: Option<u8>) {
    let w = &context.world;
    drop(format!("{:?} {:?} {:?} {:?}", w.mutexes, w.rwlocks, w.ivars, w.cell));
    w.mutexes.iter().for_each(|mutex| mutex.clear_poison());
    w.rwlocks.iter().for_each(|lock| lock.clear_poison());
    w.semaphore.add_permits(1);
    w.broad_in.put(w.broad.subscribe());
    w.watch_in.put(w.watch.subscribe());
    w.cast_in.put(w.cast.subscribe());
    if let Some(script) = script {
        drop((w.broad_in.take(), w.watch_in.take()));
        drop((w.cast_in.take().filter(|_| script % 2 == 0), w.one_in.take(), w.one_out.take()));
    }
}

/// Does one step.
pub fn step(context: &Context, op: &Op) {
    let w = &context.world;
    match op {
        Op::Yield if context.blocks => lamprey::yield_now(),
        Op::Yield => {}
        // A simulation's clock goes on by steps of threads only.
        Op::Compute(_) if w.simulated => {}
        Op::Compute(micros) => compute(*micros),
        Op::Do(act, form) => drop(wait_as(context, *form, |how| perform(w, *act, how))),
        Op::Sync(evt, form) => sync(context, evt, *form),
        Op::Begin(act, then) => begin(context, *act, *then),
        Op::Wait(act) if !std::thread::panicking() => wait_in(context, 50, || lamprey::wait(task(w, *act))),
        Op::Wait(act) => {
            if context.blocks && context.has(Class::UnwindingWaits) {
                let _ = lamprey::wait(lamprey::with_timeout_async(time(20), task(w, *act)));
            }
        }
        Op::Poll { act, polls, script, keep } => poll(context, *act, *polls, *script, *keep),
        Op::Kept(goes_on) => kept_future(context, *goes_on),
        Op::Spawn(kind, body, fate) => {
            if let Some(kept) = threads::spawn(context, *kind, Work::Body(body.clone())) {
                threads::end(context, kept, *fate);
            }
        }
        Op::Handle(fate) => {
            if let Some(kept) = w.kept.take() {
                threads::end(context, kept, *fate);
            }
        }
        Op::Scope { isolate, children, body, cancel } => {
            wait_in(context, 100, || groups::scope(context, *isolate, children, body, *cancel));
        }
        Op::JoinAll(bodies) => wait_in(context, 100, || groups::join_all(context, bodies)),
        Op::Race(bodies) => wait_in(context, 100, || groups::race(context, bodies)),
        Op::Supervise { children, strategy } => {
            wait_in(context, 100, || groups::supervise(context, children, *strategy));
        }
        Op::Runtime(shape, body) => groups::runtime(context, shape, body),
        Op::Repeat(n, body) => (0..*n).for_each(|_| run(context, body)),
        Op::Limit(n, body) if context.blocks && !std::thread::panicking() => {
            let inner = Context { endless: true, ..context.clone() };
            let _ = lamprey::with_timeout(time(*n), || run(&inner, body));
        }
        Op::Limit(_, body) => run(context, body),
        Op::Token(n, body) => drop(w.tokens[usize::from(*n) % 3].run(|| run(context, body))),
        Op::CancelToken(n) => w.tokens[usize::from(*n) % 3].cancel(),
        Op::Shield(body) => lamprey::shield(|| run(&context.limited(), body)),
        Op::Catch(body) => quietly(|| run(&Context { panics: true, ..context.clone() }, body)),
        Op::Block(body) if context.blocks => lamprey::block(|| run(&context.limited(), body)),
        Op::Block(_) => {}
        Op::Panic(kind, script) => panic_as(context, *kind, *script),
        Op::Suspend(body) => suspend(context, body),
        Op::Wake(uses) => {
            if let Some(token) = w.wakes.take() {
                if *uses { token.wake() } else { drop(token) }
            }
        }
        Op::Reify(form, body) => reify(context, *form, body),
        Op::Prepared(what, script) => prepared(context, *what, *script),
        Op::Inflate if context.blocks => lamprey::parasite::inflate().sync(),
        Op::Inflate => {}
        // A host-local that a call-out makes gets no script: values that destructors of host-locals make
        // again and again are leaked.
        Op::Local(script) => {
            let script = script.filter(|_| context.endless);
            LOCAL.with(|local| local.borrow_mut().push(T::new(w, script)));
        }
        Op::ThreadLocal(script) => {
            let _ = THREAD_LOCAL.try_with(|local| local.borrow_mut().push(T::new(w, *script)));
        }
        Op::Generator { body, resumes, keep } => generators::generator(context, body, *resumes, *keep),
        Op::Resume(ends) => generators::resume(*ends),
        Op::Sockets { tcp, reader, writes, form } => threads::sockets(context, *tcp, reader, *writes, *form),
        Op::Pipe { channel, sends, receives, script, sender, receiver } => {
            let (out, into) = threads::pipe(w, *channel, *script);
            let sender = threads::spawn(context, *sender, Work::Produce(out, *sends));
            let receiver = threads::spawn(context, *receiver, Work::Consume(into, *receives));
            [sender, receiver].into_iter().flatten().for_each(|kept| w.kept.put(kept));
        }
        Op::OtherEnd(script) => other_end(context, *script),
    }
}
