//! The descriptors 0 to 2 are the process's: a program may put other files there, by `dup2`, at any time.

use crate::common::*;
use std::io::{Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Puts `file` at the descriptor.
fn redirect(to: i32, file: impl AsFd) {
    // SAFETY: the descriptors 0 to 2 belong to nobody.
    assert_eq!(unsafe { libc::dup2(file.as_fd().as_raw_fd(), to) }, to);
}

#[test]
fn input_is_read_from_where_it_was_redirected_to() {
    const ME: &str = "redirected::input_is_read_from_where_it_was_redirected_to";
    if role().is_none() {
        let (output, text) = rerun(ME, "child");
        assert!(output.status.success(), "{text}");
        return;
    }
    run(1, || {
        for _ in 0..3 {
            let (reader, mut writer) = std::io::pipe().unwrap();
            redirect(0, &reader);
            drop(reader);
            let host = lamprey::spawn(|| {
                let mut byte = [0];
                lamprey::io::stdin().read_exact(&mut byte).unwrap();
                byte[0]
            });
            // Mostly it waits by then.
            lamprey::sleep(Duration::from_millis(5));
            writer.write_all(&[7]).unwrap();
            assert_eq!(host.join().unwrap(), 7);
        }
    });
}
