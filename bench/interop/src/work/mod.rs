//! What Lamprey's variants and their rivals have in common: the requests, the loads, the operations.

pub mod app;
pub mod grpc;
pub mod h2load;
pub mod http;
pub mod sync;
pub mod tls;
pub mod wrk;
