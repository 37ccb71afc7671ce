//! Telling tools that watch memory about stacks and switches; each behind a feature of its name.

#[cfg(feature = "asan")]
pub(crate) mod asan;
#[cfg(feature = "valgrind")]
pub(crate) mod valgrind;
