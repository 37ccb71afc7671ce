//! The pools of a simulation: no thread, and each call is made between two steps of the program.

use super::{PoolCall, PoolShared, Submitted, WhenFull};
use crate::world::{self, World, buggify};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// How long a call takes in a simulation, from its submission on.
const CALL: Range<Duration> = Duration::from_micros(20)..Duration::from_millis(2);

impl PoolShared {
    /// A call in a simulation. Outside of it there is no thread.
    pub(super) fn submit_simulated(self: &Arc<Self>, call: PoolCall, when_full: WhenFull) -> Submitted {
        if buggify!("no kernel thread can be started for a call that blocks") {
            return Submitted::NoThread;
        }
        let submitted = world::with(|world| {
            let mut state = self.lock();
            let is_full = state.queue.len() >= self.max.saturating_add(self.most_queued);
            if when_full == WhenFull::Refuse && (is_full || world.chance.buggify("a pool is full")) {
                state.rejected += 1;
                return Submitted::Full;
            }
            state.waited += u64::from(state.queue.len() >= self.max);
            state.calls += 1;
            state.queue.push_back(call);
            drop(state);
            let takes = world.chance.between(CALL.start, CALL.end);
            let pool = self.clone();
            world.after(takes, move |world| pool.run_one(world));
            Submitted::Queued
        });
        submitted.unwrap_or(Submitted::NoThread)
    }

    /// Runs one of the calls that wait, as one of several threads might.
    fn run_one(&self, world: &World) {
        let mut state = self.lock();
        let at = world.chance.below(state.queue.len() as u32) as usize;
        // None: it has been withdrawn.
        let call = state.queue.remove(at);
        drop(state);
        if let Some(call) = call {
            crate::sched::os::as_another(|| call.run());
        }
    }
}
