//! Actors: hosts that own their state and are told what to do by messages.
//!
//! An actor is a function of its [`Inbox`]: a host runs it, and it handles one message after another, however it
//! likes. Nobody else touches its state. An [`Address`] tells it something, asks it something, watches its end, or
//! ends it.
//!
//! | to do | use |
//! |---|---|
//! | start an actor | [`spawn`](spawn()) |
//! | choose its host: name, stack, scope, OS thread | [`inbox`], [`bounded_inbox`], then [`Inbox::run`] there |
//! | send it a message | [`Address::tell`] |
//! | send it a message, and wait for the reply | [`Address::ask`], [`Reply`] |
//! | learn how it has ended | [`Address::monitor`], [`Monitor`], [`Ended`] |
//! | let two actors end together | [`Address::link`] |
//! | start it again when it fails | [`Inbox::supervised`], in a [`Supervisor`](crate::scope::Supervisor) |
//!
//! # Examples
//! ```
//! use lamprey::actor::{self, Ended, Inbox, Reply};
//!
//! enum Order {
//!     Deposit(u64),
//!     Withdraw(u64, Reply<Result<(), &'static str>>),
//!     Balance(Reply<u64>),
//! }
//!
//! /// The actor: it ends when no address of it is left, and returns what is in the account then.
//! fn account(orders: &mut Inbox<Order>) -> u64 {
//!     let mut balance = 0;
//!     for order in orders {
//!         match order {
//!             Order::Deposit(amount) => balance += amount,
//!             Order::Withdraw(amount, reply) => {
//!                 let covered = balance.checked_sub(amount);
//!                 balance = covered.unwrap_or(balance);
//!                 let _ = reply.send(covered.map(|_| ()).ok_or("not covered")); // if still wanted
//!             }
//!             Order::Balance(reply) => drop(reply.send(balance)),
//!         }
//!     }
//!     balance
//! }
//!
//! lamprey::run(|| {
//!     let (address, host) = actor::spawn(account);
//!     address.tell(Order::Deposit(10)).unwrap();
//!     assert_eq!(address.ask(|reply| Order::Withdraw(7, reply)), Ok(Ok(())));
//!     assert_eq!(address.ask(|reply| Order::Withdraw(7, reply)), Ok(Err("not covered")));
//!     assert_eq!(address.ask(Order::Balance), Ok(3));
//!     let monitor = address.monitor();
//!     drop(address);
//!     assert_eq!(host.join().unwrap(), 3);
//!     assert_eq!(monitor.wait(), Ended::Returned);
//! });
//! ```
//!
//! # How it is done
//! An actor is a host, a [`mailbox`](mod@crate::mailbox) (or a [`bounded`](mod@crate::bounded) channel), and a record
//! of its run: a [`CancelToken`](crate::CancelToken) that ends it, and an [`IVar`](crate::IVar) that its end fills.
//! There is no scheduler of actors, and no protocol that is not one of those.

// Reading order: `life` (a run and its end), `inbox`, `address`, `weak`.

mod address;
mod err;
mod inbox;
mod life;
mod weak;

pub use crate::channel::rpc::Reply;
pub use address::Address;
pub use err::{AskError, AskTimeoutError};
pub use inbox::{Inbox, Iter, bounded_inbox, inbox};
pub use life::{Ended, Linked, Monitor};
pub use weak::WeakAddress;

use crate::thread::{JoinHandle, outside};

/// Starts an actor: a host that runs `body` with an inbox without a bound. The handle gives what `body` returns.
///
/// The actor ends when `body` returns, usually because no address is left and the inbox gives no more messages.
/// Dropping the handle leaves it running.
///
/// # Examples
/// ```
/// use lamprey::actor::{self, Inbox};
///
/// # lamprey::run(|| {
/// let (adder, host) = actor::spawn(|numbers: &mut Inbox<u32>| numbers.iter().sum::<u32>());
/// (1..=10).for_each(|n| adder.tell(n).unwrap());
/// drop(adder);
/// assert_eq!(host.join().unwrap(), 55);
/// # });
/// ```
/// What it captures, and what it is sent, must be [`Send`]:
/// ```compile_fail,E0277
/// use lamprey::actor::{self, Inbox};
/// # lamprey::run(|| {
/// let (address, host) = actor::spawn(|inbox: &mut Inbox<std::rc::Rc<u32>>| drop(inbox.recv()));
/// # });
/// ```
///
/// # Panics
/// Outside of a host: use [`inbox`], and [`Handle::spawn`](crate::Handle::spawn) or [`Inbox::run`] there.
///
/// # Blocking
/// Never.
#[track_caller]
pub fn spawn<M, R>(body: impl FnOnce(&mut Inbox<M>) -> R + Send + 'static) -> (Address<M>, JoinHandle<R>)
where
    M: Send + 'static,
    R: Send + 'static,
{
    if !crate::sched::on_worker() {
        drop(body);
        outside(
            "actor::spawn",
            "use actor::inbox, and Inbox::run on a host that a runtime's Handle::spawn starts",
        );
    }
    let (address, mut inbox) = inbox();
    // Ended from outside, it is cancelled as its host is.
    let host =
        crate::thread::spawn(move || inbox.run(body).unwrap_or_else(|_| crate::sched::unwind_cancelled()));
    (address, host)
}
