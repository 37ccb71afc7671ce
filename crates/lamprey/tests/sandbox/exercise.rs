//! The program: it uses each part of the runtime that makes system calls, then idles, and says how much processor time that took.

use crate::common::{eventually, runtime};
use lamprey::event::{Event, choose, timeout};
use lamprey::net::{TcpListener, TcpStream, UdpSocket};
use lamprey::process::{Command, Stdio};
use lamprey::signal::{Signal, listen};
use lamprey::sync::{Condvar, Mutex};
use lamprey::{Runtime, block, fs, scope, sleep, spawn};
use std::fs::Permissions;
use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// What the program prints at the end of its work, on a line of its own.
pub const DONE: &str = "all is well";
/// What stands before the processor time of the idle period, in microseconds.
pub const IDLE: &str = "idle for one second takes us: ";

const BYTES: usize = 300_000;

pub fn main() {
    let folder = std::env::temp_dir().join(format!("lamprey-sandbox-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder); // of a process of the same number that failed
    std::fs::create_dir(&folder).unwrap();
    let there = folder.clone();
    runtime(2).run(move || {
        for part in [timers, sockets, children, signals, locks, pool, outside, kit, simulated] {
            part();
        }
        files(&there);
        println!("{DONE}");
        println!("{IDLE}{}", idle().as_micros());
    });
    std::fs::remove_dir_all(folder).unwrap();
}

/// Short ones and long ones, some at the same time, on both workers.
fn timers() {
    scope(|s| {
        for i in 0..20 {
            s.spawn(move || {
                let (begin, time) = (Instant::now(), Duration::from_micros(100 + 333 * i));
                sleep(time);
                assert!(begin.elapsed() >= time);
            });
        }
    });
    assert_eq!(choose((timeout(Duration::from_micros(150)).wrap(|()| 1), lamprey::event::never())).sync(), 1);
    assert!(lamprey::with_timeout(Duration::from_micros(700), || sleep(Duration::from_secs(1000))).is_err());
}

fn sockets() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_accept_ahead(true);
    let server = spawn(move || {
        for i in 0..4 {
            let (mut stream, _) = listener.accept().unwrap();
            stream.set_read_ahead(i % 2 == 0);
            spawn(move || {
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                stream.write_all(&all).unwrap();
            });
        }
    });
    scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                let mut stream = TcpStream::connect(address).unwrap();
                stream.write_all(&[7; BYTES]).unwrap();
                stream.shutdown(std::net::Shutdown::Write).unwrap();
                let mut all = Vec::new();
                stream.read_to_end(&mut all).unwrap();
                assert_eq!(all, [7; BYTES]);
            });
        }
    });
    server.join().unwrap();

    let (one, other) = (UdpSocket::bind("127.0.0.1:0").unwrap(), UdpSocket::bind("127.0.0.1:0").unwrap());
    let to = other.local_addr().unwrap();
    let receiver = spawn(move || {
        let mut room = [0; 10];
        let (count, _) = other.recv_from(&mut room).unwrap();
        room[..count].to_owned()
    });
    one.send_to(b"datagram", to).unwrap();
    assert_eq!(receiver.join().unwrap(), b"datagram");

    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    assert!(lamprey::with_timeout(Duration::from_micros(1500), || silent.accept()).is_err());
    // One that finds nothing to read, however the kernel shares the time out.
    let _client = TcpStream::connect(silent.local_addr().unwrap()).unwrap();
    let (mut quiet, _) = silent.accept().unwrap();
    quiet.set_read_ahead(true);
    assert!(lamprey::with_timeout(Duration::from_millis(30), || quiet.read(&mut [0])).is_err());
}

/// A command that does not end by itself.
fn sleeping() -> Command {
    let mut command = Command::new("sleep");
    command.arg("1000").kill_on_drop(true);
    command
}

fn children() {
    let output =
        Command::new("sh").args(["-c", "read line; echo got $line; exit 3"]).stdin(Stdio::null()).output();
    let output = output.unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"got\n"[..]));
    let mut child = sleeping().spawn().unwrap();
    assert!(child.wait_timeout(Duration::from_millis(2)).is_err());
    child.signal(Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
    // Nobody waits for these.
    let left = [(); 2].map(|()| sleeping().spawn().unwrap().id());
    eventually("they are reaped", || left.iter().all(|id| !Path::new(&format!("/proc/{id}")).exists()));
}

fn signals() {
    let signals = listen(&[Signal::USR1]).unwrap();
    // SAFETY: two numbers; the signal has a handler.
    assert_eq!(unsafe { libc::kill(libc::getpid(), libc::SIGUSR1) }, 0);
    assert_eq!(signals.recv().unwrap(), Signal::USR1);
}

fn locks() {
    let shared = Arc::new((Mutex::new(0), Condvar::new()));
    scope(|s| {
        for _ in 0..50 {
            let shared = shared.clone();
            s.spawn(move || {
                for _ in 0..20 {
                    *shared.0.lock().unwrap() += 1;
                    lamprey::yield_now();
                }
                shared.1.notify_all();
            });
        }
        let mut count = shared.0.lock().unwrap();
        while *count != 1000 {
            count = shared.1.wait(count).unwrap();
        }
    });
}

fn pool() {
    let sum: u32 = (0..20).map(|i| spawn(move || block(|| i))).map(|host| host.join().unwrap()).sum();
    assert_eq!(sum, 190);
    let _cores = block(thread::available_parallelism);
}

/// From a kernel thread that is no worker: it blocks in calls, and polls futures.
fn outside() {
    let work = || {
        sleep(Duration::from_micros(300));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = thread::spawn(move || TcpStream::connect(address).unwrap().write_all(b"x").unwrap());
        let (mut stream, _) = listener.accept().unwrap();
        let mut all = String::new();
        stream.read_to_string(&mut all).unwrap();
        client.join().unwrap();
        futures::executor::block_on(lamprey::sleep_async(Duration::from_micros(300)));
        futures::executor::block_on(async { Command::new("true").status_async().await.unwrap() });
        all
    };
    assert_eq!(block(|| thread::spawn(work).join().unwrap()), "x");
}

/// The event loop of the scheduler kit. It returns errors, after which it may be asked again.
fn kit() {
    let epoll = lamprey::trace::Epoll::new().unwrap();
    let wait = |limit| (0..100).find_map(|_| epoll.wait(limit).ok()).unwrap().len();
    assert_eq!(block(|| wait(Some(Duration::from_micros(300)))), 0);
    epoll.notify();
    assert_eq!(block(|| wait(None)), 0);
}

fn simulated() {
    let there = || {
        Runtime::simulated(1).run(|| {
            fs::write("a", "b").unwrap();
            let listener = TcpListener::bind("127.0.0.1:80").unwrap();
            let server = spawn(move || {
                fs::write("/c", std::io::read_to_string(listener.accept().unwrap().0).unwrap())
            });
            TcpStream::connect("127.0.0.1:80").unwrap().write_all(b"d").unwrap();
            server.join().unwrap().unwrap();
            fs::read_to_string("a").unwrap() + &fs::read_to_string("/c").unwrap()
        })
    };
    assert_eq!(block(|| thread::spawn(there).join().unwrap()), "bd");
}

fn files(folder: &Path) {
    let path = |name: &str| -> PathBuf { folder.join(name) };
    fs::write(path("a"), [5; BYTES]).unwrap();
    assert_eq!(fs::read(path("a")).unwrap(), [5; BYTES]);
    assert_eq!(fs::copy(path("a"), path("b")).unwrap(), BYTES as u64);
    let file = fs::File::options().read(true).write(true).open(path("b")).unwrap();
    file.write_all_at(b"here", 100).unwrap();
    let mut part = [0; 4];
    file.read_exact_at(&mut part, 100).unwrap();
    assert_eq!(&part, b"here");
    file.set_permissions(Permissions::from_mode(0o640)).unwrap();
    let (of_file, of_path) = (file.metadata().unwrap(), fs::metadata(path("b")).unwrap());
    assert_eq!((of_file.len(), of_file.mode() & 0o777, of_file.is_file()), (BYTES as u64, 0o640, true));
    assert_eq!((of_file.ino(), of_file.dev()), (of_path.ino(), of_path.dev()));
    assert!(of_file.modified().unwrap().elapsed().unwrap() < Duration::from_secs(3600));
    assert!(!fs::exists(path("nowhere")).unwrap());
    fs::symlink(path("a"), path("link")).unwrap();
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    // From a thread that has no ring.
    let (there, link) = (path("b"), path("link"));
    let found =
        block(|| thread::spawn(move || (fs::metadata(there).unwrap(), fs::metadata(link).unwrap())).join());
    let (found, linked) = found.unwrap();
    assert_eq!((found.ino(), linked.len()), (of_file.ino(), BYTES as u64));
    assert_eq!(fs::read_dir(folder).unwrap().count(), 3);
    send(&path("a"));
    fs::remove_file(path("link")).unwrap();
}

/// A file to a socket.
fn send(path: &Path) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (server, _) = listener.accept().unwrap();
    let reader = spawn(move || std::io::read_to_string(client).unwrap().len());
    let file = fs::File::open(path).unwrap();
    assert_eq!(server.sendfile(&file, 0, BYTES as u64).unwrap(), BYTES as u64);
    drop(server);
    assert_eq!(reader.join().unwrap(), BYTES);
}

/// Everything waits for a second; returns what that takes of the processor.
fn idle() -> Duration {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let waiting = [
        spawn(move || listener.accept().map(drop).is_ok()),
        spawn(|| sleeping().status().is_ok()),
        spawn(|| listen(&[Signal::USR2]).unwrap().recv().is_ok()),
        spawn(|| {
            sleep(Duration::from_secs(1000));
            true
        }),
    ];
    // Nobody waits for it.
    let id = sleeping().kill_on_drop(false).spawn().unwrap().id();
    sleep(Duration::from_millis(100));
    let before = used();
    sleep(Duration::from_secs(1));
    let taken = used() - before;
    // SAFETY: a child of this process that has not been reaped.
    unsafe { libc::kill(id.cast_signed(), libc::SIGKILL) };
    waiting.iter().for_each(lamprey::JoinHandle::cancel);
    waiting.into_iter().for_each(|host| drop(host.join()));
    taken
}

/// The processor time that this process has had.
fn used() -> Duration {
    let mut all = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: room for one record, which zeros are a value of.
    let all = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, all.as_mut_ptr());
        all.assume_init()
    };
    let time = |of: libc::timeval| Duration::new(of.tv_sec as u64, of.tv_usec as u32 * 1000);
    time(all.ru_utime) + time(all.ru_stime)
}
