//! Threads of all kinds run scripts over shared objects and are cancelled, each as a whole, at random
//! moments. Every call has an entry, and every value; afterwards they must agree with what the calls'
//! documentation says.

use super::attempt::value;
use super::holds;
use lamprey::event::{
    AsyncEvent, BoxedEvent, Event, Nack, Pending, choose, choose_all, future_evt, guard, prefer, with_nack,
};
use lamprey::rpc::CallError;
use lamprey::{
    CancelToken, JoinError, MVar, SwapChannel, channel, parasite, parasite_fn, scope, spawn, with_timeout,
};
use lamprey::{wait, with_timeout_async};
use proptest::prelude::*;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Op {
    Send(usize),
    Recv(usize),
    BoundedSend,
    BoundedRecv,
    Put,
    Take,
    Replace,
    Swap,
    Call,
    Serve,
    /// Sends to channel 0, or receives from channel 1 or the bounded one.
    Choose(Shape),
    /// The same as an asynchronous event, which is taken back.
    Begin(Shape),
    /// All three of them.
    Gather,
    /// Receives from both channels.
    Both,
    Yield,
    Sleep,
    Block,
}

/// How the branches of a choice are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Flat,
    Nested,
    /// With a limit of its own, that never comes.
    Limited,
    /// The send is the first part of a `choose_all`.
    Half,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Host,
    /// A host that waits for futures.
    Waiter,
    Stackful,
    Stackless,
    OsThread,
}

/// How it is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    Handle,
    Token,
    Scope,
    Deadline,
}

#[derive(Debug, Clone)]
struct Actor {
    kind: Kind,
    stop: Stop,
    /// By an OS thread.
    from_afar: bool,
    /// After so many turns of whoever cancels, or so many ticks of 50 us.
    after: u32,
    script: Vec<Op>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It was cancelled, if all is over.
    Pending,
    Done,
    /// What it gave came back, or there was no reply.
    Refused,
    /// Of a choice: it was the send.
    Sent,
}

/// A call, with the numbers of the values that it gave and got.
#[derive(Debug)]
struct Entry {
    op: Op,
    is_blocking: bool,
    gave: Option<usize>,
    got: Vec<usize>,
    end: End,
    /// Of the branches of a choice; true for the send.
    nacks: Vec<(bool, Nack)>,
}

/// What has become of a value; its giver is a call.
#[derive(Debug, Clone, Copy)]
struct Fate {
    giver: usize,
    receiver: Option<usize>,
    received: u32,
    dropped: u32,
}

#[derive(Default)]
struct Book {
    calls: Vec<Entry>,
    values: Vec<Fate>,
}

#[derive(Clone, Default)]
struct Ledger(Arc<Mutex<Book>>);

impl Ledger {
    fn with<R>(&self, f: impl FnOnce(&mut Book) -> R) -> R {
        f(&mut self.0.lock().unwrap())
    }

    fn call(&self, op: Op, is_blocking: bool) -> Writer {
        let entry =
            Entry { op, is_blocking, gave: None, got: Vec::new(), end: End::Pending, nacks: Vec::new() };
        let number = self.with(|book| {
            book.calls.push(entry);
            book.calls.len() - 1
        });
        Writer { ledger: self.clone(), number }
    }
}

/// A value with an entry.
struct Token {
    ledger: Ledger,
    number: usize,
}

impl Drop for Token {
    fn drop(&mut self) {
        self.ledger.with(|book| book.values[self.number].dropped += 1);
    }
}

/// Writes a call's entry.
#[derive(Clone)]
struct Writer {
    ledger: Ledger,
    number: usize,
}

impl Writer {
    /// The value that this call gives.
    fn token(&self) -> Token {
        let number = self.ledger.with(|book| {
            book.values.push(Fate { giver: self.number, receiver: None, received: 0, dropped: 0 });
            let number = book.values.len() - 1;
            assert!(book.calls[self.number].gave.replace(number).is_none());
            number
        });
        Token { ledger: self.ledger.clone(), number }
    }

    fn got(&self, token: Token) {
        self.ledger.with(|book| {
            book.calls[self.number].got.push(token.number);
            book.values[token.number].received += 1;
            book.values[token.number].receiver = Some(self.number);
        });
    }

    fn end(&self, end: End) {
        self.ledger.with(|book| book.calls[self.number].end = end);
    }
}

struct World {
    channels: [(lamprey::Sender<Token>, lamprey::Receiver<Token>); 2],
    bounded: (lamprey::bounded::Sender<Token>, lamprey::bounded::Receiver<Token>),
    var: MVar<Token>,
    swap: SwapChannel<Token>,
    rpc: (lamprey::rpc::Client<Token, Token>, lamprey::rpc::Server<Token, Token>),
    ledger: Ledger,
}

impl World {
    fn new() -> Self {
        Self {
            channels: [channel(), channel()],
            bounded: lamprey::bounded(1),
            var: MVar::empty(),
            swap: SwapChannel::new(),
            rpc: lamprey::rpc(),
            ledger: Ledger::default(),
        }
    }

    fn act(&self, op: Op) {
        let call = self.ledger.call(op, true);
        match op {
            Op::Send(at) => self.channels[at].0.send(call.token()).unwrap_or_else(|_| unreachable!()),
            Op::Recv(at) => call.got(self.channels[at].1.recv().unwrap()),
            Op::BoundedSend => self.bounded.0.send(call.token()).unwrap_or_else(|_| unreachable!()),
            Op::BoundedRecv => call.got(self.bounded.1.recv().unwrap()),
            Op::Put => self.var.put(call.token()).unwrap_or_else(|_| unreachable!()),
            Op::Take => call.got(self.var.take().unwrap()),
            Op::Replace => call.got(self.var.swap(call.token()).unwrap_or_else(|_| unreachable!())),
            Op::Swap => call.got(self.swap.swap(call.token())),
            Op::Call => match self.rpc.0.call(call.token()) {
                Ok(reply) => call.got(reply),
                Err(CallError::NoReply) => return call.end(End::Refused),
                Err(CallError::Disconnected(_)) => unreachable!(),
            },
            Op::Serve => {
                let (request, reply) = self.rpc.1.recv().unwrap();
                call.got(request);
                lamprey::yield_now();
                if reply.send(call.token()).is_err() {
                    return call.end(End::Refused);
                }
            }
            Op::Choose(Shape::Limited) => {
                let limited = self.choice(&call, Shape::Limited).sync_timeout(Duration::from_secs(600));
                return limited.expect("nobody waits so long");
            }
            Op::Choose(shape) => return self.choice(&call, shape).sync(),
            Op::Begin(shape) => {
                let mut begun = Begun(Some(self.choice(&call, shape).spawn_evt().a_sync().1));
                lamprey::yield_now();
                match begun.0.take().unwrap().cancel_and_join() {
                    Err(JoinError::Cancelled(_)) => call.end(End::Refused),
                    result => result.unwrap(),
                }
                return;
            }
            Op::Gather => drop(choose_all(self.branches(&call)).sync()),
            Op::Both => {
                let both = choose_all(self.channels.iter().map(|ends| ends.1.recv_evt()).collect::<Vec<_>>());
                both.sync().into_iter().for_each(|token| call.got(token.unwrap()));
            }
            Op::Yield => lamprey::yield_now(),
            Op::Sleep => lamprey::sleep(Duration::from_micros(70)),
            Op::Block => lamprey::block(|| {}),
        }
        call.end(End::Done);
    }

    async fn act_async(&self, op: Op) {
        let call = self.ledger.call(op, false);
        match op {
            Op::Send(at) => {
                self.channels[at].0.send_async(call.token()).await.unwrap_or_else(|_| unreachable!());
            }
            Op::Recv(at) => call.got(self.channels[at].1.recv_async().await.unwrap()),
            Op::BoundedSend => {
                self.bounded.0.send_async(call.token()).await.unwrap_or_else(|_| unreachable!());
            }
            Op::BoundedRecv => call.got(self.bounded.1.recv_async().await.unwrap()),
            Op::Put => self.var.put_async(call.token()).await.unwrap(),
            Op::Take => call.got(self.var.take_async().await.unwrap()),
            Op::Replace => call.got(self.var.swap_async(call.token()).await.unwrap()),
            Op::Swap => call.got(self.swap.swap_async(call.token()).await),
            Op::Call => match self.rpc.0.call_async(call.token()).await {
                Ok(reply) => call.got(reply),
                Err(CallError::NoReply) => return call.end(End::Refused),
                Err(CallError::Disconnected(_)) => unreachable!(),
            },
            Op::Serve => {
                let (request, reply) = self.rpc.1.recv_async().await.unwrap();
                call.got(request);
                lamprey::yield_now_async().await;
                if reply.send(call.token()).is_err() {
                    return call.end(End::Refused);
                }
            }
            Op::Choose(shape) | Op::Begin(shape) => return self.choice(&call, shape).await,
            Op::Gather => drop(choose_all(self.branches(&call)).await),
            Op::Both => {
                let both = choose_all(self.channels.iter().map(|ends| ends.1.recv_evt()).collect::<Vec<_>>());
                both.await.into_iter().for_each(|token| call.got(token.unwrap()));
            }
            Op::Yield => lamprey::yield_now_async().await,
            Op::Sleep => lamprey::sleep_async(Duration::from_micros(70)).await,
            Op::Block => lamprey::block_async(|| {}).await,
        }
        call.end(End::Done);
    }

    /// A choice of them; those with a receive from the bounded channel have a future among them.
    fn choice(&self, call: &Writer, shape: Shape) -> BoxedEvent<'static, ()> {
        let [send, recv, bounded] = self.branches(call);
        match shape {
            Shape::Flat => choose(vec![send, recv]).boxed(),
            Shape::Nested => prefer((recv, choose((send, guard(|| bounded))))).boxed(),
            Shape::Limited => choose([send, recv, bounded]).boxed(),
            Shape::Half => choose((choose_all([send]).wrap(drop), recv)).boxed(),
        }
    }

    /// Their wraps write the entry. Each has a nack.
    fn branches(&self, call: &Writer) -> [BoxedEvent<'static, ()>; 3] {
        let [first, second, third] = std::array::from_fn(|_| call.clone());
        let got = |writer: Writer, token| {
            writer.got(token);
            writer.end(End::Done);
        };
        let (token, rx) = (call.token(), self.bounded.1.clone());
        let send = self.channels[0].0.clone().into_send_evt(token).wrap(move |_| first.end(End::Sent));
        let recv = self.channels[1].1.clone().into_recv_evt().wrap(move |token| got(second, token.unwrap()));
        let bounded = future_evt(async move { rx.recv_async().await });
        let bounded = bounded.wrap(move |token| got(third, token.unwrap()));
        [(true, send.boxed()), (false, recv.boxed()), (false, bounded.boxed())].map(|(is_send, branch)| {
            let call = call.clone();
            let nacked = with_nack(move |nack| {
                call.ledger.with(|book| book.calls[call.number].nacks.push((is_send, nack)));
                branch
            });
            nacked.boxed()
        })
    }
}

/// Taken back, also where its owner unwinds.
struct Begun(Option<Pending<()>>);

impl Drop for Begun {
    fn drop(&mut self) {
        if let Some(pending) = self.0.take() {
            let _ = pending.cancel_and_join();
        }
    }
}

/// Cancels an actor; what it returns waits for the actor's end.
type Stopper = Box<dyn FnOnce() -> Box<dyn FnOnce() + Send> + Send>;

fn start(world: &Arc<World>, actor: Actor) -> Stopper {
    let (mine, limit) = (world.clone(), Duration::from_micros(u64::from(actor.after) * 50));
    let script = actor.script.clone();
    let act = move || script.into_iter().for_each(|op| mine.act(op));
    let (mine, script) = (world.clone(), actor.script.clone());
    let act_async = async move {
        for op in script {
            mine.act_async(op).await;
        }
    };
    let (mine, script) = (world.clone(), actor.script);
    let act_waiting = move || {
        for op in script {
            wait(mine.act_async(op));
        }
    };
    match actor.kind {
        Kind::Host => start_host(actor.stop, limit, Box::new(act)),
        Kind::Waiter => start_host(actor.stop, limit, Box::new(act_waiting)),
        Kind::Stackful => start_stackful(actor.stop, limit, Box::new(act)),
        Kind::Stackless => start_stackless(actor.stop, limit, Box::pin(act_async)),
        Kind::OsThread => {
            let token = CancelToken::new();
            let theirs = token.clone();
            let thread = std::thread::spawn(move || match actor.stop {
                Stop::Deadline => with_timeout(limit, act).unwrap_or(()),
                _ => theirs.run(act).unwrap_or(()),
            });
            Box::new(move || {
                token.cancel();
                Box::new(move || lamprey::block(move || thread.join().unwrap()))
            })
        }
    }
}

/// Either end is fine, but for a panic.
fn joined(outcome: Result<(), lamprey::JoinError>) {
    value(outcome);
}

/// Of a thread that listens to `token`, or to nobody.
fn stopper(token: CancelToken, host: lamprey::JoinHandle<()>) -> Stopper {
    Box::new(move || {
        token.cancel();
        Box::new(move || joined(host.join()))
    })
}

fn start_host(stop: Stop, limit: Duration, act: Box<dyn FnOnce() + Send>) -> Stopper {
    let token = CancelToken::new();
    let theirs = token.clone();
    let host = match stop {
        Stop::Handle => {
            let host = spawn(act);
            return Box::new(move || {
                host.cancel();
                Box::new(move || joined(host.join()))
            });
        }
        Stop::Token => spawn(move || theirs.run(act).unwrap_or(())),
        Stop::Deadline => spawn(move || with_timeout(limit, act).unwrap_or(())),
        Stop::Scope => spawn(move || {
            scope(|s| {
                s.spawn(act);
                theirs.wait();
                s.cancel();
            });
        }),
    };
    stopper(token, host)
}

fn start_stackful(stop: Stop, limit: Duration, act: Box<dyn FnOnce() + Send>) -> Stopper {
    let token = CancelToken::new();
    let theirs = token.clone();
    let host = match stop {
        Stop::Handle => {
            let parasite = parasite_fn(act);
            return Box::new(move || {
                joined(parasite.cancel_and_join());
                Box::new(|| {})
            });
        }
        Stop::Token => spawn(move || parasite_fn(move || theirs.run(act).unwrap_or(())).join().unwrap()),
        Stop::Deadline => {
            spawn(move || parasite_fn(move || with_timeout(limit, act).unwrap_or(())).join().unwrap())
        }
        Stop::Scope => spawn(move || {
            scope(|s| {
                s.parasite_fn(act);
                theirs.wait();
                s.cancel();
            });
        }),
    };
    stopper(token, host)
}

fn start_stackless(stop: Stop, limit: Duration, act: Pin<Box<dyn Future<Output = ()> + Send>>) -> Stopper {
    let token = CancelToken::new();
    let theirs = token.clone();
    let host = match stop {
        Stop::Handle => {
            let parasite = parasite(act);
            return Box::new(move || {
                joined(parasite.cancel_and_join());
                Box::new(|| {})
            });
        }
        Stop::Token => {
            spawn(move || parasite(async move { theirs.run_async(act).await }).join().unwrap().unwrap_or(()))
        }
        Stop::Deadline => {
            spawn(move || parasite(with_timeout_async(limit, act)).join().unwrap().unwrap_or(()))
        }
        Stop::Scope => spawn(move || {
            scope(|s| {
                s.parasite(act);
                theirs.wait();
                s.cancel();
            });
        }),
    };
    stopper(token, host)
}

fn actors() -> impl Strategy<Value = Vec<Actor>> {
    use prop::sample::select;
    let kind = select(&[Kind::Host, Kind::Waiter, Kind::Stackful, Kind::Stackless, Kind::OsThread][..]);
    let stop = select(&[Stop::Handle, Stop::Token, Stop::Scope, Stop::Deadline][..]);
    let shape = select(&[Shape::Flat, Shape::Nested, Shape::Limited, Shape::Half][..]);
    let op = prop_oneof![
        3 => (0..2usize).prop_map(Op::Send),
        3 => (0..2usize).prop_map(Op::Recv),
        8 => select(&[Op::BoundedSend, Op::BoundedRecv, Op::Put, Op::Take, Op::Replace][..]),
        8 => select(&[Op::Swap, Op::Swap, Op::Call, Op::Serve, Op::Both, Op::Gather][..]),
        4 => shape.clone().prop_map(Op::Choose),
        2 => shape.prop_map(Op::Begin),
        2 => select(&[Op::Yield, Op::Yield, Op::Sleep, Op::Block][..]),
    ];
    let script = prop::collection::vec(op, 1..12);
    let actor = (kind, stop, any::<bool>(), 0..12u32, script).prop_map(
        |(kind, stop, from_afar, after, mut script)| {
            // Asynchronous events are begun within a runtime.
            for op in &mut script {
                if let (Kind::OsThread, Op::Begin(shape)) = (kind, *op) {
                    *op = Op::Choose(shape);
                }
            }
            Actor { kind, stop, from_afar, after, script }
        },
    );
    prop::collection::vec(actor, 2..8)
}

fn history(actors: Vec<Actor>) {
    let world = Arc::new(World::new());
    let mut stoppers: Vec<_> =
        actors.into_iter().map(|actor| (actor.after, actor.from_afar, start(&world, actor))).collect();
    stoppers.sort_by_key(|(after, ..)| *after);
    let (mut now, mut near, mut far) = (0, Vec::new(), Vec::new());
    for (after, from_afar, stop) in stoppers {
        (now..after).for_each(|_| lamprey::yield_now());
        now = after;
        if from_afar {
            // (A parasite is cancelled by a thread that then waits for it, so that wait goes there, too.)
            far.push(std::thread::spawn(stop));
        } else {
            near.push(stop());
        }
    }
    near.into_iter().for_each(|end| end());
    far.into_iter().for_each(|end| lamprey::block(move || end.join().unwrap())());

    // Everything can be used by whoever comes after, and what was left in it is there.
    let drain = |op| world.ledger.call(op, true);
    for (at, ends) in world.channels.iter().enumerate() {
        while let Ok(token) = ends.1.try_recv() {
            drain(Op::Recv(at)).got(token);
        }
    }
    while let Ok(token) = world.bounded.1.try_recv() {
        drain(Op::BoundedRecv).got(token);
    }
    while let Some(token) = world.var.try_take() {
        drain(Op::Take).got(token);
    }
    // A request that was taken by one whose future was dropped came back, and its client has given up since.
    while let Ok((request, reply)) = world.rpc.1.try_recv() {
        drain(Op::Serve).got(request);
        assert!(reply.is_abandoned(), "a request without a client");
    }
    let ledger = world.ledger.clone();
    let world = Arc::into_inner(world).expect("all actors have ended");
    drop(world);
    // What an actor that unwound has taken back ends on a worker of its own.
    crate::common::eventually("the last value's end", || {
        ledger.with(|book| book.values.iter().all(|fate| fate.dropped > 0))
    });
    ledger.with(|book| agrees(book));
}

/// Checks all entries against each other.
fn agrees(book: &Book) {
    for (number, fate) in book.values.iter().enumerate() {
        assert!(fate.dropped == 1 && fate.received <= 1, "value {number}: {fate:?}");
        let giver = &book.calls[fate.giver];
        let is_received = fate.received == 1;
        let is_fine = match (giver.op, giver.end) {
            // Whoever drops the future of a send cannot tell.
            (Op::Send(_), End::Pending) if !giver.is_blocking => true,
            (Op::Send(_) | Op::BoundedSend | Op::Put | Op::Replace, end) => is_received == (end == End::Done),
            (Op::Swap, _) => is_symmetric(book, giver, fate),
            (Op::Call, End::Pending) => true,
            (Op::Call, End::Done) => is_received,
            // There is no reply because the server was cancelled, after it had the request.
            (Op::Call, _) => fate.receiver.is_some_and(|call| book.calls[call].end == End::Pending),
            (Op::Serve, end) => {
                let client = &book.calls[book.values[giver.got[0]].giver];
                match client.end {
                    End::Pending => !is_received,
                    _ => client.end == End::Done && end == End::Done && is_received,
                }
            }
            (Op::Choose(_) | Op::Begin(_), End::Sent) => is_received,
            // What did not win is dropped with its offer; what was taken back has not happened.
            (Op::Choose(_) | Op::Begin(_), End::Done | End::Refused) => !is_received,
            (Op::Choose(_), End::Pending) if giver.is_blocking => !is_received,
            _ => true,
        };
        assert!(is_fine, "{giver:?}: {fate:?}");
    }
    book.calls.iter().for_each(|call| nacks_agree(book, call));
}

/// A branch that was chosen gets no nack, whoever was told of that; all others get theirs.
fn nacks_agree(book: &Book, call: &Entry) {
    let happened: Vec<_> = call.nacks.iter().map(|(_, nack)| nack.clone().poll().is_some()).collect();
    if let Some(send) = call.nacks.iter().position(|nack| nack.0) {
        let is_received = call.gave.is_some_and(|value| book.values[value].received == 1);
        assert_eq!(happened[send], !is_received, "{call:?}: {happened:?}");
    }
    let chosen = happened.iter().filter(|happened| !**happened).count();
    let is_fine = match (call.op, call.end) {
        (Op::Choose(_) | Op::Begin(_), End::Sent | End::Done) => chosen == 1,
        (Op::Begin(_), End::Refused) => chosen == 0,
        (Op::Choose(_), End::Pending) if call.is_blocking => chosen == 0,
        // Its parts happen one by one, and their wraps write one entry.
        (Op::Gather, _) => true,
        _ => chosen <= 1,
    };
    assert!(is_fine, "{call:?}: {happened:?}");
}

/// Who swaps gets what somebody gave who gets this, or was cancelled.
fn is_symmetric(book: &Book, giver: &Entry, fate: &Fate) -> bool {
    let partner = fate.receiver.map(|call| &book.calls[call]);
    match (giver.end, partner) {
        (End::Done, Some(partner)) => partner.gave == Some(giver.got[0]),
        // Only this one knows of it, or only the partner: a future was dropped.
        (End::Done, None) => {
            let partner = &book.calls[book.values[giver.got[0]].giver];
            partner.end == End::Pending && !partner.is_blocking
        }
        (_, Some(partner)) => {
            let has_swapped = partner.gave.is_some_and(|value| book.values[value].received == 0);
            !giver.is_blocking && partner.end == End::Done && has_swapped
        }
        (_, None) => true,
    }
}

#[test]
fn the_entries_of_any_history_agree() {
    holds(400, &actors(), history);
}
