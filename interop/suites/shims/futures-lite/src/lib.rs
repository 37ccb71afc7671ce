//! The crate `futures-lite`, but what its users' tests wait with is Lamprey's.

pub use real::*;

/// Futures.
pub mod future {
    pub use lamprey::wait as block_on;
    pub use real::future::*;
}
