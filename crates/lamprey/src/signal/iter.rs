//! [`Iter`]: the signals of a listener as they come.

use super::listener::Signals;
use super::number::Signal;
use std::io;
use std::iter::FusedIterator;

/// The iterator that [`Signals::iter`] returns.
#[derive(Debug)]
pub struct Iter<'a> {
    pub(super) signals: &'a Signals,
    pub(super) ended: bool,
}

impl Iterator for Iter<'_> {
    type Item = io::Result<Signal>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let signal = self.signals.recv();
        // It would come again and again.
        self.ended = signal.is_err();
        Some(signal)
    }
}

impl FusedIterator for Iter<'_> {}

impl<'a> IntoIterator for &'a Signals {
    type Item = io::Result<Signal>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}
