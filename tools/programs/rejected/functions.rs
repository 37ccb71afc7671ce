//! Each function breaks a rule by which safe code would break memory. The compiler must reject each, with the error above it.
#![allow(dead_code, unused)]

use lamprey::event::{Event, Events, always};
use lamprey::stm::{TVar, Transaction, atomically};
use std::cell::Cell;
use std::rc::Rc;

fn is_send<T: Send>() {}
fn is_sync<T: Sync>() {}
fn kept<T>() -> Option<T> {
    None
}

lamprey::host_local! {
    static KEY: for<'a> fn(&'a str) = |_| ();
    static TEXT: String = String::new();
}

// Types of one supertype are the same variable, key or channel.

//~ [E0308]
fn a_variable_at_a_supertype(general: &TVar<for<'a> fn(&'a str)>) {
    let special: TVar<fn(&'static str)> = general.clone();
}

//~ [E0308]
fn a_key_at_a_supertype() {
    let special: &'static lamprey::HostLocal<fn(&'static str)> = &KEY;
}

//~ [E0308]
fn a_sender_at_a_supertype(general: lamprey::Sender<for<'a> fn(&'a str)>) {
    let special: lamprey::Sender<fn(&'static str)> = general;
}

// What a section lends does not leave it.

//~ [E0521]
fn a_transaction_leaves_its_code(var: TVar<u8>) {
    let mut outer = kept::<&mut Transaction>();
    atomically(|tx| {
        outer = Some(tx);
        Ok(())
    });
}

//~ [E0277]
fn a_transaction_on_another_thread(var: TVar<u8>) {
    atomically(|tx| {
        std::thread::scope(|s| {
            s.spawn(|| var.get(tx).is_ok());
        });
        Ok(())
    });
}

//~ lifetime may not live
fn a_value_leaves_its_transaction(var: &TVar<String>) -> &str {
    atomically(|tx| var.with(tx, |text| text.as_str()))
}

//~ lifetime may not live
fn a_host_local_value_leaves() -> &'static str {
    TEXT.with(|text| text.as_str())
}

//~ lifetime may not live
fn a_handle_leaves_its_scope(text: &String) {
    let handle = lamprey::scope(|s| s.spawn(|| text.len()));
}

//~ [E0597]
fn a_child_borrows_what_ends_before_it() {
    lamprey::scope(|s| {
        let inner = String::new();
        let borrowed = &inner;
        s.spawn(move || borrowed.len());
    });
}

//~ [E0597]
fn a_parasite_of_a_scope_borrows_what_ends_before_it() {
    lamprey::scope(|s| {
        let inner = String::new();
        let borrowed = &inner;
        s.parasite(async move { borrowed.len() });
    });
}

//~ [E0521]
fn a_scope_leaves_itself<'env>(text: &'env String) {
    let mut outer = None;
    lamprey::scope(|s| outer = Some(s));
}

//~ lifetime may not live
fn a_scoped_generator_leaves() {
    let generator = swapstack::Generator::scoped(|y, ()| y.suspend(1), |generator| generator);
}

//~ [E0521]
fn a_yielder_leaves_its_body() {
    let outer = Rc::new(Cell::new(None));
    let inner = outer.clone();
    swapstack::Generator::new(move |y: &swapstack::Yielder<(), u8>, ()| inner.set(Some(y)));
}

//~ [E0505]
fn a_guard_outlives_its_mutex() {
    let mutex = lamprey::sync::Mutex::new(1);
    let guard = mutex.lock().unwrap();
    drop(mutex);
    drop(guard);
}

//~ [E0505]
fn a_future_outlives_its_receiver() {
    let (tx, rx) = lamprey::bounded::<u8>(1);
    let future = rx.recv_async();
    drop(rx);
    lamprey::wait(future);
}

// What may run on, or elsewhere, borrows nothing and takes nothing that belongs to one kernel thread.

//~ [E0373]
fn a_host_borrows() {
    let text = String::new();
    lamprey::spawn(|| text.len());
}

//~ [E0373]
fn a_parasite_borrows() {
    let text = String::new();
    lamprey::parasite(async { text.len() });
}

//~ [E0373]
fn a_stackful_parasite_borrows() {
    let text = String::new();
    lamprey::parasite_fn(|| text.len());
}

//~ [E0597]
fn a_generator_borrows() {
    let text = String::new();
    let text = &text;
    let mut generator: swapstack::Generator<(), usize, ()> =
        swapstack::Generator::new(move |y: &swapstack::Yielder<(), usize>, ()| drop(y.suspend(text.len())));
    std::mem::forget(generator);
}

//~ [E0277]
fn a_host_takes_what_is_not_send(shared: Rc<u8>) {
    lamprey::spawn(move || drop(shared));
}

//~ [E0277]
fn a_host_returns_what_is_not_send() {
    lamprey::spawn(|| Rc::new(1));
}

//~ [E0277]
fn a_pool_takes_what_is_not_send(shared: Rc<u8>) {
    lamprey::block(move || drop(shared));
}

//~ [E0277]
fn a_pool_returns_what_is_not_send() {
    lamprey::compute(|| Rc::new(1));
}

//~ [E0277]
fn an_actor_takes_what_is_not_send(shared: Rc<u8>) {
    lamprey::actor::spawn(move |inbox: &mut lamprey::actor::Inbox<u8>| drop(shared));
}

//~ cannot be sent between threads
fn a_thread_of_the_kit_takes_what_is_not_send(shared: Rc<u8>) {
    lamprey::trace::fork(async move { drop(shared) });
}

//~ [E0277]
fn a_call_of_the_kit_takes_what_is_not_send(shared: Rc<u8>) {
    lamprey::trace::nbio(move || drop(shared));
}

//~ [E0277]
fn a_runtime_takes_what_is_not_send(runtime: &lamprey::Runtime, shared: Rc<u8>) {
    runtime.run(move || drop(shared));
}

//~ [E0277]
fn a_variable_of_what_is_not_sync() {
    TVar::new(Cell::new(1));
}

// What is shared by threads is what its content allows.

//~ [E0277]
fn a_mutex_of_what_is_not_send() {
    is_sync::<lamprey::sync::Mutex<Rc<u8>>>();
}

//~ [E0277]
fn a_lock_of_what_is_not_sync() {
    is_sync::<lamprey::sync::RwLock<Cell<u8>>>();
}

//~ [E0277]
fn a_guard_of_what_is_not_send() {
    is_send::<lamprey::sync::MutexGuard<'static, Rc<u8>>>();
}

//~ [E0277]
fn a_shared_guard_of_what_is_not_sync() {
    is_sync::<lamprey::sync::MutexGuard<'static, Cell<u8>>>();
}

//~ [E0277]
fn a_reading_guard_of_what_is_not_sync() {
    is_send::<lamprey::sync::RwLockReadGuard<'static, Cell<u8>>>();
}

//~ [E0277]
fn a_writing_guard_of_what_is_not_send() {
    is_send::<lamprey::sync::RwLockWriteGuard<'static, Rc<u8>>>();
}

//~ [E0277]
fn a_cell_written_once_of_what_is_not_sync() {
    is_sync::<lamprey::sync::OnceLock<Cell<u8>>>();
}

//~ [E0277]
fn a_cell_written_once_of_what_is_not_send() {
    is_send::<lamprey::sync::OnceLock<Rc<u8>>>();
}

//~ [E0277]
fn a_lazy_value_of_what_is_not_sync() {
    is_sync::<lamprey::sync::LazyLock<Cell<u8>>>();
}

//~ [E0277]
fn a_lazy_value_whose_function_is_not_send() {
    is_sync::<lamprey::sync::LazyLock<u8, Rc<u8>>>();
}

//~ [E0277]
fn an_ivar_of_what_is_not_sync() {
    is_send::<lamprey::IVar<Cell<u8>>>();
}

//~ [E0277]
fn a_watch_of_what_is_not_sync() {
    is_send::<lamprey::watch::Receiver<Cell<u8>>>();
}

//~ [E0277]
fn a_broadcast_of_what_is_not_sync() {
    is_send::<lamprey::broadcast::Receiver<Cell<u8>>>();
}

//~ [E0277]
fn a_multicast_of_what_is_not_sync() {
    is_send::<lamprey::multicast::Receiver<Cell<u8>>>();
}

//~ [E0277]
fn a_sender_of_what_is_not_send() {
    is_send::<lamprey::Sender<Rc<u8>>>();
}

//~ [E0277]
fn a_bounded_sender_of_what_is_not_send() {
    is_send::<lamprey::bounded::Sender<Rc<u8>>>();
}

//~ [E0277]
fn an_unbounded_sender_of_what_is_not_send() {
    is_send::<lamprey::unbounded::Sender<Rc<u8>>>();
}

//~ [E0277]
fn a_mailbox_of_what_is_not_send() {
    is_send::<lamprey::mailbox::Receiver<Rc<u8>>>();
}

//~ [E0277]
fn a_oneshot_of_what_is_not_send() {
    is_send::<lamprey::oneshot::Sender<Rc<u8>>>();
}

//~ [E0277]
fn an_mvar_of_what_is_not_send() {
    is_sync::<lamprey::MVar<Rc<u8>>>();
}

//~ [E0277]
fn a_swap_channel_of_what_is_not_send() {
    is_sync::<lamprey::SwapChannel<Rc<u8>>>();
}

//~ [E0277]
fn a_client_of_questions_that_are_not_send() {
    is_send::<lamprey::rpc::Client<Rc<u8>, u8>>();
}

//~ [E0277]
fn a_client_of_answers_that_are_not_send() {
    is_send::<lamprey::rpc::Client<u8, Rc<u8>>>();
}

//~ [E0277]
fn an_address_of_messages_that_are_not_send() {
    is_send::<lamprey::actor::Address<Rc<u8>>>();
}

//~ [E0277]
fn a_handle_of_what_is_not_send() {
    is_send::<lamprey::JoinHandle<Rc<u8>>>();
}

//~ [E0277]
fn a_parasites_handle_of_what_is_not_send() {
    is_send::<lamprey::ParasiteHandle<Rc<u8>>>();
}

//~ [E0277]
fn a_reified_parasite_of_what_is_not_send() {
    is_send::<lamprey::parasite::Parasite<Rc<u8>>>();
}

//~ [E0277]
fn a_callback_of_what_is_not_send() {
    is_send::<lamprey::event::Callback<Rc<u8>>>();
}

//~ [E0277]
fn a_variable_in_a_type_that_is_not_sync() {
    is_sync::<TVar<Cell<u8>>>();
}

//~ [E0277]
fn a_generator_on_another_thread() {
    is_send::<swapstack::Generator<(), (), ()>>();
}

//~ [E0277]
fn a_ready_thread_in_the_hands_of_another() {
    is_send::<lamprey::Ready>();
}

//~ [E0277]
fn the_queue_of_a_worker_in_the_hands_of_another() {
    is_send::<lamprey::Unstarted<'static>>();
}

//~ [E0277]
fn a_transaction_is_not_send() {
    is_send::<Transaction>();
}

//~ [E0277]
fn a_queue_of_the_kit_of_what_is_not_send() {
    is_sync::<lamprey::trace::Queue<Rc<u8>>>();
}

// An event waits by steps that must be taken in their order; only Lamprey can.

//~ [E0599]
fn the_steps_of_an_event<E: Event>(event: E) -> (bool, bool) {
    let branch = event.branch();
    (branch.attempt(None), branch.attempt(None))
}

//~ [E0599]
fn the_steps_of_a_known_event(rx: lamprey::Receiver<u8>) {
    rx.recv_evt().branch().attempt(None);
}

//~ [E0599]
fn the_steps_of_some_events<E: Events>(events: E) -> bool {
    events.branches().attempt(0, None)
}
