//! Why an actor has not replied.
//!
//! Unlike those of [`rpc`](mod@crate::rpc), the errors do not give the message back: it was made for this question, of
//! a reply that nobody waits for any more.

use std::error::Error;
use std::fmt;

/// [`ask`](super::Address::ask) has got no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskError {
    /// The actor is gone, and has not got the message (or the caller is unwinding and must not block).
    Gone,
    /// The actor has dropped the [`Reply`](super::Reply): it did not reply, or ended before.
    NoReply,
}

/// [`ask_timeout`](super::Address::ask_timeout) has got no reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskTimeoutError {
    /// The actor is gone, and has not got the message (or the caller is unwinding and must not block).
    Gone,
    /// The actor has dropped the [`Reply`](super::Reply): it did not reply, or ended before.
    NoReply,
    /// The time is over. If the actor has got the message, it can see that nobody waits.
    Timeout,
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gone => "the actor is gone",
            Self::NoReply => "the actor will not reply",
        })
    }
}

impl fmt::Display for AskTimeoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gone => AskError::Gone.fmt(f),
            Self::NoReply => AskError::NoReply.fmt(f),
            Self::Timeout => f.write_str("the actor did not reply in time"),
        }
    }
}

impl Error for AskError {}
impl Error for AskTimeoutError {}
