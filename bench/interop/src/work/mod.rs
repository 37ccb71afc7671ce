//! What Lamprey's variants and their rivals have in common: the requests, the loads, the operations.

pub mod http;
pub mod sync;
pub mod wrk;
