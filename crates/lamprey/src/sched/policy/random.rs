//! [`Random`]: any thread, by a seed.

use super::{Parasites, Policy, Ready, Unstarted, Why};

/// Any of the ready threads, each as likely as another, chosen by a seed: with one worker, and a program whose threads wait for
/// nothing but each other, two runs with one seed are the same. For tests: an order that the default policy never
/// chooses finds what relies on the usual one. (Begel, MacDonald and Shilman, *PicoThreads: Lightweight Threads in Java*,
/// 5.4.)
///
/// # Examples
/// ```
/// use lamprey::{Runtime, policy::Random};
/// let runtime = Runtime::builder().workers(1).policy(|| Random::seeded(5)).build()?;
/// assert_eq!(runtime.run(|| lamprey::spawn(|| 7).join().unwrap()), 7);
/// # std::io::Result::Ok(())
/// ```
#[derive(Debug)]
pub struct Random {
    ready: Vec<Ready>,
    state: u64,
}

impl Random {
    /// A policy whose choices follow from `seed`, and from the threads that it is given.
    pub fn seeded(seed: u64) -> Self {
        Self { ready: Vec::new(), state: seed }
    }

    /// A number below `below`: splitmix64, whose state may be any number.
    fn number(&mut self, below: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        ((u128::from(mixed) * below as u128) >> 64) as usize
    }
}

impl Policy for Random {
    fn ready(&mut self, thread: Ready, _why: Why) {
        self.ready.push(thread);
    }

    fn next(&mut self, unstarted: &mut Unstarted<'_>) -> Option<Ready> {
        while let Some(thread) = unstarted.pop() {
            self.ready.push(thread);
        }
        if self.ready.is_empty() {
            return None;
        }
        let chosen = self.number(self.ready.len());
        Some(self.ready.swap_remove(chosen))
    }

    fn parasites(&self) -> Parasites {
        Parasites::Queued
    }
}
