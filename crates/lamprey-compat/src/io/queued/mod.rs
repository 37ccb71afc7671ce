//! Files and standard streams: the kernel has no readiness for them, so an operation that has begun goes on whether it is polled
//! or not. It is kept here, with its buffer, until it has ended.
//!
//! # Invariants
//! * At most one operation is in flight. The next one begins when it has ended, whoever polls.
//! * What a read has brought is in the flight or in `buf[ahead]` until a poll hands it out: a poll that is dropped loses nothing.
//! * A write is accepted when it begins. Its error is in `write_error` until the next write, flush or close reports it.
//! * The file's cursor is behind what is ahead; a write or a seek puts that right first.
//!
//! | file | content |
//! |---|---|
//! | `operations` | what a file or a stream can do, as futures that own what they use |
//! | `flight` | the operation in flight, and what its end changes |
//! | `read`, `write`, `seek` | how each begins |

mod flight;
mod operations;
mod read;
mod seek;
mod write;

use super::transport::Driver;
use flight::State;
use std::sync::{Arc, Mutex, PoisonError};

/// How much one operation transfers.
const CHUNK: usize = 256 * 1024;

/// A file or a standard stream with its operation in flight.
pub struct Queued<T> {
    inner: Arc<T>,
    /// Never locked: a future in it need not be `Sync`, and the whole is.
    state: Mutex<State>,
}

impl<T> Queued<T> {
    fn parts(&mut self) -> (&Arc<T>, &mut State) {
        (&self.inner, self.state.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}

impl<T> Driver<T> for Queued<T> {
    fn new(inner: T) -> Self {
        Self { inner: Arc::new(inner), state: Mutex::default() }
    }

    fn get(&self) -> &T {
        &self.inner
    }

    fn into_inner(self) -> T {
        let Self { inner, state } = self;
        drop(state);
        Arc::into_inner(inner).expect("only the operation in flight shared it, and is dropped")
    }
}
