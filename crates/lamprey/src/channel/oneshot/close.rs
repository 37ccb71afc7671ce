//! The receiver's end before its drop, and what is to be seen of the cell meanwhile.
//!
//! Invariant: a receiver whose `go` found that the sender had ended keeps the cell, with what the sender has left.

use super::Receiver;
use super::cell::Seen;
use crate::sched::coop;

impl<T> Receiver<T> {
    /// Refuses a value that has not been sent yet: the sender sees that the receiver is gone. A value that has been sent can
    /// still be received. False if the sender has sent, or is gone.
    ///
    /// # Examples
    /// ```
    /// let (tx, mut rx) = lamprey::oneshot();
    /// assert!(rx.close());
    /// assert_eq!(tx.send(1), Err(lamprey::SendError(1)));
    /// assert!(rx.recv().is_err());
    ///
    /// let (tx, mut rx) = lamprey::oneshot();
    /// tx.send(1).unwrap();
    /// assert!(!rx.close());
    /// assert_eq!(rx.recv(), Ok(1));
    /// ```
    ///
    /// # Blocking
    /// Never.
    pub fn close(&mut self) -> bool {
        let has_sender = self.has_sender();
        self.leave();
        if has_sender {
            self.go();
        }
        has_sender && self.0.is_none()
    }

    /// True if nothing will be sent any more, though a value may be there: the sender has sent or is gone, or this receiver has
    /// been [closed](Self::close) or has given the value.
    pub fn is_closed(&self) -> bool {
        coop::look();
        !self.has_sender()
    }

    /// True if no value is there now.
    pub fn is_empty(&self) -> bool {
        coop::look();
        // SAFETY: alive until this side has ended.
        self.0.is_none_or(|cell| unsafe { cell.as_ref() }.look() != Seen::Sent)
    }

    fn has_sender(&self) -> bool {
        // SAFETY: alive until this side has ended.
        self.0.is_some_and(|cell| matches!(unsafe { cell.as_ref() }.look(), Seen::Waits(_)))
    }
}
