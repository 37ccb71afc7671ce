//! What all connections of a server use.

use crate::answer::Site;
use crate::config::Limits;
use crate::log::Log;
use crate::stop::StopSignal;

/// What all connections of a server use; it outlives the scope that they run in.
pub(crate) struct Service {
    pub(crate) limits: Limits,
    pub(crate) site: Site,
    pub(crate) log: Option<Log>,
    pub(crate) stop: StopSignal,
}
