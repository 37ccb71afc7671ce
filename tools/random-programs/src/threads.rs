//! Threads of control of every kind, and how their handles end.

use crate::act::{How, got, task};
use crate::class::Class;
use crate::evt;
use crate::ledger::Tracked as T;
use crate::program::{Body, Fate, Form, Kind, Op};
use crate::run::{Context, poll_as, run, time, wait_in};
use crate::world::{Kept, Task, World};
use lamprey::event::Event;
use lamprey::net::{TcpListener, TcpStream, UnixStream};
use lamprey::{Builder, Handle, JoinError, bounded, mailbox, oneshot};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// The work of a thread.
pub enum Work {
    Body(Body),
    Produce(Out, u8),
    Consume(In, u8),
    Read(Stream, Body),
}

/// The sending end of a channel between two threads.
pub enum Out {
    Rendezvous(lamprey::Sender<T>, Option<u8>),
    Bounded(bounded::Sender<T>, Option<u8>),
    Mailbox(mailbox::Sender<T>, Option<u8>),
    Oneshot(Option<oneshot::Sender<T>>, Option<u8>),
}

/// The receiving end of such a channel.
pub enum In {
    Rendezvous(lamprey::Receiver<T>),
    Bounded(bounded::Receiver<T>),
    Mailbox(mailbox::Receiver<T>),
    Oneshot(Option<oneshot::Receiver<T>>),
}

/// An end of a connection.
pub enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

/// A channel of this kind.
pub fn pipe(_: &Arc<World>, channel: u8, script: Option<u8>) -> (Out, In) {
    match channel % 5 {
        0 => {
            let (tx, rx) = lamprey::channel();
            (Out::Rendezvous(tx, script), In::Rendezvous(rx))
        }
        1 => {
            let (tx, rx) = lamprey::channel_attach_inline();
            (Out::Rendezvous(tx, script), In::Rendezvous(rx))
        }
        2 => {
            let (tx, rx) = bounded(1);
            (Out::Bounded(tx, script), In::Bounded(rx))
        }
        3 => {
            let (tx, rx) = mailbox();
            (Out::Mailbox(tx, script), In::Mailbox(rx))
        }
        _ => {
            let (tx, rx) = oneshot();
            (Out::Oneshot(Some(tx), script), In::Oneshot(Some(rx)))
        }
    }
}

/// A runtime to spawn in: the calling host's, or one of the program's.
pub fn runtime(context: &Context, n: u8) -> Option<Handle> {
    let handles = context.world.handles.get()?;
    Handle::current().or_else(|| handles.get(usize::from(n) % handles.len().max(1)).cloned())
}

/// Starts a thread.
pub fn spawn(context: &Context, kind: Kind, work: Work) -> Option<Kept> {
    let free = Context::free(&context.world);
    // A parasite starts on top of the host, and may block there.
    let in_host = Handle::current().is_some() && context.blocks;
    let result = T::new(&context.world, None);
    let thread = {
        let free = free.clone();
        move |work| {
            do_work(&free, work);
            result
        }
    };
    Some(match kind {
        Kind::Os => {
            let limited = free.limited();
            let thread = std::thread::spawn(move || {
                crate::run::quietly(|| do_work(&limited, work));
            });
            context.world.os_threads.put(thread);
            return None;
        }
        Kind::HostOn(n) => {
            let runtime = runtime(context, 0)?;
            let builder = Builder::new().name("placed").worker(usize::from(n) % runtime.workers());
            Kept::Host(builder.spawn_in(&runtime, move || thread(work)).ok()?)
        }
        Kind::HostOf(n) => {
            let handles = context.world.handles.get()?;
            Kept::Host(handles[usize::from(n) % handles.len()].spawn(move || thread(work)))
        }
        Kind::Stackless if in_host => Kept::Parasite(lamprey::parasite(task_of(free, work))),
        Kind::StacklessLocal if in_host => Kept::Parasite(lamprey::parasite_local(task_of(free, work))),
        Kind::Stackful if in_host => Kept::Parasite(lamprey::parasite_fn(move || thread(work))),
        Kind::StackfulLocal if in_host => Kept::Parasite(lamprey::parasite_fn_local(move || thread(work))),
        Kind::Pool if in_host => {
            let limited = free.limited();
            let job = async move {
                let world = limited.world.clone();
                lamprey::block_async(move || do_work(&limited, work)).await;
                T::new(&world, None)
            };
            Kept::Parasite(lamprey::parasite(job))
        }
        _ => Kept::Host(runtime(context, 0)?.spawn(move || thread(work))),
    })
}

fn ended(result: Result<T, JoinError>) {
    match result {
        Ok(value) => got(value),
        Err(error) => drop(format!("{error} {error:?}")),
    }
}

/// Ends a handle.
pub fn end(context: &Context, kept: Kept, fate: Fate) {
    match (fate, kept) {
        (Fate::Keep, kept) => context.world.kept.put(kept),
        (Fate::Drop, Kept::Host(handle)) => drop(handle),
        (Fate::Drop, Kept::Parasite(handle)) => handle.detach(),
        (Fate::Cancel, Kept::Host(handle)) => handle.cancel(),
        (Fate::Cancel, Kept::Parasite(handle)) => drop(handle),
        (Fate::CancelAndJoin, Kept::Host(handle)) => {
            handle.cancel();
            end(context, Kept::Host(handle), Fate::Join(Form::Endless));
        }
        (Fate::CancelAndJoin, Kept::Parasite(handle)) => {
            wait_in(context, 100, || ended(handle.cancel_and_join()));
        }
        (Fate::Join(form), kept) => drop(poll_as(context, form, |how| match how {
            How::Try => match kept {
                Kept::Host(handle) if handle.is_finished() => ended(handle.join()),
                Kept::Parasite(handle) if handle.is_finished() => ended(handle.join()),
                kept => context.world.kept.put(kept),
            },
            How::Within(limit) => join_within(kept, limit),
            How::Plain => match kept {
                Kept::Host(handle) => ended(handle.join()),
                Kept::Parasite(handle) => ended(handle.join()),
            },
        })),
        (Fate::JoinEvt(n), kept) => drop(poll_as(context, Form::Within(n), |how| match how {
            How::Try => {}
            _ => join_within(kept, time(n)),
        })),
    }
}

fn join_within(kept: Kept, limit: Duration) {
    match kept {
        Kept::Host(mut handle) => handle.join_evt().sync_timeout(limit).into_iter().for_each(ended),
        Kept::Parasite(mut handle) => handle.join_evt().sync_timeout(limit).into_iter().for_each(ended),
    }
}

/// Does the work of a thread with a stack.
fn do_work(context: &Context, work: Work) {
    // A thread that is not cancelled at the end has a limit.
    let limit = if context.endless { Duration::from_secs(1) } else { Duration::from_millis(2) };
    match work {
        Work::Body(body) => run(context, &body),
        Work::Produce(out, n) => {
            let _ = lamprey::with_timeout(limit, || produce(context, out, n));
        }
        Work::Consume(end, n) => {
            let _ = lamprey::with_timeout(limit, || consume(end, n));
        }
        Work::Read(mut stream, body) => {
            let mut bytes = [0; 16];
            stream.limit_reads();
            while let Ok(1..) = stream.read(&mut bytes) {
                run(context, &body);
            }
        }
    }
}

fn produce(context: &Context, mut out: Out, n: u8) {
    for _ in 0..n {
        let value = |script| T::new(&context.world, script);
        let sent = match &mut out {
            Out::Rendezvous(tx, script) => tx.send(value(*script)).is_ok(),
            Out::Bounded(tx, script) => tx.send(value(*script)).is_ok(),
            Out::Mailbox(tx, script) => tx.send(value(*script)).is_ok(),
            Out::Oneshot(tx, script) => tx.take().is_some_and(|tx| tx.send(value(*script)).is_ok()),
        };
        if !sent {
            return;
        }
    }
}

fn consume(mut end: In, n: u8) {
    for _ in 0..n {
        let value = match &mut end {
            In::Rendezvous(rx) => rx.recv().ok(),
            In::Bounded(rx) => rx.recv().ok(),
            In::Mailbox(rx) => rx.recv().ok(),
            In::Oneshot(rx) => rx.take().and_then(|rx| rx.recv().ok()),
        };
        match value {
            Some(value) => got(value),
            None => return,
        }
    }
}

async fn produce_async(world: Arc<World>, mut out: Out, n: u8) {
    for _ in 0..n {
        let value = |script| T::new(&world, script);
        let sent = match &mut out {
            Out::Rendezvous(tx, script) => tx.send_async(value(*script)).await.is_ok(),
            Out::Bounded(tx, script) => tx.send_async(value(*script)).await.is_ok(),
            Out::Mailbox(tx, script) => tx.send(value(*script)).is_ok(),
            Out::Oneshot(tx, script) => tx.take().is_some_and(|tx| tx.send(value(*script)).is_ok()),
        };
        if !sent {
            return;
        }
    }
}

async fn consume_async(mut end: In, n: u8) {
    for _ in 0..n {
        let value = match &mut end {
            In::Rendezvous(rx) => rx.recv_async().await.ok(),
            In::Bounded(rx) => rx.recv_async().await.ok(),
            In::Mailbox(rx) => rx.recv_async().await.ok(),
            In::Oneshot(rx) => match rx.take() {
                Some(rx) => rx.await.ok(),
                None => None,
            },
        };
        match value {
            Some(value) => got(value),
            None => return,
        }
    }
}

fn task_of(context: Context, work: Work) -> std::pin::Pin<Box<dyn Future<Output = T> + Send>> {
    Box::pin(async move {
        let world = context.world.clone();
        match work {
            Work::Body(body) => steps(context, body).await,
            Work::Produce(out, n) => produce_async(world.clone(), out, n).await,
            Work::Consume(end, n) => consume_async(end, n).await,
            Work::Read(stream, body) => {
                let mut bytes = [0; 16];
                while let Ok(Ok(1..)) =
                    lamprey::with_timeout_async(time(200), stream.read_async(&mut bytes)).await
                {
                    steps(context.clone(), body.clone()).await;
                }
            }
        }
        T::new(&world, None)
    })
}

/// Does the steps of a stackless parasite.
pub fn steps(context: Context, body: Body) -> Task {
    Box::pin(async move {
        for op in body.iter() {
            if !context.world.step() {
                return;
            }
            step_async(&context, op).await;
        }
    })
}

async fn step_async(context: &Context, op: &Op) {
    let w = &context.world;
    match op {
        Op::Yield => lamprey::yield_now_async().await,
        Op::Do(act, Form::Within(n) | Form::Under(n)) => {
            let _ = lamprey::with_timeout_async(time(*n), task(w, *act)).await;
        }
        Op::Do(act, Form::Endless) | Op::Wait(act) => task(w, *act).await,
        Op::Sync(evt, Form::Within(n) | Form::Under(n)) => {
            let event = evt::build_for_future(context, evt);
            let _ = lamprey::with_timeout_async(time(*n), event.into_future()).await;
        }
        Op::Sync(evt, Form::Endless) => drop(evt::build_for_future(context, evt).await),
        Op::Spawn(kind, body, Fate::Join(_)) => match spawn(context, *kind, Work::Body(body.clone())) {
            Some(Kept::Host(handle)) => ended(handle.await),
            Some(Kept::Parasite(handle)) => ended(handle.await),
            None => {}
        },
        Op::Repeat(n, body) => {
            for _ in 0..*n {
                steps(context.clone(), body.clone()).await;
            }
        }
        Op::Limit(n, body) => {
            let _ = lamprey::with_timeout_async(time(*n), steps(context.clone(), body.clone())).await;
        }
        Op::Token(n, body) => {
            let _ = w.tokens[usize::from(*n) % 3].run_async(steps(context.clone(), body.clone())).await;
        }
        Op::Inflate => lamprey::parasite::inflate().await,
        Op::Reify(Form::Endless, _) => {
            got(lamprey::parasite::reify(|parasite| w.parasites.put(parasite)).await);
        }
        _ => {
            let blocks = w.program.classes.has(Class::BlockingPolls);
            let inside = if blocks { context.limited() } else { context.awake() };
            crate::run::step(&inside, op);
        }
    }
}

impl Stream {
    fn limit_reads(&self) {
        let _ = match self {
            Self::Unix(stream) => stream.set_read_timeout(Some(Duration::from_millis(2))),
            Self::Tcp(stream) => stream.set_read_timeout(Some(Duration::from_millis(2))),
        };
    }

    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(bytes),
            Self::Tcp(stream) => stream.read(bytes),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    async fn read_async(&self, bytes: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read_async(bytes).await,
            Self::Tcp(stream) => stream.read_async(bytes).await,
        }
    }
}

fn pair(tcp: bool) -> std::io::Result<(Stream, Stream)> {
    if !tcp {
        let (a, b) = UnixStream::pair()?;
        return Ok((Stream::Unix(a), Stream::Unix(b)));
    }
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let a = TcpStream::connect(listener.local_addr()?)?;
    let (b, _) = listener.accept()?;
    Ok((Stream::Tcp(a), Stream::Tcp(b)))
}

/// A connection, with a reader at its other end.
pub fn sockets(context: &Context, tcp: bool, reader: &(Kind, Body), writes: u8, form: Form) {
    wait_in(context, 200, || {
        let Ok((mut mine, theirs)) = pair(tcp) else { return };
        let kept = spawn(context, reader.0, Work::Read(theirs, reader.1.clone()));
        for n in 0..writes {
            let _ = mine.write(&[n; 4]);
        }
        if matches!(form, Form::Within(_)) {
            mine.limit_reads();
            let _ = mine.read(&mut [0; 4]);
        }
        drop(mine);
        if let Some(kept) = kept {
            end(context, kept, Fate::Join(form));
        }
    });
}
