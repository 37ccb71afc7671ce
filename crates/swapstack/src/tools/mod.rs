//! Announcing stacks and switches to memory checkers, each behind the feature of its name.

#[cfg(feature = "asan")]
pub(crate) mod asan;
#[cfg(feature = "tsan")]
pub(crate) mod tsan;
#[cfg(feature = "valgrind")]
pub(crate) mod valgrind;

#[cfg(all(feature = "asan", feature = "tsan"))]
compile_error!("a program runs under one sanitizer at a time: `asan` or `tsan`");
