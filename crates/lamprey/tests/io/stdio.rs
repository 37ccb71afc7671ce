//! Standard streams, each test in a process of its own whose streams are pipes, files or a terminal.

use crate::common::*;
use lamprey::event::{Event, choose, timeout};
use lamprey::io::{stderr, stdin, stdout};
use lamprey::{scope, spawn, with_timeout};
use rustix::fs::{OFlags, fcntl_getfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SOON: Duration = Duration::from_millis(5);

/// Starts `test` again, with pipes for input and output.
#[track_caller]
fn start(mut command: Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
}

/// Reads up to a line that has `mark` in it. The test harness of the child writes lines of its own.
fn read_to(output: &mut impl BufRead, mark: &str) -> String {
    let mut text = String::new();
    while !text.lines().last().is_some_and(|line| line.contains(mark)) {
        assert!(output.read_line(&mut text).unwrap() > 0, "{mark} never came: {text:?}");
    }
    text
}

/// The lines that begin with `mark`, wherever the harness has put them.
fn marked<'a>(text: &'a str, mark: &str) -> Vec<&'a str> {
    text.lines().filter_map(|line| line.find(mark).map(|at| &line[at..])).collect()
}

fn succeeds(mut child: Child) {
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_read_that_is_out_of_time_loses_nothing() {
    if role().is_some() {
        return run(1, || {
            let mut line = String::new();
            assert!(with_timeout(SOON, || stdin().read_line(&mut line)).is_err());
            writeln!(stdout(), "nothing yet").unwrap();
            // Half a line is there after a while, and does not come without the other half.
            assert!(with_timeout(10 * SOON, || stdin().read_line(&mut line)).is_err());
            let choice = choose((stdin().line_evt().wrap(|_| true), timeout(SOON).wrap(|()| false)));
            assert!(!choice.sync());
            writeln!(stdout(), "half a line").unwrap();
            assert_eq!(stdin().read_line(&mut line).unwrap(), 6);
            assert_eq!(line, "hello\n");
            assert_eq!(stdin().line_evt().sync().unwrap().as_deref(), Some("world"));
            assert_eq!(stdin().lines().next().unwrap().unwrap(), "without an end");
            assert!(stdin().lines().next().is_none());
            assert_eq!(stdin().line_evt().sync().unwrap(), None);
        });
    }
    let mut child = start(again("a_read_that_is_out_of_time_loses_nothing", "child"));
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    read_to(&mut output, "nothing yet");
    input.write_all(b"hel").unwrap();
    read_to(&mut output, "half a line");
    input.write_all(b"lo\nworld\r\nwithout an end").unwrap();
    drop(input);
    output.read_to_string(&mut String::new()).unwrap();
    succeeds(child);
}

#[test]
fn the_runtime_ends_while_a_host_reads() {
    if role().is_some() {
        return run(1, || {
            spawn(|| stdin().read_line(&mut String::new()));
            lamprey::yield_now();
        });
    }
    let mut child = start(again("the_runtime_ends_while_a_host_reads", "child"));
    let input = child.stdin.take();
    // The end of the output is the end of the child, whose input is still open.
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    drop(input);
    succeeds(child);
}

#[test]
fn each_line_goes_to_one_host() {
    if role().is_some() {
        return run(2, || {
            let sum = |_| stdin().lines().map(|line| line.unwrap().parse::<u64>().unwrap()).sum::<u64>();
            let hosts: Vec<_> = (0..10).map(|number| spawn(move || sum(number))).collect();
            let total: u64 = hosts.into_iter().map(|host| host.join().unwrap()).sum();
            writeln!(stdout(), "total {total}").unwrap();
        });
    }
    let mut child = start(again("each_line_goes_to_one_host", "child"));
    let mut input = child.stdin.take().unwrap();
    let writer =
        std::thread::spawn(move || (1..=10_000).for_each(|number| writeln!(input, "{number}").unwrap()));
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(marked(&text, "total "), ["total 50005000"]);
    writer.join().unwrap();
    succeeds(child);
}

#[test]
fn a_locked_input_is_a_buf_read() {
    if role().is_some() {
        return run(1, || {
            let mut locked = stdin().lock();
            let mut line = String::new();
            assert_eq!(locked.read_line(&mut line).unwrap(), 6);
            let mut rest = String::new();
            locked.read_to_string(&mut rest).unwrap();
            assert_eq!((line.as_str(), rest.len()), ("first\n", 100_000));
            drop(locked);
            assert_eq!(stdin().read(&mut [0; 8]).unwrap(), 0);
        });
    }
    let path = std::env::temp_dir().join(format!("lamprey-stdin-{}", std::process::id()));
    std::fs::write(&path, format!("first\n{}", "x".repeat(100_000))).unwrap();
    let file = File::open(&path).unwrap();
    let output = again("a_locked_input_is_a_buf_read", "child").stdin(file).output().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn no_input_is_the_end() {
    if role().is_some() {
        return run(1, || {
            assert!(stdin().lines().next().is_none());
            assert_eq!(lamprey::wait(stdin().read_async(&mut [0; 8])).unwrap(), 0);
        });
    }
    let output = again("no_input_is_the_end", "child").stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn input_in_async_code_and_on_os_threads() {
    if role().is_some() {
        return within(FOREVER, || {
            let tokio = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let first = tokio.block_on(async { stdin().lines().next_async().await });
            assert_eq!(first.unwrap().unwrap(), "first");
            assert_eq!(stdin().lines().next().unwrap().unwrap(), "second");
            let third = lamprey::run(|| lamprey::parasite(async { stdin().line_evt().await }).join());
            assert_eq!(third.unwrap().unwrap().as_deref(), Some("third"));
        });
    }
    let mut child = start(again("input_in_async_code_and_on_os_threads", "child"));
    child.stdin.take().unwrap().write_all(b"first\nsecond\nthird\n").unwrap();
    child.stdout.take().unwrap().read_to_end(&mut Vec::new()).unwrap();
    succeeds(child);
}

#[test]
fn a_slow_reader_stops_only_the_writer() {
    if role().is_some() {
        return run(1, || {
            scope(|s| {
                for number in 0..4 {
                    s.spawn(move || {
                        for line in 0..5000 {
                            writeln!(stdout(), "line {number} {line} {}", "-".repeat(20)).unwrap();
                        }
                    });
                }
                s.spawn(|| writeln!(stderr(), "others run").unwrap());
            });
        });
    }
    let mut child = again("a_slow_reader_stops_only_the_writer", "child")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    read_to(&mut BufReader::new(child.stderr.take().unwrap()), "others run");
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let lines = marked(&text, "line ");
    assert_eq!(lines.len(), 20_000);
    for number in 0..4 {
        let of_one = lines.iter().filter(|line| line.starts_with(&format!("line {number} ")));
        for (count, line) in of_one.enumerate() {
            assert_eq!(*line, format!("line {number} {count} {}", "-".repeat(20)));
        }
    }
    succeeds(child);
}

#[test]
fn what_a_cancelled_write_has_accepted_is_written() {
    if role().is_some() {
        return run(1, || {
            let mut accepted = 0;
            let ended = with_timeout(SOON, || {
                for number in 0.. {
                    accepted = number;
                    writeln!(stdout(), "line {number}").unwrap();
                }
            });
            assert!(ended.is_err());
            writeln!(stderr(), "accepted {accepted}").unwrap();
            writeln!(stdout(), "after").unwrap();
            write!(stdout(), "at the end").unwrap();
        });
    }
    let mut child = again("what_a_cancelled_write_has_accepted_is_written", "child")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let told = read_to(&mut BufReader::new(child.stderr.take().unwrap()), "accepted ");
    let accepted: usize = marked(&told, "accepted ")[0]["accepted ".len()..].parse().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let lines = marked(&text, "line ");
    // The last one was accepted, unless it was cancelled before.
    assert!(lines.len() == accepted || lines.len() == accepted + 1, "{} of {accepted}", lines.len());
    lines.iter().enumerate().for_each(|(number, line)| assert_eq!(*line, format!("line {number}")));
    assert!(text.contains("\nafter\nat the end"), "{:?}", &text[text.len() - 100..]);
    succeeds(child);
}

/// Runs `test` again as a process that puts `stdout` in the place of its standard output, where the harness has written.
fn with_stdout(stdout: impl AsFd, check: impl FnOnce() + Send + 'static) {
    rustix::stdio::dup2_stdout(stdout).unwrap();
    run(1, check);
    // The harness wants to write there too.
    std::process::exit(0);
}

#[test]
fn a_reader_that_is_gone_is_an_error() {
    if role().is_some() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        return with_stdout(writer, || {
            let error = writeln!(stdout(), "nobody reads this").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            assert!(lamprey::wait(stdout().write_all_async(b"x\n")).is_err());
            writeln!(stderr(), "it was an error").unwrap();
        });
    }
    let (output, text) = rerun("a_reader_that_is_gone_is_an_error", "child");
    assert!(output.status.success() && text.contains("it was an error"), "{text}");
}

#[test]
fn a_full_disk_is_an_error() {
    if role().is_some() {
        return with_stdout(File::options().write(true).open("/dev/full").unwrap(), || {
            let error = writeln!(stdout(), "there is no room").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StorageFull);
            writeln!(stderr(), "it was an error").unwrap();
        });
    }
    let (output, text) = rerun("a_full_disk_is_an_error", "child");
    assert!(output.status.success() && text.contains("it was an error"), "{text}");
}

#[test]
fn a_file_gets_all_lines_in_order() {
    if role().is_some() {
        return run(2, || {
            (0..1000).for_each(|number| writeln!(stdout(), "line {number}").unwrap());
            stdout().flush().unwrap();
        });
    }
    let path = std::env::temp_dir().join(format!("lamprey-stdout-{}", std::process::id()));
    let file = File::create(&path).unwrap();
    assert!(again("a_file_gets_all_lines_in_order", "child").stdout(file).status().unwrap().success());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let lines = marked(&text, "line ");
    assert_eq!(lines.len(), 1000);
    lines.iter().enumerate().for_each(|(number, line)| assert_eq!(*line, format!("line {number}")));
}

#[test]
fn calls_on_the_pool_write_to_a_file_while_hosts_do() {
    if role().is_some() {
        let runtime = lamprey::Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        return within(FOREVER, move || {
            runtime.run(|| {
                // The pool's only thread wants the lock that a host has which waits for the disk.
                let hosts: Vec<_> = (0..100)
                    .map(|number| match number % 2 {
                        0 => spawn(move || writeln!(stdout(), "line {number}").unwrap()),
                        _ => spawn(move || lamprey::block(|| writeln!(stdout(), "line {number}").unwrap())),
                    })
                    .collect();
                hosts.into_iter().for_each(|host| host.join().unwrap());
            });
        });
    }
    let path = std::env::temp_dir().join(format!("lamprey-stdout-pool-{}", std::process::id()));
    let again = again("calls_on_the_pool_write_to_a_file_while_hosts_do", "child");
    let mut command = again;
    assert!(command.stdout(File::create(&path).unwrap()).status().unwrap().success());
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(marked(&text, "line ").len(), 100);
}

#[test]
fn a_refused_write_of_a_host_that_unwinds_is_not_repeated() {
    struct Writes;
    impl Drop for Writes {
        fn drop(&mut self) {
            assert_eq!(stdout().write_all(b"refused\n").unwrap_err().kind(), ErrorKind::StorageFull);
        }
    }
    if role().is_some() {
        return with_stdout(File::options().write(true).open("/dev/full").unwrap(), || {
            let host = spawn(|| {
                let _writes = Writes;
                panic!("on purpose");
            });
            assert!(host.join().is_err());
            // Nothing is left to be written.
            stdout().flush().unwrap();
            writeln!(stderr(), "nothing is left").unwrap();
        });
    }
    let (output, text) = rerun("a_refused_write_of_a_host_that_unwinds_is_not_repeated", "child");
    assert!(output.status.success() && text.contains("nothing is left"), "{text}");
}

#[test]
fn a_host_that_unwinds_writes() {
    struct Says;
    impl Drop for Says {
        fn drop(&mut self) {
            writeln!(stdout(), "said while unwinding").unwrap();
        }
    }
    if role().is_some() {
        return run(1, || {
            let host = spawn(|| {
                let _says = Says;
                panic!("on purpose");
            });
            assert!(host.join().is_err());
        });
    }
    let output = again("a_host_that_unwinds_writes", "child").output().unwrap();
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("said while unwinding\n"));
}

#[test]
fn a_terminal_keeps_its_mode() {
    if role().is_some() {
        return run(1, || {
            assert!(stdin().is_terminal() && stdout().is_terminal());
            assert!(with_timeout(SOON, || stdin().lines().next()).is_err());
            writeln!(stdout(), "ask").unwrap();
            let answer = stdin().lines().next().unwrap().unwrap();
            writeln!(stdout(), "got {answer}").unwrap();
        });
    }
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let flags = rustix::fs::OFlags::RDWR | OFlags::NOCTTY;
    let slave = rustix::fs::open(name.as_c_str(), flags, rustix::fs::Mode::empty()).unwrap();
    let stdio = || Stdio::from(slave.try_clone().unwrap());
    let child = again("a_terminal_keeps_its_mode", "child").stdin(stdio()).stdout(stdio()).spawn().unwrap();
    let mut output = BufReader::new(File::from(master.try_clone().unwrap()));
    read_to(&mut output, "ask");
    assert!(!fcntl_getfl(slave.as_fd()).unwrap().contains(OFlags::NONBLOCK));
    File::from(master).write_all(b"an answer\n").unwrap();
    read_to(&mut output, "got an answer");
    succeeds(child);
}

#[test]
fn a_simulation_has_no_input() {
    let error = lamprey::Runtime::simulated(1).run(|| {
        writeln!(stdout(), "from a simulation").unwrap();
        stdin().read_line(&mut String::new()).unwrap_err()
    });
    assert_eq!(error.kind(), io::ErrorKind::Unsupported);
}
