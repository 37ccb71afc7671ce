//! [`Service`](tower_service::Service) of tower: from a blocking closure ([`service`]), and back ([`call`]).
//!
//! # Examples
//! ```
//! use std::time::Duration;
//! use tower::{ServiceBuilder, ServiceExt};
//!
//! lamprey::run(|| {
//!     // Plain blocking code, on a host for each request.
//!     let square = lamprey_compat::tower::service(|n: u32| {
//!         lamprey::sleep(Duration::from_millis(1));
//!         n.checked_mul(n).ok_or("too large")
//!     });
//!     // Layers of tower around it.
//!     let mut limited = ServiceBuilder::new().concurrency_limit(8).service(square);
//!     // And from blocking code again.
//!     assert_eq!(lamprey_compat::tower::call(&mut limited, 12).unwrap(), 144);
//!     let error = lamprey_compat::tower::call(&mut limited, 1 << 20).unwrap_err();
//!     assert_eq!(error.to_string(), "too large");
//! });
//! ```

mod call;
mod error;
mod service;

pub use call::call;
pub use error::CallError;
pub use service::{Answer, BlockingService, service};
