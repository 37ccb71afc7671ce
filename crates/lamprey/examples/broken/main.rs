//! Programs that are wrong, each in a way of its own, and what Lamprey says of them: `cargo run --example broken deadlock`.
//! The guide's chapter "What is it doing?" reads these reports.
//!
//! * `deadlock`: three hosts, each of which waits for a message of the next one.
//! * `locks`: two hosts that take two mutexes in opposite orders.
//! * `partial`: the same, while the rest of the program goes on.
//! * `leak`: a server starts threads that never end, and is asked what it is doing.
//! * `lost`: a receiver waits for a message that nobody sends, for a sender is kept by the thread that waits.
//! * `parasites`: servers for requests that nobody sends.
//! * `outside`: a host and a kernel thread of `std` that wait for each other.
//! * `after-io`: a deadlock after all kinds of input and output.
//! * `shielded`: a deadlock of a thread that cannot be cancelled.
//! * `stuck`: a host computes for seconds, and holds up the others of its worker.
//! * `std-mutex`: a lock of `std` that a host holds while it sleeps, and that another one of its worker wants.
//! * `std-mutex-for-ever`: the same, where the holder waits for who wants the lock.
//! * `watched`: the first one with an open endpoint (feature `live`).
//! * `overflow`: a recursion without an end.
//!
//! `broken none NAME` runs one that is not wrong, though all of its threads wait for a while, and `broken busy NAME` one that is not,
//! though it has a lot to do.

mod after_io;
mod busy;
mod deadlock;
mod leak;
mod locks;
mod lost;
mod none;
mod outside;
mod overflow;
mod panic;
mod parasites;
mod partial;
mod shielded;
mod std_mutex;
mod std_mutex_for_ever;
mod stuck;
#[cfg(feature = "live")]
mod watched;

const PROGRAMS: &[(&str, fn())] = &[
    ("deadlock", deadlock::main),
    ("locks", locks::main),
    ("partial", partial::main),
    ("leak", leak::main),
    ("lost", lost::main),
    ("parasites", parasites::main),
    ("outside", outside::main),
    ("after-io", after_io::main),
    ("shielded", shielded::main),
    ("stuck", stuck::main),
    ("std-mutex", std_mutex::main),
    ("std-mutex-for-ever", std_mutex_for_ever::main),
    ("overflow", overflow::main),
    #[cfg(feature = "live")]
    ("watched", watched::main),
    ("panic", panic::main),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let first = arguments.next().unwrap_or_default();
    let (programs, asked) = match &*first {
        "none" => (&none::PROGRAMS[..], arguments.next().unwrap_or_default()),
        "busy" => (&busy::PROGRAMS[..], arguments.next().unwrap_or_default()),
        _ => (PROGRAMS, first),
    };
    let Some((_, program)) = programs.iter().find(|(name, _)| *name == asked) else {
        let names: Vec<_> = programs.iter().map(|(name, _)| *name).collect();
        eprintln!("which program? `{asked}` is none of: {}", names.join(", "));
        std::process::exit(2);
    };
    lamprey::run(program);
    println!("came to its end");
}
