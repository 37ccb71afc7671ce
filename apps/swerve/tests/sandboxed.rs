//! A server to which the kernel refuses newer system calls serves its folder, and nothing else.
mod common;
#[path = "../../../crates/lamprey/tests/common/confined.rs"]
mod confined;

use common::{Place, folder};
use confined::{Refusal, can_confine, start};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What may be refused, and whether a server meets that (with one of the event loops).
const CALLS: &[(&str, libc::c_long, bool)] = &[
    ("openat2", libc::SYS_openat2, true),
    ("statx", libc::SYS_statx, false),
    ("preadv2", libc::SYS_preadv2, true),
    ("epoll_pwait2", libc::SYS_epoll_pwait2, false),
    ("membarrier", libc::SYS_membarrier, true),
    ("io_uring_setup", libc::SYS_io_uring_setup, true),
    ("memfd_create", libc::SYS_memfd_create, false),
    ("copy_file_range", libc::SYS_copy_file_range, false),
    ("getrandom", libc::SYS_getrandom, true),
];

/// A running server; killed when dropped.
struct Confined {
    place: Place,
    child: Child,
    hits: Arc<AtomicUsize>,
}

impl Drop for Confined {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn serve(refusals: &[Refusal], error: i32, io: &str) -> Confined {
    let temp = folder();
    let site = temp.path().join("site");
    std::fs::write(site.join("large"), vec![b'x'; 2 << 20]).unwrap();
    std::fs::write(temp.path().join("secret"), "secret").unwrap();
    symlink("../secret", site.join("outside")).unwrap();
    symlink(temp.path().join("secret"), site.join("absolute")).unwrap();
    symlink("..", site.join("up")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_swerve"));
    command.arg(&site).args(["--addr", "127.0.0.1:0"]).env("LAMPREY_IO", io);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let (mut child, hits) = start(&mut command, refusals, error).unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).and_then(|rest| rest.split(['/', ' ', '\n']).next());
    let addr = address.unwrap_or_else(|| panic!("no address: {line:?}")).parse().unwrap();
    Confined { place: Place { addr, temp }, child, hits }
}

fn check(server: &Confined, what: &str) {
    let site = &server.place;
    let served =
        [("/a.txt", &b"alpha"[..]), ("/", b"<h1>home</h1>"), ("/sub/", b"<h1>sub</h1>"), ("/empty", b"")];
    for (target, body) in served {
        for _ in 0..2 {
            let response = site.get(target);
            assert_eq!((response.status, &response.body[..]), (200, body), "{what}: {target}");
        }
    }
    let large = site.get("/large");
    assert_eq!((large.status, large.body.len()), (200, 2 << 20), "{what}");
    for target in
        ["/outside", "/absolute", "/up/secret", "/../secret", "/nowhere", "/a.txt/b", "/%2e%2e/secret"]
    {
        let response = site.get(target);
        assert!((400..500).contains(&response.status), "{what}: {target} {response:?}");
        assert!(
            !response.body.windows(6).any(|six| six == b"secret" && response.status == 200),
            "{what}: {target}"
        );
    }
}

/// What a sandbox says of a call that it refuses.
const ERRORS: [i32; 4] = [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::EINVAL];

/// Those by which this call may be refused: the standard library, which makes some of them, takes only two for a refusal.
fn errors(name: &str) -> &'static [i32] {
    if ["copy_file_range", "getrandom"].contains(&name) { &ERRORS[..2] } else { &ERRORS }
}

#[test]
fn what_is_refused_is_not_needed() {
    if !can_confine() {
        return;
    }
    for &(name, call, is_met) in CALLS {
        let mut hits = 0;
        for &error in errors(name) {
            for io in ["epoll", "auto"] {
                let server = serve(&[Refusal { call, only: None }], error, io);
                check(&server, &format!("{name} refused by {error}, {io}"));
                hits += server.hits.load(Ordering::SeqCst);
            }
        }
        assert!(hits != 0 || !is_met, "{name}: nothing has met the refusal");
    }
}

#[test]
fn a_server_does_without_all_of_it_at_once() {
    if !can_confine() {
        return;
    }
    for error in ERRORS {
        let fit = CALLS.iter().filter(|(name, ..)| errors(name).contains(&error));
        let refusals: Vec<_> = fit.map(|&(_, call, _)| Refusal { call, only: None }).collect();
        check(&serve(&refusals, error, "auto"), &format!("all refused by {error}"));
    }
}
