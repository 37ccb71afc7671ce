//! The actors of the bench `savina_big`, and whom they ping.

use super::{Draw, Work};

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
    draw: Draw,
}

impl Others {
    /// The others of actor `me`.
    pub fn of(me: usize) -> Self {
        Self { me, draw: Draw::new(me as u64 + 1) }
    }

    /// Draws one.
    pub fn draw(&mut self) -> usize {
        (self.me + 1 + self.draw.below(ACTORS - 1)) % ACTORS
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
