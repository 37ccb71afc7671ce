//! Requests and their answers.

mod common;
#[path = "common/requests.rs"]
mod requests;
