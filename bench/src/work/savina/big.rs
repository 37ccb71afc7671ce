//! The actors of the bench `savina_big`, and whom they ping.

use super::Work;

/// The actors.
pub const ACTORS: usize = 120;

/// One operation is a ping and its pong. Both ends count them.
pub const WORK: Work = Work { metric: "ping", step: ACTORS as u64, checksum: |n| 2 * n };

/// Pings of each actor.
pub fn each(pings: u64) -> u64 {
    pings / ACTORS as u64
}

/// Draws another actor, again and again.
pub struct Others {
    me: usize,
    state: u64,
}

impl Others {
    /// The others of actor `me`.
    pub fn of(me: usize) -> Self {
        Self { me, state: me as u64 + 1 }
    }

    /// Draws one (Knuth's linear congruential generator).
    pub fn draw(&mut self) -> usize {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let distance = 1 + (self.state >> 33) as usize % (ACTORS - 1);
        (self.me + distance) % ACTORS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_other_actor_is_drawn_and_never_oneself() {
        let mut others = Others::of(7);
        let mut drawn = [false; ACTORS];
        (0..100 * ACTORS).for_each(|_| drawn[others.draw()] = true);
        assert!(!drawn[7]);
        assert_eq!(drawn.iter().filter(|drawn| **drawn).count(), ACTORS - 1);
    }
}
