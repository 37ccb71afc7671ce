//! Sending to a worker: pushing an entry into its inbox, and waking it if it sleeps.

use super::guard;
use super::remote_message::RemoteMessage;
use super::waiter::Waiter;
use super::worker_shared::WorkerShared;
use crate::world;
use std::ptr::NonNull;

impl WorkerShared {
    /// Pushes `entry` into the worker's inbox and wakes the worker if it sleeps; gives the entry back if the
    /// worker has ended.
    ///
    /// # Safety
    /// The caller owns the entry: an unstarted thread, a blocked thread of this worker that the caller has
    /// the right to wake, or a task as in [`Task::receive`](super::parasite::task::Task::receive).
    pub(crate) unsafe fn deliver(&self, entry: Waiter) -> Result<(), Waiter> {
        self.note_sent(entry);
        // SAFETY: the caller's contract.
        unsafe { self.put_back(entry) }
    }

    /// [`deliver`](Self::deliver) for what was sent before, and was taken out: it is neither counted nor noted once more.
    ///
    /// # Safety
    /// The contract of `deliver`.
    pub(super) unsafe fn put_back(&self, entry: Waiter) -> Result<(), Waiter> {
        // SAFETY: owned by the caller (contract), and valid until the worker has run it.
        unsafe { self.inbox.push(entry)? };
        self.notify();
        Ok(())
    }

    /// Sends a remote message to the worker of `remote`; if that worker has ended, runs it here, without a
    /// worker.
    ///
    /// # Safety
    /// A count of the `WorkerShared` lasts until this call returns; the caller owns the message and gives it
    /// up.
    pub(crate) unsafe fn send(remote: NonNull<WorkerShared>, message: NonNull<RemoteMessage>) {
        // SAFETY: the caller's contract: the `WorkerShared` is alive, and the message is owned.
        unsafe {
            let remote = Self::retain(remote);
            if let Err(entry) = remote.deliver(Waiter::message(message)) {
                super::parasite::finish::refused_by_inbox(entry);
            }
        }
    }

    /// Ends the worker's sleep; false if it does not sleep.
    pub(crate) fn notify(&self) -> bool {
        let sleeps = self.parking.claim();
        if sleeps {
            if !world::is_simulated() {
                self.called.now();
            }
            let notifier = self.notifier.get().expect("set before the first sleep");
            // The caller has just handed an entry over to the worker, and must not unwind.
            const WHO: &str = "the notifier of a source";
            crate::bug::no_unwind(WHO, || guard::no_switch(WHO, || notifier.notify()));
        }
        sleeps
    }
}

impl Drop for WorkerShared {
    /// Drops what the closures of its sources own. This runs wherever the last count is dropped, on a thread
    /// that expects no code of the program: so it must not switch, and panics are caught.
    fn drop(&mut self) {
        let (notifier, helpers) = (self.notifier.take(), self.helpers.take());
        guard::no_switch("the destructor of a notifier", || {
            crate::bug::quietly(|| drop(notifier));
            helpers.into_iter().flatten().for_each(|helper| crate::bug::quietly(|| drop(helper)));
        });
    }
}
