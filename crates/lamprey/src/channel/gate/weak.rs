//! Weak senders of gate channels: they keep the gate's memory, and do not count in it; its count of senders decides
//! under the lock whether one may become a sender again.

/// `WeakSender<T>(Arc<Gate<$state>>)`, and `downgrade` of `Sender<T>(Arc<Gate<$state>>)`.
/// `$make` makes a channel, for the examples.
macro_rules! weak {
    ($state:ty, $name:literal, $make:literal) => {
        /// A sending end that does not keep the channel open, made by [`Sender::downgrade`].
        ///
        /// When the last sender is gone the channel is closed, however many weak ones there are. So the thread that receives
        /// can keep one itself and still ends with its users. It keeps the channel's memory, but no values.
        pub struct WeakSender<T>(Arc<Gate<$state>>);

        impl<T> Sender<T> {
            /// A weak sender of this channel, which does not keep it open.
            ///
            /// # Examples
            /// A worker with an address of its own, which it could give to others. It ends with the last of its users.
            /// ```
            /// # lamprey::run(|| {
            #[doc = concat!("let (tx, mut rx) = lamprey::", $make, ";")]
            /// let me = tx.downgrade();
            /// let worker = lamprey::spawn(move || {
            ///     let sum: i32 = rx.iter().sum();
            ///     (sum, me.upgrade().is_some())
            /// });
            /// tx.send(1).unwrap();
            /// tx.send(2).unwrap();
            /// drop(tx);
            /// assert_eq!(worker.join().unwrap(), (3, false));
            /// # });
            /// ```
            ///
            /// # Blocking
            /// Never.
            pub fn downgrade(&self) -> WeakSender<T> {
                self.0.with(|section| section.note_weak());
                WeakSender(self.0.clone())
            }
        }

        impl<T> WeakSender<T> {
            /// A sender, if there is still one. None if the last is gone: that is final. A sender of a channel that has been
            /// closed by a call, or whose receivers are gone, is one whose sends fail.
            ///
            /// # Examples
            /// ```
            #[doc = concat!("let (tx, _rx) = lamprey::", $make, ";")]
            /// let weak = tx.downgrade();
            /// weak.upgrade().unwrap().send(1).unwrap();
            /// drop(tx);
            /// assert!(weak.upgrade().is_none());
            /// ```
            ///
            /// # Blocking
            /// Never.
            pub fn upgrade(&self) -> Option<Sender<T>> {
                $crate::sched::coop::look();
                let is_one_left = self.0.with(|section| {
                    let is_one_left = section.senders() > 0;
                    if is_one_left {
                        section.add_sender();
                    }
                    is_one_left
                });
                is_one_left.then(|| Sender(self.0.clone()))
            }

            /// True if both are ends of one channel.
            pub fn same_channel(&self, other: &Self) -> bool {
                Arc::ptr_eq(&self.0, &other.0)
            }
        }

        impl<T> Clone for WeakSender<T> {
            fn clone(&self) -> Self {
                Self(self.0.clone())
            }
        }

        impl<T> std::fmt::Debug for WeakSender<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }
    };
}
pub(crate) use weak;
