//! [`Segment`]: what is under way on a connection.

use std::fmt;
use std::time::Duration;

/// A piece of one direction of a connection.
pub(super) struct Segment {
    /// When, after the world's beginning.
    pub(super) arrives: Duration,
    /// `None` once it has been delivered; its sender does not know that yet.
    pub(super) payload: Option<Payload>,
}

pub(super) enum Payload {
    /// The connection is made: from the accepting side, before all else.
    Open,
    Bytes(Box<[u8]>),
    /// The sender has shut down this direction.
    End,
}

impl Payload {
    pub(super) fn len(&self) -> usize {
        if let Self::Bytes(bytes) = self { bytes.len() } else { 0 }
    }
}

/// As in the log.
impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("syn-ack"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::End => f.write_str("fin"),
        }
    }
}
