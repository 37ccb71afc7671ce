//! What a child has from its parent, which has used it: it works in the child.

use crate::common::{again, outcome, rerun, role};
use crate::{fork, io_of, on_own, runtime_on, with_each};
use lamprey::{net, with_timeout};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;
use std::time::Duration;

const MS: Duration = Duration::from_millis(5);

/// A listener on which the parent's runtime, which goes on, has waited.
#[test]
fn a_listener_accepts_in_a_child() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_listener_accepts_in_a_child", name));
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    for ahead in [false, true] {
        let listener = runtime.run(|| {
            let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_accept_ahead(ahead);
            assert!(with_timeout(MS, || listener.accept()).is_err());
            listener.set_accept_ahead(false);
            listener
        });
        let address = listener.local_addr().unwrap();
        // Until the kernel does not accept for the parent any more.
        runtime.run(|| lamprey::sleep(MS));
        let serve = |answer: &'static [u8]| {
            let (mut stream, _) = listener.accept().unwrap();
            stream.write_all(answer).unwrap();
        };
        for on_runtime in [false, true] {
            let child = fork(|| if on_runtime { on_own(io, || serve(b"x")) } else { serve(b"x") });
            let mut client = std::net::TcpStream::connect(address).unwrap();
            assert_eq!(client.read(&mut [0]).unwrap(), 1);
            child.must_be_good("accept");
        }
    }
}

/// One on which a host of the parent waits.
#[test]
fn a_stream_reads_in_a_child() {
    let Some(role) = role() else {
        return with_each(|name| rerun("a_stream_reads_in_a_child", name));
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    for read_ahead in [false, true] {
        let (stream, mut other) = net::UnixStream::pair().unwrap();
        runtime.run(|| {
            stream.set_read_ahead(read_ahead);
            assert!(with_timeout(MS, || (&stream).read(&mut [0])).is_err());
            stream.set_read_ahead(false);
        });
        runtime.run(|| lamprey::sleep(MS));
        let read = || assert_eq!((&stream).read(&mut [0]).unwrap(), 1);
        for on_runtime in [false, true] {
            let child = fork(|| if on_runtime { on_own(io, read) } else { read() });
            std::thread::sleep(MS);
            other.write_all(b"x").unwrap();
            child.must_be_good("read");
        }
    }
}

#[test]
fn the_standard_input_is_read_in_a_child() {
    const ME: &str = "the_standard_input_is_read_in_a_child";
    const WAITED: &str = "the parent has waited";
    let Some(role) = role() else {
        return with_each(|name| {
            let mut command = again(ME, name);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
            let mut process = command.spawn().unwrap();
            let mut said = BufReader::new(process.stderr.take().unwrap());
            let mut text = String::new();
            while !text.contains(WAITED) && said.read_line(&mut text).unwrap() > 0 {}
            let _ = process.stdin.take().unwrap().write_all(b"a line\n");
            let mut output = process.wait_with_output().unwrap();
            said.read_to_end(&mut output.stderr).unwrap();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            (output, text)
        });
    };
    let io = io_of(&role);
    let read = || lamprey::io::stdin().read_line(&mut String::new()).unwrap();
    let runtime = runtime_on(io);
    runtime.run(|| assert!(with_timeout(MS, read).is_err()));
    eprintln!("{WAITED}");
    fork(|| assert_eq!(on_own(io, read), 7)).must_be_good("stdin");
}

/// Also where the parent's host waits for the reader, and has the lock.
#[test]
fn the_standard_output_is_written_in_a_child() {
    const ME: &str = "the_standard_output_is_written_in_a_child";
    let Some(role) = role() else {
        return with_each(|name| {
            let mut command = again(ME, name);
            command.stdout(Stdio::piped());
            outcome(command)
        });
    };
    let io = io_of(&role);
    let runtime = runtime_on(io);
    write!(lamprey::io::stdout(), "the parent's").unwrap(); // no line yet: it stays in the buffer
    let host = runtime.handle().spawn(|| {
        let _lock = lamprey::io::stdout().lock();
        lamprey::sleep(Duration::MAX);
    });
    runtime.run(|| lamprey::sleep(MS));
    fork(|| on_own(io, || writeln!(lamprey::io::stdout(), "the child's").unwrap())).must_be_good("stdout");
    host.cancel();
    assert!(host.join().is_err());
}
