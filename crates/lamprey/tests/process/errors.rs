//! What cannot be started fails as with `std`: the same kind, the same code, however it is started.

use crate::common::*;
use lamprey::process::{Command, Stdio};
use std::io;
use std::os::unix::process::CommandExt;

/// What a program can tell errors apart by.
fn seen(error: &io::Error) -> (io::ErrorKind, Option<i32>) {
    (error.kind(), error.raw_os_error())
}

/// The same command, made for `std` and for Lamprey.
macro_rules! case {
    ($what:literal, $program:expr) => {
        ($what, (std::process::Command::new($program), Command::new($program)))
    };
    ($what:literal, $program:expr, |$command:ident| $with:expr, |$own:ident| $own_with:expr) => {
        ($what, {
            let std = {
                let mut $command = std::process::Command::new($program);
                $with;
                $command
            };
            let mut $own = Command::new($program);
            $own_with;
            (std, $own)
        })
    };
    ($what:literal, $program:expr, |$command:ident| $with:expr) => {
        case!($what, $program, |$command| $with, |$command| $with)
    };
}

fn cases() -> Vec<(&'static str, (std::process::Command, Command))> {
    let long = "x".repeat(200_000);
    let text = format!("{}/Cargo.toml", env!("CARGO_MANIFEST_DIR"));
    let folder = env!("CARGO_MANIFEST_DIR");
    let mut cases = vec![
        case!("a zero byte in the program", "a\0b"),
        case!("a zero byte in an argument", "true", |c| c.arg("a\0b")),
        case!("a zero byte in one of several", "true", |c| c.args(["a", "b\0"])),
        case!("a zero byte in a variable's name", "true", |c| c.env("a\0b", "c")),
        case!("a zero byte in a variable's value", "true", |c| c.env("a", "b\0c")),
        case!("a zero byte in variables", "true", |c| c.envs([("a", "b"), ("c", "\0")])),
        case!("a zero byte in the folder", "true", |c| c.current_dir("a\0b")),
        case!("no program", ""),
        case!("a program that is not there", "lamprey-no-such-program"),
        case!("a path that is not there", "/nowhere/program"),
        case!("a relative path that is not there", "./nowhere/program"),
        case!("a path through a file", format!("{text}/x")),
        case!("a file that is not executable", &text),
        case!("a folder", folder),
        case!("a name that is too long", format!("/{}", &long[..300])),
        case!("a path that is too long", "/x".repeat(5000)),
        case!("a folder that is not there", "true", |c| c.current_dir("/nowhere")),
        case!("a folder that is a file", "true", |c| c.current_dir(&text)),
        case!("no folder", "true", |c| c.current_dir("")),
        case!("an argument that is too long", "true", |c| c.arg(&long)),
        case!("too many arguments", "true", |c| c.args(vec![&long[..100_000]; 200])),
        case!("a variable that is too long", "true", |c| c.env("x", &long)),
        case!("a variable without a name", "true", |c| c.env("", "x")),
        case!("no PATH", "lamprey-no-such-program", |c| c.env_clear()),
        case!("an empty PATH", "true", |c| c.env("PATH", "")),
        case!("a group that is not there", "true", |c| c.process_group(999_999_999)),
        case!("a negative group", "true", |c| c.process_group(-5)),
        case!("a step before the start that fails", "true", |c| fails_before(&mut c), |c| c
            .with_std(fails_before)),
        case!("streams of pipes, and no program", "lamprey-no-such-program", |c| c
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())),
        case!("nobody's right to be another", "true", |c| c.uid(u32::MAX), |c| c
            .with_std(|c| c.uid(u32::MAX))),
        case!("nobody's right to be of another group", "true", |c| c.gid(u32::MAX), |c| c
            .with_std(|c| c.gid(u32::MAX))),
        case!("a zero byte in its own name", "true", |c| c.arg0("a\0b"), |c| c.with_std(|c| c.arg0("a\0b"))),
    ];
    // What may be done about several is decided in the same order.
    cases.push(case!("a zero byte, and no such folder", "a\0b", |c| c.current_dir("/nowhere")));
    cases
}

fn fails_before(command: &mut std::process::Command) -> &mut std::process::Command {
    // SAFETY: makes an error of a number.
    unsafe { command.pre_exec(|| Err(io::Error::from_raw_os_error(libc::EDQUOT))) }
}

#[test]
fn what_cannot_be_started_fails_as_with_std() {
    run(2, || {
        let mut started = Vec::new();
        for (what, (mut std, mut own)) in cases() {
            let expected = std.spawn().map(|mut child| child.wait().unwrap());
            let Err(expected) = expected else {
                assert_eq!(own.spawn().unwrap().wait().unwrap(), expected.unwrap(), "{what}");
                started.push(what);
                continue;
            };
            let expected = seen(&expected);
            let own = [
                own.spawn().map(drop),
                own.status().map(drop),
                own.output().map(drop),
                lamprey::wait(own.spawn_async()).map(drop),
                lamprey::wait(own.status_async()).map(drop),
                lamprey::wait(own.output_async()).map(drop),
            ];
            for (form, error) in own.into_iter().enumerate() {
                assert_eq!(seen(&error.expect_err(what)), expected, "{what}, form {form}");
            }
        }
        assert!(started.len() < 6, "no errors here: {started:?}");
    });
}

#[test]
fn what_a_child_cannot_be_asked_fails_as_with_std() {
    run(1, || {
        let mut own = Command::new("true").spawn().unwrap();
        let mut std = std::process::Command::new("true").spawn().unwrap();
        own.wait().unwrap();
        std.wait().unwrap();
        assert_eq!(own.kill().map_err(|error| seen(&error)), std.kill().map_err(|error| seen(&error)));
        assert_eq!(own.try_wait().unwrap(), std.try_wait().unwrap());
    });
}
