//! The objects that the threads of a program share.

use crate::ledger::{Ledger, Tracked};
use crate::program::Program;
use lamprey::parasite::Parasite;
use lamprey::sync::{
    Barrier, Condvar, LazyLock, LockOptions, Mutex, Once, OnceLock, Order, RwLock, Semaphore, Wake,
};
use lamprey::{
    CancelToken, Handle, IVar, JoinHandle, MVar, ParasiteHandle, SwapChannel, WakeToken, bounded, broadcast,
    mailbox, multicast, oneshot, rpc, watch,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};

type T = Tracked;

/// An asynchronous computation.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Objects that threads leave for others. The lock is not held across any other operation.
pub struct Slots<V>(std::sync::Mutex<Vec<V>>);

impl<V> Default for Slots<V> {
    fn default() -> Self {
        Self(std::sync::Mutex::default())
    }
}

impl<V> Slots<V> {
    /// Adds an object.
    pub fn put(&self, value: V) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(value);
    }

    /// Takes the oldest object.
    pub fn take(&self) -> Option<V> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        (!slots.is_empty()).then(|| slots.remove(0))
    }
}

/// An object that is taken out of its slots until this is dropped.
pub struct Borrowed<'a, V>(pub &'a Slots<V>, pub Option<V>);

impl<V> Borrowed<'_, V> {
    /// Takes an object out, if there is one.
    pub fn of(slots: &Slots<V>) -> Borrowed<'_, V> {
        Borrowed(slots, slots.take())
    }
}

impl<V> Drop for Borrowed<'_, V> {
    fn drop(&mut self) {
        if let Some(value) = self.1.take() {
            self.0.put(value);
        }
    }
}

/// A kept handle.
pub enum Kept {
    Host(JoinHandle<T>),
    Parasite(ParasiteHandle<T>),
}

type Lazy = LazyLock<T, Box<dyn FnOnce() -> T + Send + Sync>>;

/// The objects of a program.
pub struct World {
    pub program: Program,
    pub ledger: Arc<Ledger>,
    /// It runs in a simulation.
    pub simulated: bool,
    /// Call-outs do nothing any more.
    pub over: AtomicBool,
    /// The number of steps that are left.
    pub budget: AtomicI32,
    /// The number of active call-outs.
    pub active: AtomicU32,
    pub handles: std::sync::OnceLock<Vec<Handle>>,
    /// From the first one only blocking receives take: a value that was sent there has been received.
    pub channels: [(lamprey::Sender<T>, lamprey::Receiver<T>); 3],
    pub bounded: [(bounded::Sender<T>, bounded::Receiver<T>); 2],
    pub mail: mailbox::Sender<T>,
    pub mail_in: Slots<mailbox::Receiver<T>>,
    pub broad: broadcast::Sender<T>,
    pub broad_in: Slots<broadcast::Receiver<T>>,
    pub watch: watch::Sender<T>,
    pub watch_in: Slots<watch::Receiver<T>>,
    pub cast: multicast::Sender<T>,
    pub cast_in: Slots<multicast::Receiver<T>>,
    pub client: rpc::Client<T, T>,
    pub server: rpc::Server<T, T>,
    pub swap: SwapChannel<T>,
    pub ivars: [IVar<T>; 2],
    pub mvar: MVar<T>,
    pub mutexes: [Mutex<T>; 4],
    pub rwlocks: [RwLock<T>; 2],
    pub condvar: Condvar,
    pub semaphore: Arc<Semaphore>,
    pub barrier: Barrier,
    pub once: Once,
    pub cell: OnceLock<T>,
    pub lazy: std::sync::OnceLock<Lazy>,
    pub tokens: [CancelToken; 3],
    pub one_out: Slots<oneshot::Sender<T>>,
    pub one_in: Slots<oneshot::Receiver<T>>,
    pub kept: Slots<Kept>,
    pub futures: Slots<Task>,
    pub wakes: Slots<WakeToken>,
    pub parasites: Slots<Parasite<T>>,
    pub os_threads: Slots<std::thread::JoinHandle<()>>,
}

impl World {
    /// The objects in their initial state.
    pub fn new(program: Program, simulated: bool) -> Arc<Self> {
        let (client, server) = rpc::rpc();
        let (mail, mail_in) = mailbox();
        let (broad, broad_in) = broadcast(3);
        let root = CancelToken::new();
        let child = root.child();
        let ledger = Arc::new(Ledger::default());
        Arc::new_cyclic(|world| {
            let value = || T::first(&ledger, world);
            let (watch, watch_in) = watch(value());
            let this = Self {
                budget: AtomicI32::new(2000),
                active: AtomicU32::new(0),
                handles: std::sync::OnceLock::new(),
                channels: [lamprey::channel(), lamprey::channel(), lamprey::channel_attach_inline()],
                bounded: [bounded(1), bounded(3)],
                mail,
                mail_in: Slots::default(),
                broad,
                broad_in: Slots::default(),
                watch,
                watch_in: Slots::default(),
                cast: multicast().0,
                cast_in: Slots::default(),
                client,
                server,
                swap: SwapChannel::new(),
                ivars: [IVar::new(), IVar::new()],
                mvar: MVar::empty(),
                mutexes: [
                    Mutex::new(value()),
                    Mutex::with_options(value(), LockOptions::new().order(Order::Lifo)),
                    Mutex::with_options(value(), LockOptions::new().wake(Wake::Switch)),
                    Mutex::with_options(value(), LockOptions::new().biased(true)),
                ],
                rwlocks: [
                    RwLock::new(value()),
                    RwLock::with_options(value(), LockOptions::new().order(Order::Lifo).wake(Wake::Switch)),
                ],
                condvar: Condvar::new(),
                semaphore: Arc::new(Semaphore::new(2)),
                barrier: Barrier::new(2),
                once: Once::new(),
                cell: OnceLock::new(),
                lazy: std::sync::OnceLock::new(),
                tokens: [root, CancelToken::new(), child],
                one_out: Slots::default(),
                one_in: Slots::default(),
                kept: Slots::default(),
                futures: Slots::default(),
                wakes: Slots::default(),
                parasites: Slots::default(),
                os_threads: Slots::default(),
                ledger: ledger.clone(),
                simulated,
                over: AtomicBool::new(false),
                program,
            };
            this.mail_in.put(mail_in);
            this.broad_in.put(broad_in);
            this.watch_in.put(watch_in);
            this.cast_in.put(this.cast.subscribe());
            this
        })
    }

    /// Counts one step; false when the budget is used up.
    pub fn step(&self) -> bool {
        // Relaxed: a counter that orders nothing.
        self.budget.fetch_sub(1, Ordering::Relaxed) > 0
    }
}
