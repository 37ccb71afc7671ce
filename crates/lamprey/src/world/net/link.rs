//! [`Link`]: the way from one machine to another.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The properties of the simulated network's way from one machine to another.
///
/// Streams lose and reorder nothing: there, what is lost on the way is sent again and comes later, and so does all that
/// follows. Datagrams are really lost, duplicated and reordered.
///
/// # Examples
/// ```
/// use lamprey::sim::{self, Link, Machine};
/// use lamprey::{Runtime, net::TcpStream};
/// use std::time::Duration;
/// Runtime::simulated(1).run(|| {
///     let far = Machine::new("far");
///     let second = Duration::from_secs(1);
///     sim::network().set_link_both(&Machine::here(), &far, Link::new().latency(second..=second));
///     let before = sim::now();
///     assert!(TcpStream::connect("far:80").is_err()); // nobody listens: that is known after the way there and back
///     assert!(sim::now() - before >= 2 * second);
/// });
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[must_use = "a link is used once it is given to the network"]
pub struct Link {
    pub(super) latency: (Duration, Duration),
    /// In a million, as the following ones.
    pub(super) loss: u32,
    pub(super) duplication: u32,
    pub(super) reordering: u32,
    pub(super) fragmentation: u32,
    pub(super) bandwidth: Option<u64>,
    pub(super) window: usize,
    pub(super) connect_timeout: Duration,
    pub(super) send_timeout: Duration,
}

impl Default for Link {
    fn default() -> Self {
        Self::new()
    }
}

impl Link {
    /// A link without faults: 100 to 500 microseconds of latency, nothing lost, duplicated or reordered, one piece in ten
    /// of a stream in fragments, no limit of bandwidth, a window of 64 KiB, 20 seconds for a connection to be made, and 30
    /// until it is given up.
    pub const fn new() -> Self {
        Self {
            latency: (Duration::from_micros(100), Duration::from_micros(500)),
            loss: 0,
            duplication: 0,
            reordering: 0,
            fragmentation: 100_000,
            bandwidth: None,
            window: 64 << 10,
            connect_timeout: Duration::from_secs(20),
            send_timeout: Duration::from_secs(30),
        }
    }

    /// What makes no other link worse.
    pub(super) const fn perfect() -> Self {
        let mut link = Self::new();
        link.latency = (Duration::ZERO, Duration::ZERO);
        link.fragmentation = 0;
        link
    }

    /// Of a machine to itself.
    pub(super) const fn to_itself() -> Self {
        let mut link = Self::new();
        link.latency = (Duration::from_micros(5), Duration::from_micros(20));
        link
    }

    /// How long the way takes, between two bounds.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn latency(mut self, range: RangeInclusive<Duration>) -> Self {
        assert!(range.start() <= range.end(), "a range of latencies is empty: {range:?}");
        let (least, most) = range.into_inner();
        self.latency = (least.min(LONGEST), most.min(LONGEST));
        self
    }

    /// The probability that a segment or a datagram is lost, 0 to 1.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn loss(mut self, probability: f64) -> Self {
        self.loss = in_a_million("loss", probability);
        self
    }

    /// The probability that a datagram arrives twice, 0 to 1.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn duplication(mut self, probability: f64) -> Self {
        self.duplication = in_a_million("duplication", probability);
        self
    }

    /// The probability that a segment or a datagram takes up to ten times the longest latency more, 0 to 1: datagrams that
    /// were sent after it then arrive before it.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn reordering(mut self, probability: f64) -> Self {
        self.reordering = in_a_million("reordering", probability);
        self
    }

    /// The probability that a piece of a stream is sent or received in several parts, so that reads return less than was
    /// written at once, 0 to 1.
    ///
    /// # Panics
    /// If it is out of range.
    pub fn fragmentation(mut self, probability: f64) -> Self {
        self.fragmentation = in_a_million("fragmentation", probability);
        self
    }

    /// How many bytes can pass in a second; `None`: any number.
    ///
    /// # Panics
    /// If it is 0.
    pub fn bandwidth(mut self, bytes_per_second: Option<u64>) -> Self {
        assert!(
            bytes_per_second != Some(0),
            "a link without bandwidth passes nothing: partition the machines"
        );
        self.bandwidth = bytes_per_second;
        self
    }

    /// How many bytes of a stream may be under way, or have arrived and not been read, until writers block. (Besides, up
    /// to 16 KiB are in the sockets of both ends.)
    ///
    /// # Panics
    /// If it is 0.
    pub fn window(mut self, bytes: usize) -> Self {
        assert!(bytes != 0, "a window of 0 bytes passes nothing: partition the machines");
        self.window = bytes;
        self
    }

    /// How long it is tried to connect, until that fails with `TimedOut`.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout.min(LONGEST);
        self
    }

    /// How long what was sent on a stream is sent again if nothing answers, until the connection fails with `TimedOut`.
    pub fn send_timeout(mut self, timeout: Duration) -> Self {
        self.send_timeout = timeout.min(LONGEST);
        self
    }
}

/// Longer times are cut to this one: a hundred years.
pub(super) const LONGEST: Duration = Duration::from_secs(3_153_600_000);

pub(super) fn in_a_million(what: &str, probability: f64) -> u32 {
    assert!((0.0..=1.0).contains(&probability), "a probability of {what} is from 0 to 1, not {probability}");
    (probability * 1e6).round() as u32
}
