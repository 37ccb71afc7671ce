//! Which back-end a runtime has.

use crate::common::*;
use lamprey::{Io, Runtime};
use std::process::Command;

fn child(name: &str, io: &str) -> std::process::Output {
    let mut command: Command = again(name, "child");
    command.env("LAMPREY_IO", io).output().unwrap()
}

#[test]
fn the_environment_decides_unless_the_builder_does() {
    const NAME: &str = "the_environment_decides_unless_the_builder_does";
    if let Some(wanted) = role().and(std::env::var("LAMPREY_IO").ok()) {
        let io = Runtime::new().unwrap().io();
        assert_eq!(io.to_string(), if wanted == "uring" { "io_uring" } else { "epoll" });
        assert_eq!(Runtime::builder().io(Io::Epoll).build().unwrap().io(), Io::Epoll);
        return;
    }
    for io in ["epoll", "uring"] {
        if io == "uring" && Io::Uring.check().is_err() {
            continue;
        }
        let output = child(NAME, io);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn another_word_in_the_environment_is_an_error_that_names_it() {
    const NAME: &str = "another_word_in_the_environment_is_an_error_that_names_it";
    if role().is_some() {
        let error = Runtime::new().map(drop).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("\"kqueue\"") && error.to_string().contains("epoll"), "{error}");
        return;
    }
    let output = child(NAME, "kqueue");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Refuses a system call to all threads of this process, as containers do, where its first argument is `least` or more.
fn refuse(call: libc::c_long, least: u32, error: libc::c_int) {
    let filter = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut program = [
        filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the number of the system call
        filter(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 3, call as u32),
        filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 16), // its first argument
        filter(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, least),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | error as u32),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the program is valid during the calls.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let (set, all) = (libc::SECCOMP_SET_MODE_FILTER, libc::SECCOMP_FILTER_FLAG_TSYNC);
        assert_eq!(libc::syscall(libc::SYS_seccomp, set, all, &raw const program), 0);
    }
}

#[test]
fn where_a_filter_refuses_io_uring_there_is_epoll_and_a_reason() {
    const NAME: &str = "where_a_filter_refuses_io_uring_there_is_epoll_and_a_reason";
    if role().is_some() {
        refuse(libc::SYS_io_uring_setup, 0, libc::EPERM);
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.io(), Io::Epoll);
        let text = runtime.run(|| {
            let mut text = String::new();
            std::io::Read::read_to_string(&mut lamprey::fs::File::open("Cargo.toml")?, &mut text)?;
            std::io::Result::Ok(text)
        });
        assert!(text.unwrap().contains("lamprey"));
        let refused = Runtime::builder().io(Io::Uring).build().map(drop).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::PermissionDenied);
        assert!(refused.to_string().contains("io_uring"), "{refused}");
        return;
    }
    let output = child(NAME, "auto");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A ring of the parent's is not the child's: what is forked can start a runtime of its own.
#[test]
fn a_forked_process_has_rings_of_its_own() {
    const NAME: &str = "a_forked_process_has_rings_of_its_own";
    if role().is_some() {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert!(runtime.run(|| lamprey::fs::metadata("Cargo.toml").unwrap().is_file()));
        // SAFETY: the child only starts a runtime, which needs nothing that other threads may hold but the allocator,
        // and `malloc` keeps that usable; then it exits.
        match unsafe { libc::fork() } {
            0 => {
                let again = Runtime::builder().workers(1).build().unwrap();
                let is_file = again.run(|| lamprey::fs::metadata("Cargo.toml").unwrap().is_file());
                drop(again);
                // SAFETY: ends the child without the parent's destructors.
                unsafe { libc::_exit(if is_file { 7 } else { 8 }) }
            }
            child => {
                let mut status = 0;
                // SAFETY: the place is valid during the call.
                unsafe { libc::waitpid(child, &mut status, 0) };
                assert_eq!(libc::WEXITSTATUS(status), 7);
            }
        }
        assert!(runtime.run(|| lamprey::fs::metadata("src").unwrap().is_dir()));
        return;
    }
    let output = child(NAME, "auto");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_worker_without_memory_for_a_ring_has_epoll() {
    const NAME: &str = "a_worker_without_memory_for_a_ring_has_epoll";
    if role().is_some() {
        let before = Runtime::builder().workers(1).build().unwrap();
        // The kernel refuses so when the user may lock no more memory; it still makes a small ring, such as that of the probe.
        refuse(libc::SYS_io_uring_setup, 64, libc::ENOMEM);
        for runtime in [before, Runtime::builder().workers(2).build().unwrap()] {
            runtime.run(|| {
                assert!(lamprey::fs::read_to_string("Cargo.toml").unwrap().contains("lamprey"));
                let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                let echo = lamprey::spawn(move || {
                    let (mut peer, _) = listener.accept().unwrap();
                    let mut text = [0; 4];
                    std::io::Read::read_exact(&mut peer, &mut text).unwrap();
                    std::io::Write::write_all(&mut peer, &text).unwrap();
                });
                let mut stream = lamprey::net::TcpStream::connect(address).unwrap();
                std::io::Write::write_all(&mut stream, b"ring").unwrap();
                let mut text = [0; 4];
                std::io::Read::read_exact(&mut stream, &mut text).unwrap();
                assert_eq!(&text, b"ring");
                echo.join().unwrap();
            });
        }
        if Io::Uring.check().is_ok() {
            let refused = Runtime::builder().io(Io::Uring).build().map(drop).unwrap_err();
            assert_eq!(refused.kind(), std::io::ErrorKind::OutOfMemory);
            assert!(refused.to_string().contains("ulimit -l"), "{refused}");
        }
        return;
    }
    let output = child(NAME, "auto");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Operations in flight cannot be given up then, and the kernel may still write to their memory.
#[test]
fn a_runtime_that_cannot_end_its_operations_says_so() {
    const NAME: &str = "a_runtime_that_cannot_end_its_operations_says_so";
    if role().is_some() {
        let runtime = Runtime::builder().workers(1).io(Io::Uring).build().unwrap();
        runtime.run(|| {
            let listener = lamprey::net::TcpListener::bind("127.0.0.1:0").unwrap();
            drop(lamprey::spawn(move || listener.accept().map(drop)));
            let accepts = |row: &lamprey::inspect::ThreadRow| row.wait() == Some(lamprey::Wait::Accept);
            while !lamprey::inspect::threads().iter().any(accepts) {
                lamprey::yield_now();
            }
            // The worker gives the kernel what it has before it sleeps.
            lamprey::sleep(std::time::Duration::from_millis(10));
            refuse(libc::SYS_io_uring_register, 0, libc::EPERM);
        });
        drop(runtime);
        return;
    }
    if Io::Uring.check().is_err() {
        return;
    }
    let output = within(FOREVER, || child(NAME, "auto"));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("LAMPREY_IO=epoll does without it"), "{text}");
}
