//! The async world on Lamprey: what libraries of other runtimes ask for, a feature for each library.

#[cfg(feature = "rustls")]
pub mod rustls;
#[cfg(feature = "ureq")]
pub mod ureq;
