//! A small library of actors, and the thread ring on it (swapstack-taco-2013, 7.4).
//!
//! An actor is a host with a state and a mailbox: it handles its messages one after the other, and nobody
//! else touches its state. An address sends to it without waiting, knows what it may be sent by its type, and
//! keeps it alive: an actor ends when it says so, or when no address of it is left. Whoever started it gets
//! its state back.
//!
//! ```sh
//! cargo run --example actors
//! cargo test --example actors
//! ```

use lamprey::{JoinHandle, mailbox, spawn};

/// What has a state and handles messages.
pub trait Actor: Send + 'static {
    /// What it can be sent.
    type Message: Send + 'static;

    /// Handles one message. No other is handled meanwhile; it may block.
    fn handle(&mut self, message: Self::Message) -> Next;
}

/// What an actor does after a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// It waits for the next.
    Continue,
    /// It ends; messages that it has not handled are dropped.
    Stop,
}

/// Where messages are sent.
pub struct Address<M>(mailbox::Sender<M>);

impl<M> Clone for Address<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: Send + 'static> Address<M> {
    /// Puts a message into the mailbox; does not wait. False if the actor has ended.
    pub fn tell(&self, message: M) -> bool {
        self.0.send(message).is_ok()
    }

    /// Asks: `question` makes the message of a place for the answer. `None` if the actor ends without
    /// answering.
    pub fn ask<A>(&self, question: impl FnOnce(lamprey::Sender<A>) -> M) -> Option<A> {
        let (reply, answer) = lamprey::channel();
        if self.tell(question(reply)) { answer.recv().ok() } else { None }
    }
}

/// Starts an actor. The handle gives its last state.
pub fn start<A: Actor>(actor: A) -> (Address<A::Message>, JoinHandle<A>) {
    let (address, inbox) = prepare();
    (address, inbox.start(actor))
}

/// A mailbox whose actor has not been started: for actors that know each other.
pub struct Inbox<M>(mailbox::Receiver<M>);

/// An address before its actor.
pub fn prepare<M: Send + 'static>() -> (Address<M>, Inbox<M>) {
    let (tx, rx) = mailbox();
    (Address(tx), Inbox(rx))
}

impl<M: Send + 'static> Inbox<M> {
    /// Starts the actor of this mailbox.
    pub fn start<A: Actor<Message = M>>(mut self, mut actor: A) -> JoinHandle<A> {
        spawn(move || {
            while let Ok(message) = self.0.recv()
                && actor.handle(message) == Next::Continue
            {}
            actor
        })
    }
}

/// One of a ring: passes a token on to the next, until it has been passed often enough.
struct Member {
    next: Address<Token>,
    passed: u64,
}

enum Token {
    /// Still to be passed so many times.
    Pass(u64),
    /// Ends everybody, once round.
    End,
}

impl Actor for Member {
    type Message = Token;

    fn handle(&mut self, token: Token) -> Next {
        match token {
            Token::Pass(0) | Token::End => {
                self.next.tell(Token::End);
                Next::Stop
            }
            Token::Pass(left) => {
                self.passed += 1;
                self.next.tell(Token::Pass(left - 1));
                Next::Continue
            }
        }
    }
}

/// Passes a token `times` times round a ring of `members`; how often each of them has passed it.
pub fn ring(members: usize, times: u64) -> Vec<u64> {
    let (addresses, inboxes): (Vec<_>, Vec<_>) = (0..members).map(|_| prepare()).unzip();
    let nexts = addresses.iter().cycle().skip(1).cloned();
    let start = |(inbox, next): (Inbox<_>, _)| inbox.start(Member { next, passed: 0 });
    let hosts: Vec<_> = inboxes.into_iter().zip(nexts).map(start).collect();
    addresses[0].tell(Token::Pass(times));
    drop(addresses);
    hosts.into_iter().map(|host| host.join().unwrap().passed).collect()
}

fn main() {
    lamprey::run(|| {
        let begun = std::time::Instant::now();
        let passed = ring(503, 500_000);
        println!("{} passes in {:?}", passed.iter().sum::<u64>(), begun.elapsed());
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::{JoinError, Sender};

    #[test]
    fn a_token_goes_round() {
        for workers in 1..=2 {
            lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
                assert_eq!(ring(3, 7), [3, 2, 2]);
                assert_eq!(ring(1, 5), [5]);
                assert_eq!(ring(503, 10_000).iter().sum::<u64>(), 10_000);
            });
        }
    }

    /// Adds; an account that must not be overdrawn.
    struct Account(i64);

    enum Order {
        Add(i64),
        Balance(Sender<i64>),
        Close,
    }

    impl Actor for Account {
        type Message = Order;

        fn handle(&mut self, order: Order) -> Next {
            match order {
                Order::Add(amount) => {
                    self.0 = self.0.checked_add(amount).filter(|&sum| sum >= 0).expect("overdrawn")
                }
                Order::Balance(reply) => drop(reply.send(self.0)),
                Order::Close => return Next::Stop,
            }
            Next::Continue
        }
    }

    #[test]
    fn messages_are_handled_in_order() {
        lamprey::run(|| {
            let (account, _host) = start(Account(0));
            assert!((1..=100).all(|n| account.tell(Order::Add(n))));
            assert_eq!(account.ask(Order::Balance), Some(5050));
        });
    }

    #[test]
    fn it_ends_when_it_says_so_or_nobody_can_reach_it() {
        lamprey::run(|| {
            let (account, host) = start(Account(1));
            drop(account);
            assert_eq!(host.join().unwrap().0, 1);
            let (account, host) = start(Account(2));
            account.tell(Order::Close);
            assert_eq!(host.join().unwrap().0, 2);
            assert!(!account.tell(Order::Add(1)));
            assert_eq!(account.ask(Order::Balance), None);
        });
    }

    #[test]
    fn a_panic_ends_the_actor_and_no_other() {
        lamprey::run(|| {
            let ((broke, host), (sound, _host)) = (start(Account(0)), start(Account(0)));
            broke.tell(Order::Add(-1));
            assert_eq!(broke.ask(Order::Balance), None);
            assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
            assert_eq!(sound.ask(Order::Balance), Some(0));
        });
    }
}
