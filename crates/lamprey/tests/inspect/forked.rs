//! A child made by `fork` counts its own threads, not those of its parent.

use crate::common::{again, outcome, role};
use lamprey::channel;
use std::thread;
use std::time::Duration;

#[test]
fn a_child_is_not_said_to_stand_still_for_threads_of_its_parent() {
    const ME: &str = "a_child_is_not_said_to_stand_still_for_threads_of_its_parent";
    if role().is_none() {
        let mut command = again(ME, "forks");
        command.env("LAMPREY_STUCK_AFTER", "30ms");
        let (output, text) = outcome(command);
        assert!(output.status.success() && !text.contains("deadlock"), "{text}");
        return;
    }
    let (_tx, rx) = channel::<u32>();
    thread::spawn(move || rx.recv());
    thread::sleep(Duration::from_millis(200)); // it waits by then, in this process
    // SAFETY: the child uses what does not depend on the threads that it does not have, and ends by `_exit`.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let got = lamprey::run(|| {
            let (tx, rx) = channel();
            // One kernel thread beside those of the runtime.
            thread::spawn(move || {
                thread::sleep(Duration::from_secs(3));
                tx.send(7).unwrap();
            });
            rx.recv()
        });
        // SAFETY: no destructor is owed to anybody.
        unsafe { libc::_exit(i32::from(got != Ok(7))) };
    }
    let mut status = 0;
    // SAFETY: writes the status only.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
}
