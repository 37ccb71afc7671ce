//! Doing something at a pace: at regular instants ([`Interval`]), or at most so often ([`RateLimiter`]).
//!
//! Both are built on sleeping and keep no timer between two calls.

mod interval;
mod rate_limiter;

pub use interval::{Interval, MissedTicks, interval, interval_at};
pub use rate_limiter::RateLimiter;
