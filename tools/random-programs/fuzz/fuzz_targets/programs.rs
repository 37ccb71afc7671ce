//! Runs the fuzzer's bytes as a program: `cargo +nightly fuzz run programs` in `tools/random-programs`.
#![no_main]

use random_programs::{Classes, run_program};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let wrongs = run_program(bytes, Classes::default());
    assert!(wrongs.is_empty(), "{wrongs:#?}");
});
