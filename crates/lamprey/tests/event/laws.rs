//! The laws of events, over random trees of them: from every kind of thread, with every way to synchronise,
//! against peers that are there, come later, or never.
//!
//! The seed is printed; `LAMPREY_SEED=<number>` repeats a run.

use lamprey::event::{BoxedEvent, Event, Nack, always, choose, guard, never, prefer, timeout, with_nack};
use lamprey::{JoinError, Receiver, Runtime, Sender, channel, parasite, parasite_fn, sleep, spawn};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::future::{Future, IntoFuture};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// How many channels the trees and their peers use.
const CHANNELS: usize = 3;
const SOON: Duration = Duration::from_micros(300);
const LATE: Duration = Duration::from_millis(3);
/// The numbers of the peers' values begin here; those of a tree are the numbers of its leaves.
const PEERS: usize = 1000;

/// A description of an event. Its leaves are numbered from left to right.
#[derive(Debug, Clone)]
enum Tree {
    Always,
    Never,
    Send(usize),
    Recv(usize),
    /// A send to a channel that nobody receives from any more, and the other way round.
    FailedSend,
    FailedRecv,
    Soon,
    Wrap(Box<Tree>),
    Guard(Box<Tree>),
    Nack(Box<Tree>),
    Choose(Vec<Tree>),
    Prefer(Vec<Tree>),
}

/// The other side of a channel.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Peer {
    channel: usize,
    sends: bool,
    /// It waits already when the synchronisation begins.
    is_there: bool,
}

#[derive(Debug, Clone, Copy)]
enum How {
    Sync,
    Timeout,
    Poll,
    Dropped,
    Cancelled,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    OsThread,
    Host,
    Stackful,
    Stackless,
}

/// What a leaf is and what lies on the way to it.
#[derive(Debug, Clone)]
struct Leaf {
    tree: Tree,
    wraps: u32,
    nacks: Vec<usize>,
}

/// What an event gives: which leaf, through how many wraps, and what that has received.
#[derive(Debug, PartialEq)]
struct Outcome {
    leaf: usize,
    wraps: u32,
    failed: bool,
    got: Option<usize>,
}

/// What has become of each value.
#[derive(Default)]
struct Log(Mutex<BTreeMap<usize, Fate>>);

#[derive(Debug, Default, Clone, Copy)]
struct Fate {
    made: u32,
    received: u32,
    dropped: u32,
    /// A peer's send of it has succeeded.
    sent: bool,
}

impl Log {
    fn change(&self, id: usize, change: impl FnOnce(&mut Fate)) {
        change(self.0.lock().unwrap().entry(id).or_default());
    }
    fn fates(&self) -> BTreeMap<usize, Fate> {
        self.0.lock().unwrap().clone()
    }
}

/// A value that is counted.
struct Token {
    id: usize,
    log: Arc<Log>,
}

impl Token {
    fn new(id: usize, log: &Arc<Log>) -> Self {
        log.change(id, |fate| fate.made += 1);
        Self { id, log: log.clone() }
    }
    fn receive(self) -> usize {
        self.log.change(self.id, |fate| fate.received += 1);
        self.id
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.log.change(self.id, |fate| fate.dropped += 1);
    }
}

/// What the events of one case share.
struct World {
    ends: Vec<(Sender<Token>, Receiver<Token>)>,
    log: Arc<Log>,
    nacks: Arc<Mutex<Vec<(usize, Nack)>>>,
    guards: Vec<Arc<AtomicU32>>,
    leaves: Vec<Leaf>,
    count: usize,
}

impl World {
    fn new() -> Self {
        Self {
            ends: (0..CHANNELS).map(|_| channel()).collect(),
            log: Arc::default(),
            nacks: Arc::default(),
            guards: Vec::new(),
            leaves: Vec::new(),
            count: 0,
        }
    }

    /// The event that `tree` describes, under so many wraps and these nacks.
    fn event(&mut self, tree: &Tree, wraps: u32, nacks: &[usize]) -> BoxedEvent<'static, Outcome> {
        match tree {
            Tree::Wrap(inner) => self
                .event(inner, wraps + 1, nacks)
                .wrap(|outcome| Outcome { wraps: outcome.wraps + 1, ..outcome })
                .boxed(),
            Tree::Guard(inner) => {
                let runs = Arc::new(AtomicU32::new(0));
                self.guards.push(runs.clone());
                let inner = self.event(inner, wraps, nacks);
                guard(move || {
                    runs.fetch_add(1, SeqCst);
                    inner
                })
                .boxed()
            }
            Tree::Nack(inner) => {
                let id = self.count;
                self.count += 1;
                let inner = self.event(inner, wraps, &[nacks, &[id]].concat());
                let told = self.nacks.clone();
                with_nack(move |nack| {
                    told.lock().unwrap().push((id, nack));
                    inner
                })
                .boxed()
            }
            Tree::Choose(all) => choose(self.events(all, wraps, nacks)).boxed(),
            Tree::Prefer(all) => prefer(self.events(all, wraps, nacks)).boxed(),
            leaf => {
                self.leaves.push(Leaf { tree: leaf.clone(), wraps, nacks: nacks.to_vec() });
                self.leaf(leaf, self.leaves.len() - 1)
            }
        }
    }

    fn events(&mut self, all: &[Tree], wraps: u32, nacks: &[usize]) -> Vec<BoxedEvent<'static, Outcome>> {
        all.iter().map(|tree| self.event(tree, wraps, nacks)).collect()
    }

    fn leaf(&self, tree: &Tree, leaf: usize) -> BoxedEvent<'static, Outcome> {
        let outcome = move |failed, got| Outcome { leaf, wraps: 0, failed, got };
        let send = |tx: Sender<Token>| {
            let token = Token::new(leaf, &self.log);
            tx.into_send_evt(token).wrap(move |sent| outcome(sent.is_err(), None)).boxed()
        };
        let recv = |rx: Receiver<Token>| {
            rx.into_recv_evt().wrap(move |got| outcome(got.is_err(), got.ok().map(Token::receive))).boxed()
        };
        match tree {
            Tree::Always => always(outcome(false, None)).boxed(),
            Tree::Soon => timeout(SOON).wrap(move |()| outcome(false, None)).boxed(),
            Tree::Send(at) => send(self.ends[*at].0.clone()),
            Tree::Recv(at) => recv(self.ends[*at].1.clone()),
            Tree::FailedSend => send(channel().0),
            Tree::FailedRecv => recv(channel().1),
            _ => never().boxed(),
        }
    }

    /// Lets a peer begin, on a host. It holds `done` until its end.
    fn start(&self, number: usize, peer: Peer, done: mpsc::Sender<()>) {
        let (tx, rx) = self.ends[peer.channel].clone();
        let log = self.log.clone();
        let id = PEERS + number;
        let work = async move {
            if peer.sends {
                drop(rx);
                let sent = tx.send_async(Token::new(id, &log)).await.is_ok();
                log.change(id, |fate| fate.sent = sent);
                drop(tx);
            } else {
                drop(tx);
                let _ = rx.recv_async().await.map(Token::receive);
                drop(rx);
            }
            drop(done);
        };
        if peer.is_there {
            // It queues itself in the first poll: with its own waker it might be told that it is the hosts'
            // turn.
            let mut work = Box::pin(work);
            if work.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
                parasite(work).detach();
            }
        } else {
            drop(spawn(move || {
                sleep(SOON);
                lamprey::wait(work);
            }));
        }
    }
}

/// May this leaf win, and must it, if it is looked at while nobody else has taken its peer?
fn chances(leaf: &Tree, peers: &[Peer]) -> (bool, bool) {
    let of = |channel: usize, sends: bool| {
        let mut theirs = peers.iter().filter(|peer| peer.channel == channel && peer.sends == sends);
        // Peers of both sides may have met each other before.
        let is_alone = !peers.iter().any(|peer| peer.channel == channel && peer.sends != sends);
        (theirs.clone().next().is_some(), is_alone && theirs.any(|peer| peer.is_there))
    };
    match leaf {
        Tree::Always | Tree::FailedSend | Tree::FailedRecv => (true, true),
        Tree::Soon => (true, false),
        Tree::Send(at) => of(*at, false),
        Tree::Recv(at) => of(*at, true),
        _ => (false, false),
    }
}

/// The leaves of `tree` that may win (its first has the number `next`), and whether one of them certainly
/// does at once.
fn possible(tree: &Tree, peers: &[Peer], next: &mut usize) -> (BTreeSet<usize>, bool) {
    let (Tree::Choose(all) | Tree::Prefer(all), is_ordered) = (tree, matches!(tree, Tree::Prefer(_))) else {
        return match tree {
            Tree::Wrap(inner) | Tree::Guard(inner) | Tree::Nack(inner) => possible(inner, peers, next),
            leaf => {
                let (may, must) = chances(leaf, peers);
                *next += 1;
                (may.then_some(*next - 1).into_iter().collect(), must)
            }
        };
    };
    let (mut leaves, mut certain) = (BTreeSet::new(), false);
    for tree in all {
        let (theirs, is_certain) = possible(tree, peers, next);
        if !(is_ordered && certain) {
            leaves.extend(theirs);
        }
        certain |= is_certain;
    }
    (leaves, certain)
}

/// Synchronises on the calling thread.
fn sync(event: BoxedEvent<'static, Outcome>, how: How) -> Option<Outcome> {
    match how {
        How::Sync => {
            let outcome = Outcome { leaf: usize::MAX, wraps: 0, failed: false, got: None };
            Some(choose((event, timeout(LATE).wrap(|()| outcome))).sync())
        }
        How::Timeout => event.sync_timeout(SOON),
        How::Poll => event.poll(),
        How::Dropped => {
            let mut future = pin!(event.into_future());
            for _ in 0..2 {
                let polled = future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                if let Poll::Ready(outcome) = polled {
                    return Some(outcome);
                }
                sleep(SOON);
            }
            None
        }
        How::Cancelled => Some(event.sync()),
    }
}

async fn sync_async(event: BoxedEvent<'static, Outcome>, how: How) -> Option<Outcome> {
    match how {
        How::Sync => {
            let outcome = Outcome { leaf: usize::MAX, wraps: 0, failed: false, got: None };
            Some(choose((event, timeout(LATE).wrap(|()| outcome))).await)
        }
        How::Timeout => lamprey::with_timeout_async(SOON, event.into_future()).await.ok(),
        How::Cancelled => Some(event.await),
        How::Poll | How::Dropped => sync(event, how),
    }
}

/// The outcome, if the thread was not cancelled before.
fn unless_cancelled<T>(end: Result<Option<T>, JoinError>) -> Option<T> {
    match end {
        Ok(outcome) => outcome,
        Err(JoinError::Cancelled(_)) => None,
        Err(JoinError::Panicked(panic)) => panic.resume(),
        Err(other) => panic!("{other}"),
    }
}

/// Synchronises on a thread of this kind.
fn on(runtime: &Runtime, event: BoxedEvent<'static, Outcome>, kind: Kind, how: How) -> Option<Outcome> {
    let handle = runtime.handle();
    if matches!(how, How::Cancelled) {
        // Hosts are cancelled with their runtime only, OS threads never: stackful parasites stand for both.
        return unless_cancelled(match kind {
            Kind::OsThread | Kind::Host | Kind::Stackful => {
                cancelled(runtime, move || parasite_fn(move || sync(event, how)))
            }
            Kind::Stackless => cancelled(runtime, move || parasite(sync_async(event, how))),
        });
    }
    match kind {
        Kind::OsThread => sync(event, how),
        Kind::Host => handle.spawn(move || sync(event, how)).join().unwrap(),
        Kind::Stackful => {
            handle.spawn(move || parasite_fn(move || sync(event, how)).join().unwrap()).join().unwrap()
        }
        Kind::Stackless => {
            handle.spawn(move || parasite(sync_async(event, how)).join().unwrap()).join().unwrap()
        }
    }
}

type Parasite = lamprey::ParasiteHandle<Option<Outcome>>;

fn cancelled(
    runtime: &Runtime,
    start: impl FnOnce() -> Parasite + Send + 'static,
) -> Result<Option<Outcome>, JoinError> {
    runtime
        .handle()
        .spawn(move || {
            let parasite = start();
            sleep(SOON);
            parasite.cancel_and_join()
        })
        .join()
        .unwrap()
}

#[derive(Debug, Clone)]
struct Case {
    tree: Tree,
    peers: Vec<Peer>,
    how: How,
    kind: Kind,
}

/// One synchronisation, and all that must be true after it.
fn obeys_the_laws(runtime: &Runtime, case: &Case) -> Result<(), TestCaseError> {
    let mut world = World::new();
    let event = world.event(&case.tree, 0, &[]);
    let (done, all_done) = mpsc::channel();
    let peers = case.peers.clone();
    let world = Arc::new(world);
    let starter = world.clone();
    let start = move || {
        for (number, peer) in peers.into_iter().enumerate() {
            starter.start(number, peer, done.clone());
        }
    };
    runtime.handle().spawn(start).join().unwrap();
    let outcome = on(runtime, event, case.kind, case.how).filter(|outcome| outcome.leaf != usize::MAX);

    let chosen = outcome.as_ref().map(|outcome| world.leaves[outcome.leaf].clone());
    outcome_is_possible(case, &world, outcome.as_ref())?;
    for runs in &world.guards {
        prop_assert_eq!(runs.load(SeqCst), 1, "a guard");
    }
    let nacks = std::mem::take(&mut *world.nacks.lock().unwrap());
    let mut silent = Vec::new();
    for (id, nack) in nacks {
        let is_silent = nack.clone().poll().is_none();
        prop_assert_eq!(nack.poll().is_none(), is_silent, "nack {} again", id);
        silent.extend(is_silent.then_some(id));
    }
    silent.sort_unstable();
    if let Some(leaf) = &chosen {
        prop_assert_eq!(
            &silent,
            &sorted(&leaf.nacks),
            "the nacks around what was chosen, and no others, are silent"
        );
    }

    // What is left in the channels has come back; then all peers end.
    for (_, rx) in &world.ends {
        while let Ok(token) = rx.try_recv() {
            token.receive();
        }
    }
    let (log, leaves) = (world.log.clone(), world.leaves.clone());
    drop(world);
    while all_done.recv().is_ok() {}
    let fates = log.fates();
    values_are_accounted_for(case, &fates, &leaves, outcome.as_ref())?;
    // Given up after a peer had decided: nacks are silent only around what has happened.
    let has_happened = |(id, leaf): (usize, &Leaf)| {
        may_have_happened(case)
            && sorted(&leaf.nacks) == silent
            && fates.get(&id).is_none_or(|fate| fate.received == 1)
    };
    let is_told = outcome.is_some() || silent.is_empty() || leaves.iter().enumerate().any(has_happened);
    prop_assert!(is_told, "nothing has happened, and the nacks {:?} are silent", silent);
    Ok(())
}

fn sorted(ids: &[usize]) -> Vec<usize> {
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids
}

/// Given up at once or by its own clock, it has not happened; given up from outside, it may have.
fn may_have_happened(case: &Case) -> bool {
    matches!((case.how, case.kind), (How::Dropped | How::Cancelled, _) | (How::Timeout, Kind::Stackless))
}

fn outcome_is_possible(case: &Case, world: &World, outcome: Option<&Outcome>) -> Result<(), TestCaseError> {
    let (leaves, is_certain) = possible(&case.tree, &case.peers, &mut 0);
    if is_certain && !matches!(case.how, How::Cancelled) {
        prop_assert!(outcome.is_some(), "nothing happened although something was ready");
    }
    let Some(outcome) = outcome else { return Ok(()) };
    let leaf = &world.leaves[outcome.leaf];
    prop_assert!(leaves.contains(&outcome.leaf), "{:?} not in {:?}", outcome, leaves);
    prop_assert_eq!(outcome.wraps, leaf.wraps);
    let fails = matches!(leaf.tree, Tree::FailedSend | Tree::FailedRecv);
    prop_assert_eq!(outcome.failed, fails);
    prop_assert_eq!(outcome.got.is_some(), matches!(leaf.tree, Tree::Recv(_)));
    Ok(())
}

fn values_are_accounted_for(
    case: &Case,
    fates: &BTreeMap<usize, Fate>,
    leaves: &[Leaf],
    outcome: Option<&Outcome>,
) -> Result<(), TestCaseError> {
    for (id, fate) in fates {
        prop_assert!(fate.made == 1 && fate.dropped == 1 && fate.received <= 1, "value {}: {:?}", id, fate);
        if *id >= PEERS {
            prop_assert_eq!(fate.sent, fate.received == 1, "value {}: {:?}", id, fate);
        } else if matches!(leaves[*id].tree, Tree::Send(_)) && (outcome.is_some() || !may_have_happened(case))
        {
            let is_chosen = outcome.is_some_and(|outcome| outcome.leaf == *id);
            prop_assert_eq!(fate.received == 1, is_chosen, "value {}: {:?}", id, fate);
        }
    }
    if let Some(got) = outcome.and_then(|outcome| outcome.got) {
        prop_assert!(got >= PEERS, "it has met itself");
    }
    Ok(())
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        1 => Just(Tree::Always),
        1 => Just(Tree::Never),
        4 => (0..CHANNELS).prop_map(Tree::Send),
        4 => (0..CHANNELS).prop_map(Tree::Recv),
        1 => Just(Tree::FailedSend),
        1 => Just(Tree::FailedRecv),
        1 => Just(Tree::Soon),
    ];
    nested(leaf)
}

/// Trees that need no peers.
fn ready_trees() -> impl Strategy<Value = Tree> {
    nested(prop_oneof![Just(Tree::Always), Just(Tree::Never), Just(Tree::FailedRecv)])
}

fn nested(leaf: impl Strategy<Value = Tree> + 'static) -> impl Strategy<Value = Tree> {
    leaf.prop_recursive(4, 12, 4, |inner| {
        let boxed = inner.clone().prop_map(Box::new);
        prop_oneof![
            1 => boxed.clone().prop_map(Tree::Wrap),
            1 => boxed.clone().prop_map(Tree::Guard),
            2 => boxed.prop_map(Tree::Nack),
            4 => prop::collection::vec(inner.clone(), 0..4).prop_map(Tree::Choose),
            2 => prop::collection::vec(inner, 0..4).prop_map(Tree::Prefer),
        ]
    })
}

fn peers() -> impl Strategy<Value = Vec<Peer>> {
    let peer = (0..CHANNELS, any::<bool>(), any::<bool>()).prop_map(|(channel, sends, is_there)| Peer {
        channel,
        sends,
        is_there,
    });
    prop::collection::vec(peer, 0..5)
}

fn cases() -> impl Strategy<Value = Case> {
    use prop::sample::select;
    let how = select(&[How::Sync, How::Timeout, How::Poll, How::Dropped, How::Cancelled][..]);
    let kind = select(&[Kind::OsThread, Kind::Host, Kind::Stackful, Kind::Stackless][..]);
    (trees(), peers(), how, kind).prop_map(|(tree, peers, how, kind)| Case { tree, peers, how, kind })
}

/// Tries `law` with so many values, from a printed seed.
fn holds<S: Strategy>(count: u32, values: &S, law: impl Fn(S::Value) -> Result<(), TestCaseError>) {
    let given = std::env::var("LAMPREY_SEED").ok();
    let seed: u64 =
        given.map_or_else(|| fastrand::u64(..), |seed| seed.parse().expect("LAMPREY_SEED is a number"));
    println!("LAMPREY_SEED={seed}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config =
        Config { cases: count, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes));
    if let Err(failure) = runner.run(values, law) {
        panic!("LAMPREY_SEED={seed}: {failure}");
    }
}

#[test]
fn trees_obey_the_laws_on_one_worker() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    holds(3000, &cases(), |case| obeys_the_laws(&runtime, &case));
}

#[test]
fn trees_obey_the_laws_on_two_workers() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    holds(3000, &cases(), |case| obeys_the_laws(&runtime, &case));
}

/// What `tree` gives in so many draws.
fn drawn(tree: &Tree) -> BTreeSet<usize> {
    let draw = || World::new().event(tree, 0, &[]).poll();
    (0..400).filter_map(|_| draw()).map(|outcome| outcome.leaf).collect()
}

/// Of the branches that are ready each is taken now and then, and no other.
#[test]
fn a_choice_takes_each_ready_branch_and_prefer_the_first() {
    holds(300, &ready_trees(), |tree| {
        // Where luck would be needed, the law is not tested.
        prop_assume!(smallest_chance(&tree) >= 1.0 / 20.0);
        prop_assert_eq!(drawn(&tree), possible(&tree, &[], &mut 0).0);
        Ok(())
    });
}

/// A bound from below to the chance of any leaf.
fn smallest_chance(tree: &Tree) -> f64 {
    match tree {
        Tree::Wrap(inner) | Tree::Guard(inner) | Tree::Nack(inner) => smallest_chance(inner),
        Tree::Prefer(all) => all.iter().map(smallest_chance).fold(1.0, f64::min),
        Tree::Choose(all) => all.iter().map(smallest_chance).fold(1.0, f64::min) / all.len().max(1) as f64,
        _ => 1.0,
    }
}

/// `choose` may be regrouped, and `never` added anywhere: the outcomes are the same. (Leaves keep their
/// order, and so their numbers: that order does not matter follows from each having its chance.)
#[test]
fn choose_is_associative_and_never_is_its_unit() {
    let lists = (
        prop::collection::vec(prop_oneof![Just(Tree::Always), Just(Tree::FailedRecv)], 1..6),
        any::<prop::sample::Index>(),
    );
    holds(100, &lists, |(leaves, at)| {
        let (left, right) = leaves.split_at(at.index(leaves.len()));
        let grouped = |left: &[Tree], right: &[Tree]| {
            Tree::Choose(vec![Tree::Choose(left.to_vec()), Tree::Choose(right.to_vec())])
        };
        let all: BTreeSet<usize> = (0..leaves.len()).collect();
        prop_assert_eq!(drawn(&Tree::Choose(leaves.clone())), all.clone());
        prop_assert_eq!(drawn(&grouped(left, right)), all.clone());
        // At the end, so that the numbers stay.
        let with_never = [&leaves[..], &[Tree::Never]].concat();
        prop_assert_eq!(drawn(&Tree::Choose(with_never)), all);
        Ok(())
    });
}

/// What two wraps do is what one of both functions does; and they run after the communication, the inner one
/// first.
#[test]
fn wrap_composes() {
    holds(200, &(any::<u32>(), any::<u32>(), any::<u32>()), |(n, a, b)| {
        let (f, g) = (move |n: u32| n.wrapping_mul(a), move |n: u32| n.wrapping_add(b));
        prop_assert_eq!(always(n).wrap(f).wrap(g).sync(), always(n).wrap(move |n| g(f(n))).sync());
        prop_assert_eq!(choose((always(n).wrap(f).wrap(g), never())).sync(), g(f(n)));
        Ok(())
    });
}

/// What one thread sends to another arrives in order, also by choices that lose in between, and with
/// time-outs.
#[test]
fn the_order_of_a_pair_holds() {
    const VALUES: u32 = 300;
    let runtime = Runtime::builder().workers(2).build().unwrap();
    holds(10, &any::<u64>(), |seed| {
        let ((tx, rx), (_tx2, rx2)) = (channel(), channel::<u32>());
        let send = move || {
            let mut random = fastrand::Rng::with_seed(seed);
            for n in 0..VALUES {
                while {
                    let limit = Duration::from_micros(random.u64(..30));
                    let sent =
                        choose((tx.send_evt(n).wrap(|sent| sent.is_ok()), timeout(limit).wrap(|()| false)));
                    !sent.sync()
                } {}
            }
        };
        let receive = move || {
            let mut random = fastrand::Rng::with_seed(!seed);
            let mut got = Vec::new();
            loop {
                let limit = Duration::from_micros(random.u64(..30));
                match choose([rx.recv_evt(), rx2.recv_evt()]).sync_timeout(limit) {
                    Some(Ok(value)) => got.push(value),
                    Some(Err(_)) => return got,
                    None => {}
                }
            }
        };
        let sender = runtime.handle().spawn(send);
        let got = if seed % 2 == 0 { receive() } else { runtime.handle().spawn(receive).join().unwrap() };
        sender.join().unwrap();
        prop_assert_eq!(got, (0..VALUES).collect::<Vec<_>>());
        Ok(())
    });
}
