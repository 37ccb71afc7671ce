//! What all connections of a server use.

use lamprey::CancelToken;

use crate::answer::Site;
use crate::config::Limits;
use crate::log::Log;

/// What all connections of a server use; it outlives the scope that they run in.
pub(crate) struct Service {
    pub(crate) limits: Limits,
    pub(crate) site: Site,
    pub(crate) log: Option<Log>,
    /// Cancelled when the server is to stop. Each connection has a child of it.
    pub(crate) stop: CancelToken,
}
