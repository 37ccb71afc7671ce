//! Others' tests: see the library.
#![allow(warnings, clippy::all)]

include!(concat!(env!("OUT_DIR"), "/async_channel.rs"));
