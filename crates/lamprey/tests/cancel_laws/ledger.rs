//! Threads of all kinds run scripts over shared objects and are cancelled, each as a whole, at random moments. Every call has an
//! entry, and every value; afterwards they must agree with what the calls' documentation says.

use super::attempt::value;
use super::holds;
use lamprey::event::{Event, choose, choose_all};
use lamprey::rpc::CallError;
use lamprey::{CancelToken, MVar, SwapChannel, channel, parasite, parasite_fn, scope, spawn, with_timeout};
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
    Choose,
    /// Receives from both channels.
    Both,
    Yield,
    Sleep,
    Block,
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
        let entry = Entry { op, is_blocking, gave: None, got: Vec::new(), end: End::Pending };
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
            Op::Choose => return choose(self.branches(&call)).sync(),
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
            Op::Put => self.var.put_async(call.token()).await,
            Op::Take => call.got(self.var.take_async().await),
            Op::Replace => call.got(self.var.swap_async(call.token()).await),
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
            Op::Choose => return choose(self.branches(&call)).await,
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

    /// Their wraps write the entry, so it is complete once one has won, also if the thread is told no more of it.
    fn branches<'a>(&'a self, call: &Writer) -> Vec<lamprey::event::BoxedEvent<'a, ()>> {
        let [first, second, third] = std::array::from_fn(|_| call.clone());
        let got = |writer: Writer, token| {
            writer.got(token);
            writer.end(End::Done);
        };
        let token = call.token();
        vec![
            self.channels[0].0.send_evt(token).wrap(move |_| first.end(End::Sent)).boxed(),
            self.channels[1].1.recv_evt().wrap(move |token| got(second, token.unwrap())).boxed(),
            self.bounded.1.recv_evt().wrap(move |token| got(third, token.unwrap())).boxed(),
        ]
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
                joined(parasite.cancel());
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
                joined(parasite.cancel());
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
    let op = prop_oneof![
        3 => (0..2usize).prop_map(Op::Send),
        3 => (0..2usize).prop_map(Op::Recv),
        8 => select(&[Op::BoundedSend, Op::BoundedRecv, Op::Put, Op::Take, Op::Replace][..]),
        8 => select(&[Op::Swap, Op::Swap, Op::Call, Op::Serve, Op::Choose, Op::Both][..]),
        2 => select(&[Op::Yield, Op::Yield, Op::Sleep, Op::Block][..]),
    ];
    let script = prop::collection::vec(op, 1..12);
    let actor = (kind, stop, any::<bool>(), 0..12u32, script)
        .prop_map(|(kind, stop, from_afar, after, script)| Actor { kind, stop, from_afar, after, script });
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
            (Op::Choose, End::Sent) => is_received,
            // What did not win is dropped with its offer.
            (Op::Choose, End::Done) => !is_received,
            _ => true,
        };
        assert!(is_fine, "{giver:?}: {fate:?}");
    }
}

/// Who swaps gets what somebody gave who gets this, or was cancelled.
fn is_symmetric(book: &Book, giver: &Entry, fate: &Fate) -> bool {
    let partner = fate.receiver.map(|call| &book.calls[call]);
    match (giver.end, partner) {
        (End::Done, Some(partner)) => partner.gave == Some(giver.got[0]),
        // Only this one knows of it, or only the partner.
        (End::Done, None) => book.calls[book.values[giver.got[0]].giver].end == End::Pending,
        (_, Some(partner)) => {
            partner.end == End::Done && partner.gave.is_some_and(|value| book.values[value].received == 0)
        }
        (_, None) => true,
    }
}

#[test]
fn the_entries_of_any_history_agree() {
    holds(400, &actors(), history);
}
