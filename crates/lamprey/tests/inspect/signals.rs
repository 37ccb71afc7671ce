//! Dumps at a signal, each in a process of its own.

use crate::common::{FOREVER, again, role, run, within};
use lamprey::inspect::{dump, dump_at};
use lamprey::signal::Signal;
use lamprey::{Builder, channel, yield_now};
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Command, Stdio};

fn send_myself(signal: &str) {
    let me = std::process::id().to_string();
    assert!(Command::new("kill").args([&format!("-{signal}"), &me]).status().unwrap().success());
}

#[test]
fn sigquit_prints_all_threads_and_the_process_goes_on() {
    const ME: &str = "sigquit_prints_all_threads_and_the_process_goes_on";
    if role().is_some() {
        dump_at(Signal::QUIT).unwrap();
        run(2, || {
            let (tx, rx) = channel::<u8>();
            let waits = Builder::new().name("waits for it").spawn(move || rx.recv().is_err()).unwrap();
            let waits_by_now =
                |text: &str| text.contains("`waits for it`") && text.contains("receive on a channel");
            while !waits_by_now(&dump().to_string()) {
                yield_now();
            }
            send_myself("QUIT");
            // Until the dump has been read.
            let over = lamprey::block(|| std::io::stdin().lines().count());
            drop(tx);
            assert!(waits.join().unwrap());
            eprintln!("it went on {over}");
        });
        return;
    }
    let mut process = again(ME, "prints").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (input, errors) = (process.stdin.take(), process.stderr.take().unwrap());
    let text = within(FOREVER, move || {
        let (mut input, mut text) = (input, String::new());
        for line in BufReader::new(errors).lines() {
            text += &line.unwrap();
            if text.contains("`waits for it`") && text.contains("receive on a channel") {
                drop(input.take());
            }
        }
        text
    });
    assert!(text.ends_with("it went on 0"), "{text}");
    assert!(process.wait().unwrap().success(), "{text}");
}

#[test]
fn what_nobody_can_listen_for_is_refused() {
    let error = dump_at(Signal::KILL).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("SIGKILL"), "{error}");
}
