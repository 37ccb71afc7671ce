//! What the recorder says of waits for the kernel and for pools, with both back-ends.

use crate::common::{FOREVER, within};
use lamprey::inspect::{Recording, What, recording, threads};
use lamprey::net::{TcpListener, TcpStream};
use lamprey::{Builder, Io, Runtime, Wait, block, fs, sleep};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Runs `f` with each back-end that there is.
fn with_each(f: fn(Io)) {
    for io in [Io::Epoll, Io::Uring] {
        if io.check().is_ok() {
            within(FOREVER, move || Runtime::builder().workers(1).io(io).build().unwrap().run(move || f(io)));
        }
    }
}

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client, listener.accept().unwrap().0)
}

/// What has been said of the thread with this name: what it asked for, and the answer.
fn asked(recording: &Recording, name: &str) -> Vec<What> {
    let is_of_it = |what: &What| what.thread().is_some_and(|thread| thread.name() == Some(name));
    let is_asked = |what: &What| matches!(what, What::Asked { .. } | What::Answered { .. });
    let steps = recording.steps().map(|step| step.what.clone());
    steps.filter(|what| is_asked(what) && is_of_it(what)).collect()
}

/// Returns when the thread with this name waits for that.
fn until_it_waits(name: &str, wait: Wait) {
    while !threads().iter().any(|row| row.thread().name() == Some(name) && row.wait() == Some(wait)) {
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_wait_for_a_socket_names_the_descriptor_and_the_answer() {
    with_each(|io| {
        let (mut here, mut there) = pair();
        let socket = there.as_raw_fd();
        let begun = Instant::now();
        let reader = Builder::new().name("reads").spawn(move || {
            let mut byte = [0];
            there.read_exact(&mut byte).map(|()| there)
        });
        let reader = reader.unwrap();
        until_it_waits("reads", Wait::SocketRead);
        here.write_all(b"x").unwrap();
        let id = reader.id();
        let _there = reader.join().unwrap().unwrap();
        let recording = recording();
        let asked = asked(&recording, "reads");
        let is_it = |wait: Option<Wait>, descriptor: Option<i32>| {
            wait == Some(Wait::SocketRead) && descriptor == Some(socket)
        };
        assert!(
            matches!(asked[0], What::Asked { wait, descriptor, .. } if is_it(wait, descriptor)),
            "{io:?}: {asked:#?}"
        );
        let number = if io == Io::Uring { Some(1) } else { None };
        assert!(
            matches!(asked[1], What::Answered { wait, descriptor, answer: Ok(answer), .. }
                if is_it(wait, descriptor) && answer == number),
            "{io:?}: {asked:#?}"
        );
        let path = recording.why(id, begun..);
        let has_it = path.segments().iter().any(|segment| segment.descriptor == Some(socket));
        assert!(has_it && path.to_string().contains(&format!("descriptor {socket}")), "{path:#}");
    });
}

#[test]
fn an_error_of_the_kernel_is_named() {
    with_each(|io| {
        let (here, mut there) = pair();
        let reader = Builder::new().name("is reset").spawn(move || there.read(&mut [0]).unwrap_err());
        let reader = reader.unwrap();
        until_it_waits("is reset", Wait::SocketRead);
        // Closed without a farewell: a reset.
        socket2::SockRef::from(&here).set_linger(Some(Duration::ZERO)).unwrap();
        drop(here);
        let error = reader.join().unwrap();
        let recording = recording();
        let asked = asked(&recording, "is reset");
        let reset = error.raw_os_error().expect("an error of the system");
        assert!(
            matches!(asked[..], [What::Asked { .. }, What::Answered { answer: Err(code), .. }] if code == reset),
            "{io:?}: {asked:#?}"
        );
        assert!(format!("{recording:#}").contains("Connection reset by peer"), "{recording:#}");
    });
}

#[test]
fn files_of_async_code_are_told_too() {
    with_each(|io| {
        let name = std::env::temp_dir().join(format!("lamprey-kernel-{}-{io:?}", std::process::id()));
        let file = fs::File::create(&name).unwrap();
        let syncs = async move { file.sync_all_async().await };
        Builder::new().name("syncs a file").parasite(syncs).unwrap().join().unwrap().unwrap();
        std::fs::remove_file(&name).unwrap();
        let asked = asked(&recording(), "syncs a file");
        if io == Io::Uring {
            assert!(
                matches!(asked[..], [.., What::Answered { answer: Ok(Some(0)), .. }]),
                "{io:?}: {asked:#?}"
            );
        }
    });
}

#[test]
fn a_call_on_a_pool_says_how_long_it_was_in_line_and_how_long_it_took() {
    const LONG: Duration = Duration::from_millis(20);
    within(FOREVER, || {
        let runtime = Runtime::builder().workers(1).blocking_threads(1).build().unwrap();
        runtime.run(|| {
            let call = || block(|| std::thread::sleep(LONG));
            let calls = ["first", "second"].map(|name| Builder::new().name(name).spawn(call).unwrap());
            calls.into_iter().for_each(|call| call.join().unwrap());
            let recording = recording();
            let called = |name: &str| {
                let of_it = |what: &What| match what {
                    What::Called { thread, queued, took } if thread.name() == Some(name) => {
                        Some((*queued, *took))
                    }
                    _ => None,
                };
                recording
                    .steps()
                    .find_map(|step| of_it(&step.what))
                    .unwrap_or_else(|| panic!("{recording:#}"))
            };
            let ((_, first), (queued, second)) = (called("first"), called("second"));
            // Not exactly as long, because the CPU's counter has told the time.
            assert!([first, queued, second].into_iter().all(|time| time >= LONG * 8 / 10), "{recording:#}");
        });
    });
}
