//! A buffered channel, written as a thread: the first example of every book on Concurrent ML.
//!
//! The buffer is a host that holds the values and, at each moment, offers what can be done: to take one in,
//! to give one out, or both. There is no lock, no condition and no counting of waiters: the choice is all of
//! it. (Use `lamprey::bounded` in earnest; this shows that it need not be built in.)
//!
//! ```sh
//! cargo run -p lamprey --example buffered_channel
//! cargo test --example buffered_channel
//! ```

use lamprey::event::{Event, choose};
use lamprey::{Receiver, RecvError, SendError, Sender, channel, spawn};
use std::collections::VecDeque;

/// What happens next at the buffer.
enum Step<T> {
    In(Result<T, RecvError>),
    Out(Result<(), SendError<T>>),
}

/// A channel that holds up to `capacity` values. Both ends are those of ordinary channels, so they can be
/// chosen from.
///
/// When all senders are gone, what is in the buffer is still received.
pub fn buffered<T: Clone + Send + 'static>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    let ((tx, inbound), (outbound, rx)) = (channel(), channel());
    spawn(move || serve(capacity, &inbound, &outbound));
    (tx, rx)
}

/// The life of the buffer: until nobody receives any more, or nobody sends and all has been received.
fn serve<T: Clone>(capacity: usize, inbound: &Receiver<T>, outbound: &Sender<T>) {
    let mut values = VecDeque::new();
    let mut is_open = true;
    while is_open || !values.is_empty() {
        let take_in = || inbound.recv_evt().wrap(Step::In);
        // An event that is not chosen drops what it was to send, so the buffer keeps the value until it has
        // been.
        let give_out = |value: &T| outbound.send_evt(value.clone()).wrap(Step::Out);
        let step = match values.front() {
            None => take_in().sync(),
            Some(first) if values.len() < capacity && is_open => choose((take_in(), give_out(first))).sync(),
            Some(first) => give_out(first).sync(),
        };
        match step {
            Step::In(Ok(value)) => values.push_back(value),
            Step::In(Err(RecvError)) => is_open = false,
            Step::Out(Ok(())) => drop(values.pop_front()),
            Step::Out(Err(_)) => return,
        }
    }
}

fn main() {
    lamprey::run(|| {
        let (tx, rx) = buffered(4);
        for word in ["none", "of", "these", "waits"] {
            tx.send(word).unwrap();
            println!("sent {word}");
        }
        drop(tx);
        rx.iter().for_each(|word| println!("received {word}"));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use lamprey::event::timeout;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(3);

    #[test]
    fn the_main_program() {
        main();
    }

    #[test]
    fn it_takes_as_many_as_it_holds() {
        lamprey::run(|| {
            let (tx, rx) = buffered(3);
            (0..3).for_each(|n| tx.send(n).unwrap());
            assert!(tx.send_evt(3).sync_timeout(SHORT).is_none());
            assert_eq!(rx.recv(), Ok(0));
            tx.send(3).unwrap();
            drop(tx);
            assert_eq!(Vec::from_iter(rx), [1, 2, 3]);
        });
    }

    #[test]
    fn values_arrive_in_order_and_once() {
        for workers in 1..=2 {
            lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
                let (tx, rx) = buffered(7);
                spawn(move || (0..5000).for_each(|n| tx.send(n).unwrap()));
                assert!(rx.iter().eq(0..5000));
            });
        }
    }

    #[test]
    fn it_ends_with_its_receivers() {
        lamprey::run(|| {
            let (tx, rx) = buffered(1);
            tx.send(1).unwrap();
            drop(rx);
            while tx.send_timeout(2, SHORT).is_ok() {}
            assert!(tx.send(3).is_err());
        });
    }

    #[test]
    fn its_ends_can_be_chosen_from() {
        lamprey::run(|| {
            let ((tx, rx), (_other, never)) = (buffered(1), buffered::<u8>(1));
            tx.send(1).unwrap();
            let first = choose((rx.recv_evt(), never.recv_evt(), timeout(SHORT * 1000).wrap(|()| Ok(0))));
            assert_eq!(first.sync(), Ok(1));
        });
    }
}
