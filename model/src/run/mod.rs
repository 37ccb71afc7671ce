//! The same programs on Lamprey, by its public API only.
//!
//! | file | what |
//! |---|---|
//! | `world` | what a run shares: the objects that names stand for, and what was observed |
//! | `computation` | a host, a parasite or an implicit thread of the program |
//! | `evaluate` | what waits for nobody: `spawn`, `parasite`, `attach`, ... |
//! | `wait` | `send`, `recv`, `sync`, `reify`, `inflate` in blocking code, and in async code |
//! | `event` | events |
//! | `here` | a whole run, from a host: until nothing happens any more, and then the end of all that is left |
//!
//! What a computation does between two operations is evaluated by the machine's own local rules: Lamprey has no part in
//! that.

mod computation;
mod evaluate;
mod event;
mod here;
mod wait;
mod world;

pub use here::{Failure, Settings, run_here, run_on};

/// A fault in this interpreter, which the oracle must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Fault {
    /// None.
    #[default]
    None,
    /// A value that is sent is sent again.
    SendTwice,
    /// A send returns without having sent.
    SendNothing,
    /// No nack happens.
    LoseNack,
    /// What has been reified goes on twice.
    ResumeTwice,
    /// `attach` does nothing.
    ForgetAttach,
    /// Of asynchronous sends, the later overtake.
    Overtake,
}

/// The run is over, and with it whatever still waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// What a computation or one of its functions comes to.
pub type Out = Result<crate::syntax::Value, Over>;
