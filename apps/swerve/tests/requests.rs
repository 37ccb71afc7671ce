//! Requests and their answers.

mod common;
#[path = "common/heads.rs"]
mod heads;
#[path = "common/preconditions.rs"]
mod preconditions;
#[path = "common/requests.rs"]
mod requests;
