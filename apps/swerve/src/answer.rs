//! What the answer to a request is; `response` sends it.

use std::sync::Arc;

use crate::beneath::Root;
use crate::cache::{Cache, Lookup};
use crate::cond::Verdict;
use crate::config::Config;
use crate::file::{self, File, Found};
use crate::line::Method;
use crate::path;
use crate::request::Request;
use crate::status::Status;

/// The answer to a request.
pub(crate) enum Answer {
    File(Arc<File>),
    NotModified(Arc<File>),
    /// The folder is at this address.
    Moved(String),
    Status(Status),
}

/// The folder that is served, and the files of it that are in memory.
pub(crate) struct Site {
    root: Root,
    cache: Cache,
    /// The size in bytes of the largest file that is kept in memory.
    small: u64,
}

impl Site {
    pub(crate) fn new(root: Root, config: &Config) -> Site {
        let limits = &config.limits;
        Site {
            root,
            cache: Cache::new(limits.fresh, limits.cache_bytes),
            small: limits.small_bytes.min(limits.cache_bytes),
        }
    }

    /// Answers `request`; `name` is a buffer for the name of the file.
    pub(crate) fn answer(&self, request: &Request<'_>, name: &mut Vec<u8>) -> Answer {
        match request.method {
            Method::Get | Method::Head => {}
            Method::Other => return Answer::Status(Status::MethodNotAllowed),
            Method::Unknown => return Answer::Status(Status::NotImplemented),
        }
        let (path, query) = match path::split(request.target) {
            Ok(parts) => parts,
            Err(status) => return Answer::Status(status),
        };
        if let Err(status) = path::resolve(path, name) {
            return Answer::Status(status);
        }
        match self.find(name) {
            // Conditions are about an answer that has a file, and about no other (RFC 9110, 13.2.1).
            Ok(Found::File(file)) => match request.conditions.judge(file.validators()) {
                Verdict::Send => Answer::File(file),
                Verdict::NotModified => Answer::NotModified(file),
                Verdict::Failed => Answer::Status(Status::PreconditionFailed),
            },
            // A folder named like an index file has no address of its own.
            Ok(Found::Folder) if path.ends_with('/') => Answer::Status(Status::NotFound),
            Ok(Found::Folder) => Answer::Moved(format!("{path}/{query}")),
            Err(status) => Answer::Status(status),
        }
    }

    fn find(&self, name: &[u8]) -> Result<Found, Status> {
        let now = lamprey::sim::now();
        let known = match self.cache.look(name, now) {
            Lookup::Fresh(file) => return Ok(Found::File(file)),
            Lookup::Old(file) => Some(file),
            Lookup::Unknown => None,
        };
        let found = lamprey::block(|| file::find(&self.root, name, known, self.small));
        match &found {
            Ok(Found::File(file)) => self.cache.put(name, file, now),
            _ => self.cache.forget(name),
        }
        found
    }
}
