//! Starting children, waiting for them, ending them.

use crate::common::awaiting::*;
use crate::common::*;
use lamprey::event::{Event, choose, timeout};
use lamprey::process::{Child, Command, Stdio};
use lamprey::signal::Signal;
use lamprey::{scope, spawn, wait, with_timeout};
use std::io::{ErrorKind, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::time::Duration;

const SOON: Duration = Duration::from_millis(5);

fn sleeping() -> Child {
    Command::new("sleep").arg("1000").spawn().unwrap()
}

fn exits(code: i32) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("exit {code}")]);
    command
}

/// The process is there, and has not ended.
pub fn runs(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Not even a zombie is left.
fn is_reaped(id: u32) -> bool {
    !Path::new(&format!("/proc/{id}")).exists()
}

#[test]
fn status_output_and_wait() {
    run(2, || {
        assert_eq!(exits(3).status().unwrap().code(), Some(3));
        let output = Command::new("sh").args(["-c", "echo out; echo err >&2; exit 4"]).output().unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"out\n"[..], &b"err\n"[..]));
        assert_eq!(output.status.code(), Some(4));
        let mut child = exits(5).spawn().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5));
        assert_eq!(child.wait().unwrap().code(), Some(5), "asked again");
        assert_eq!(child.try_wait().unwrap().unwrap().code(), Some(5));
        child.kill().unwrap();
        assert_eq!(child.signal(Signal::TERM).unwrap_err().kind(), ErrorKind::NotFound);
    });
}

#[test]
fn the_awaitable_forms_do_the_same() {
    within(FOREVER, || {
        let all = || async {
            assert_eq!(exits(3).status_async().await.unwrap().code(), Some(3));
            let output = Command::new("echo").arg("x").output_async().await.unwrap();
            assert_eq!(output.stdout, b"x\n");
            let mut child = exits(4).spawn_async().await.unwrap();
            assert_eq!(child.wait_async().await.unwrap().code(), Some(4));
            let child = Command::new("echo").stdout(Stdio::piped()).spawn_async().await.unwrap();
            assert_eq!(child.wait_with_output_async().await.unwrap().stdout, b"\n");
        };
        in_tokio(all());
        wait(all());
        runtime(1).run(move || lamprey::parasite(all()).join()).unwrap();
    });
}

#[test]
fn arguments_variables_and_folder_reach_it() {
    run(1, || {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $0 $1 $A $B $HOME; pwd", "zero"]).arg("one").current_dir("/");
        command
            .env_clear()
            .env("A", "a")
            .envs([("B", "b"), ("C", "c")])
            .env_remove("C")
            .env("PATH", "/usr/bin:/bin");
        assert_eq!(command.output().unwrap().stdout, b"zero one a b\n/\n");
        command.with_std(|std| std.arg0("other"));
        assert_eq!(command.output().unwrap().stdout, b"zero one a b\n/\n", "as often as one likes");
    });
}

#[test]
fn what_output_collects_is_not_kept() {
    run(1, || {
        let mut command = Command::new("cat");
        assert!(command.output().unwrap().stdout.is_empty(), "it reads nothing");
        let child = command.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        assert!(child.stdout.is_some() && child.stderr.is_none() && child.stdin.is_none());
        let mut std = std::process::Command::new("echo");
        std.arg("y").stdout(Stdio::piped());
        assert_eq!(Command::from(std).output().unwrap().stdout, b"y\n");
        let mut std = std::process::Command::new("echo");
        let mut child = Child::try_from(std.arg("z").stdout(Stdio::piped()).spawn().unwrap()).unwrap();
        let mut text = String::new();
        child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), child.wait().unwrap().success()), ("z\n", true));
    });
}

#[test]
fn errors_name_what_went_wrong() {
    run(1, || {
        assert_eq!(Command::new("/nowhere/lamprey").spawn().unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(wait(Command::new("/").status_async()).unwrap_err().kind(), ErrorKind::PermissionDenied);
        assert_eq!(Command::new("a\0b").output().unwrap_err().kind(), ErrorKind::InvalidInput);
    });
    let error = lamprey::Runtime::simulated(1).run(|| Command::new("true").status().unwrap_err());
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn waiting_leaves_the_worker_to_others() {
    run(1, || {
        let mut child = sleeping();
        let id = child.id();
        let host = spawn(move || child.wait().unwrap());
        lamprey::yield_now();
        assert!(std::process::Command::new("kill").arg(id.to_string()).status().unwrap().success());
        assert_eq!(host.join().unwrap().signal(), Some(Signal::TERM.as_raw()));
    });
}

#[test]
fn a_wait_that_is_given_up_loses_nothing() {
    run(2, || {
        let mut child = sleeping();
        assert!(with_timeout(SOON, || child.wait()).is_err());
        assert_eq!(child.wait_timeout(SOON).unwrap_err().kind(), ErrorKind::TimedOut);
        let ended = choose((child.wait_evt().wrap(|_| true), timeout(SOON).wrap(|()| false)));
        assert!(!ended.sync());
        let (_, waker) = Wakes::new();
        let mut dropped = Box::pin(child.wait_async());
        assert!(poll(&mut dropped, &waker).is_pending());
        drop(dropped);
        assert!(child.try_wait().unwrap().is_none());
        // Not SIGINT, which is ignored by all that a shell starts in the background.
        child.signal(Signal::TERM).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
    });
}

#[test]
fn a_dropped_child_goes_on_and_is_reaped() {
    run(1, || {
        let (reader, writer) = lamprey::io::pipe().unwrap();
        let child = Command::new("cat").stdin(reader).stdout(Stdio::null()).spawn().unwrap();
        let id = child.id();
        drop(child);
        assert!(runs(id));
        drop(writer);
        eventually("it is reaped", || is_reaped(id));
    });
}

#[test]
fn kill_on_drop_kills_whatever_ends_the_wait() {
    run(2, || {
        let start = || Command::new("sleep").arg("1000").kill_on_drop(true).spawn().unwrap();
        let child = start();
        let mut ids = vec![child.id()];
        drop(child);
        let mut child = start();
        ids.push(child.id());
        assert!(with_timeout(SOON, move || child.wait()).is_err());
        let mut child = start();
        ids.push(child.id());
        let host = spawn(move || {
            let _child = &mut child;
            panic!("on purpose");
        });
        assert!(host.join().is_err());
        scope(|s| {
            let mut child = start();
            ids.push(child.id());
            s.spawn(move || child.wait());
            s.cancel();
        });
        for id in ids {
            eventually("it is reaped", || is_reaped(id));
        }
    });
}

#[test]
fn an_output_that_is_cancelled_kills_its_child() {
    run(2, || {
        let (reader, writer) = std::io::pipe().unwrap();
        // The pipe is at its end when the child is gone.
        let mut command = Command::new("sleep");
        command.arg("1000").stderr(writer).kill_on_drop(true);
        assert!(with_timeout(10 * SOON, || command.output()).is_err());
        drop(command);
        assert_eq!(std::io::read_to_string(reader).unwrap(), "");
    });
}

#[test]
fn a_start_that_is_dropped_at_any_moment_leaves_nothing() {
    if role().is_some() {
        return run(2, || {
            for polls in 0..200 {
                let (_, waker) = Wakes::new();
                let mut command = Command::new("true");
                let mut starting = Box::pin(command.spawn_async());
                for _ in 0..polls % 4 {
                    if poll(&mut starting, &waker).is_ready() {
                        break;
                    }
                    lamprey::yield_now();
                }
            }
            eventually("no child is left", || crate::many::children() == 0);
        });
    }
    let (output, text) = rerun("a_start_that_is_dropped_at_any_moment_leaves_nothing", "child");
    assert!(output.status.success(), "{text}");
}

#[test]
fn real_time_signals_reach_it() {
    run(1, || {
        let mut child = sleeping();
        child.signal(Signal::from_raw(40)).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(40));
        let mut child = sleeping();
        assert_eq!(child.signal(Signal::from_raw(0)).unwrap_err().kind(), ErrorKind::InvalidInput);
        assert_eq!(child.signal(Signal::from_raw(1000)).unwrap_err().kind(), ErrorKind::InvalidInput);
        child.kill().unwrap();
        child.wait().unwrap();
    });
}

#[test]
fn an_event_that_nobody_waits_for_leaves_the_input_open() {
    run(1, || {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        drop(child.wait_evt());
        drop(child.wait_async());
        assert!(child.stdin.is_some());
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn a_host_that_unwinds_starts_nothing_that_it_cannot_wait_for() {
    struct Starts;
    impl Drop for Starts {
        fn drop(&mut self) {
            assert_eq!(Command::new("true").status().unwrap_err().kind(), ErrorKind::WouldBlock);
            assert_eq!(Command::new("true").output().unwrap_err().kind(), ErrorKind::WouldBlock);
            assert!(Command::new("true").spawn().is_ok(), "this one it need not wait for");
        }
    }
    run(1, || {
        let host = spawn(|| {
            let _starts = Starts;
            panic!("on purpose");
        });
        assert!(host.join().is_err_and(|error| error.to_string().contains("on purpose")));
    });
}

/// The program's own code is called while a command is changed or shown: it may wait for other threads.
#[test]
fn what_a_command_is_made_of_may_be_waited_for() {
    run(1, || {
        let (tx, rx) = lamprey::channel::<String>();
        let sends = lamprey::spawn(move || {
            for word in ["a", "b", "c"] {
                tx.send(word.to_owned()).unwrap();
            }
        });
        let mut command = Command::new("echo");
        command.args(rx.iter());
        sends.join().unwrap();
        command.with_std(|std| {
            lamprey::sleep(std::time::Duration::from_millis(1));
            std.arg("d")
        });
        let thrown = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            command.with_std(|_| panic!("on purpose"));
        }));
        assert!(thrown.is_err());
        let mut shown = Waits(String::new());
        std::fmt::write(&mut shown, format_args!("{command:?} {command:#?}")).unwrap();
        assert!(shown.0.starts_with("\"echo\" \"a\" \"b\" \"c\" \"d\""), "{}", shown.0);
        assert_eq!(command.output().unwrap().stdout, b"a b c d\n");
    });
}

/// Waits at each write.
struct Waits(String);

impl std::fmt::Write for Waits {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        lamprey::sleep(std::time::Duration::from_millis(1));
        self.0.push_str(text);
        Ok(())
    }
}
