//! The sending end of most gate channels: the state counts the senders, and the last one to be dropped wakes
//! the receivers.

/// Clone, Drop and Debug of `Sender<T>(Arc<Gate<State<T>>>)`, whose state has the count `senders`.
macro_rules! sender {
    ($name:literal, wakes $queue:expr) => {
        impl<T> Clone for Sender<T> {
            fn clone(&self) -> Self {
                self.0.with(|section| section.state.senders += 1);
                Self(self.0.clone())
            }
        }

        impl<T> Drop for Sender<T> {
            fn drop(&mut self) {
                self.0.with(|section| {
                    section.state.senders -= 1;
                    if section.state.senders == 0 {
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
