//! The ends of most gate channels: the gate counts the ends, and the state says whether the channel `is_closed`. The last
//! sender closes it, and so may any end. Closed is final, and no operation waits for a value or a place any more.

/// Clone, Drop and Debug of `Sender<T>(Arc<Gate<State<T>>>)`, whose state has `is_closed`.
macro_rules! sender {
    ($name:literal, wakes $queue:expr) => {
        impl<T> Clone for Sender<T> {
            fn clone(&self) -> Self {
                self.0.with(|section| section.add_sender());
                Self(self.0.clone())
            }
        }

        impl<T> Drop for Sender<T> {
            fn drop(&mut self) {
                self.0.with(|section| {
                    if section.remove_sender() {
                        section.state.is_closed = true;
                        section.wake_all($queue);
                    }
                });
            }
        }

        impl<T> std::fmt::Debug for Sender<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }
    };
}
pub(crate) use sender;

/// `close`, `is_closed` and `same_channel` of `$end<T>`, whose field `$gate` is the `Arc<Gate<State<T>>>`; all that wait in
/// `$queue` are woken. `$make` makes a channel, for the example.
macro_rules! closes {
    ($end:ident, $gate:tt, $make:literal, wakes $($queue:expr),+) => {
        impl<T> $end<T> {
            /// Closes the channel for all: from now on sends fail, those that wait too, and receivers get what has been sent
            /// before and then the error that they get when no sender is left. False if it was closed already, by such a call
            /// or because a side is gone.
            ///
            /// # Examples
            /// ```
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, mut rx) = lamprey::", $make, ";")]
            /// tx.send(1).unwrap();
            /// assert!(tx.close());
            /// assert_eq!(tx.send(2), Err(lamprey::SendError(2)));
            /// assert_eq!(rx.recv(), Ok(1));
            /// assert!(rx.recv().is_err());
            /// # });
            /// ```
            ///
            /// # Blocking
            /// Never.
            pub fn close(&self) -> bool {
                self.$gate.with(|section| {
                    let closes = !std::mem::replace(&mut section.state.is_closed, true);
                    if closes {
                        $(section.wake_all($queue);)+
                    }
                    closes
                })
            }

            /// True if no value will be sent any more: the channel has been [closed](Self::close), or a side is gone for good.
            pub fn is_closed(&self) -> bool {
                crate::sched::coop::look();
                self.$gate.with(|section| section.state.is_closed)
            }

            /// True if both are ends of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.$gate, &other.$gate)
            }
        }
    };
}
pub(crate) use closes;
