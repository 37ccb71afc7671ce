//! Running out of address space, threads or descriptors is an `Err` where it can be told, never an abort or a
//! hang. Each in a process of its own, whose limits it lowers.
mod common;

use common::{count, counter, rerun, role, runtime, tick, within};
use lamprey::sim::Machine;
use lamprey::{Builder, JoinError, ParasiteHandle, Runtime, channel, parasite, parasite_fn, spawn};
use std::time::{Duration, Instant};

/// Lowers a limit of this process.
fn limit(what: libc::__rlimit_resource_t, to: u64) {
    let limit = libc::rlimit { rlim_cur: to, rlim_max: to };
    // SAFETY: the pointer is valid for the call.
    assert_eq!(unsafe { libc::setrlimit(what, &limit) }, 0);
}

/// Lets the address space grow by `bytes` from here.
fn limit_growth(bytes: u64) {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').next().unwrap().parse().unwrap();
    limit(libc::RLIMIT_AS, pages * 4096 + bytes);
}

/// Lets the process have few descriptors, and takes all of them.
fn hold_all_descriptors() -> Vec<std::fs::File> {
    limit(libc::RLIMIT_NOFILE, 64);
    std::iter::from_fn(|| std::fs::File::open("/dev/null").ok()).collect()
}

/// Runs this test again as `role`, which must end well.
fn ends_well(test: &str, role: &str) {
    let (output, text) = rerun(test, role);
    assert!(output.status.success(), "{role}: {:?} {text}", output.status);
}

fn no_stack<T>(outcome: Result<T, JoinError>) -> bool {
    match outcome {
        Ok(_) => false,
        Err(JoinError::NoStack(refused)) => {
            assert!(!refused.error().to_string().is_empty());
            true
        }
        Err(error) => panic!("neither ran nor out of stacks: {error}"),
    }
}

/// The crowd's stacks are idle in the pool that workers share; the next hosts have stacks of other sizes.
#[test]
fn a_crowd_that_took_the_address_space_leaves_it_to_threads_with_other_stacks() {
    const ME: &str = "a_crowd_that_took_the_address_space_leaves_it_to_threads_with_other_stacks";
    const CROWD: usize = 10_000;
    let Some(role) = role() else { return ["1", "2"].iter().for_each(|role| ends_well(ME, role)) };
    let runtime = runtime(role.parse().unwrap());
    runtime.run(|| spawn(|| ()).join().unwrap());
    limit_growth(300 << 20);
    for _ in 0..3 {
        runtime.run(|| {
            let (tx, rx) = channel::<()>();
            let begun = counter();
            let hosts: Vec<_> = (0..CROWD)
                .map(|_| {
                    let (rx, begun) = (rx.clone(), begun.clone());
                    let host = Builder::new().stack_size(64 << 10).spawn(move || {
                        tick(&begun);
                        rx.recv()
                    });
                    host.unwrap()
                })
                .collect();
            // Until each is blocked, or has been refused.
            while count(&begun) + hosts.iter().filter(|host| host.is_finished()).count() < CROWD {
                lamprey::sleep(Duration::from_millis(1));
            }
            drop(tx);
            let refused = hosts.into_iter().filter_map(|host| no_stack(host.join()).then_some(())).count();
            assert!(refused > 0, "the address space is not exhausted: this tests nothing");
        });
        // At once, with the large stack of a main host.
        runtime.run(|| Builder::new().stack_size(16 << 20).spawn(|| ()).unwrap().join().unwrap());
    }
}

#[test]
fn hosts_beyond_the_address_space_end_with_no_stack_and_the_others_go_on() {
    const ME: &str = "hosts_beyond_the_address_space_end_with_no_stack_and_the_others_go_on";
    let Some(role) = role() else {
        return ["16384", "65536", "262144", "16777216"].iter().for_each(|role| ends_well(ME, role));
    };
    let bytes: usize = role.parse().unwrap();
    let runtime = runtime(1);
    runtime.run(|| spawn(|| ()).join().unwrap());
    limit_growth(300 << 20);
    let many = (1200 << 20) / bytes;
    runtime.run(move || {
        for _ in 0..2 {
            let (tx, rx) = channel::<()>();
            let begun = counter();
            let hosts: Vec<_> = (0..many)
                .map(|_| {
                    let (rx, begun) = (rx.clone(), begun.clone());
                    let host = Builder::new().stack_size(bytes).spawn(move || {
                        tick(&begun);
                        rx.recv()
                    });
                    host.unwrap()
                })
                .collect();
            // Until each is blocked, or has been refused.
            while count(&begun) + hosts.iter().filter(|host| host.is_finished()).count() < many {
                (0..1000).for_each(|_| lamprey::yield_now());
            }
            drop(tx);
            let refused =
                hosts.into_iter().map(|host| no_stack(host.join())).filter(|&refused| refused).count();
            assert!(refused > 0 && refused < many, "{refused} of {many} refused");
            // What has ended leaves room for others.
            let again = Builder::new().stack_size(bytes).spawn(|| 1).unwrap();
            assert_eq!(again.join().unwrap(), 1);
        }
    });
}

#[test]
fn the_first_host_of_a_runtime_gets_no_stack() {
    const ME: &str = "the_first_host_of_a_runtime_gets_no_stack";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    let runtime = Runtime::builder().workers(1).stack_size(1 << 30).build().unwrap();
    let handle = runtime.handle();
    limit_growth(100 << 20);
    for _ in 0..3 {
        assert!(no_stack(handle.spawn(|| ()).join()));
    }
    let small = Builder::new().stack_size(16 << 10).spawn_in(&handle, || 2).unwrap();
    assert_eq!(small.join().unwrap(), 2);
    assert!(no_stack(handle.spawn(|| ()).join()));
    // From a host that spawns, ends, yields or blocks next to one that gets none.
    let nested = Builder::new().stack_size(64 << 10).spawn_in(&handle, || {
        let refused = spawn(|| ());
        lamprey::yield_now();
        let second = spawn(|| ());
        assert!(no_stack(refused.join()));
        drop(spawn(|| ()));
        no_stack(second.join())
    });
    assert!(nested.unwrap().join().unwrap());
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| runtime.run(|| ())));
    let text = *caught.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("no stack"), "{text}");
}

#[test]
fn a_detached_host_without_a_stack_is_reported() {
    const ME: &str = "a_detached_host_without_a_stack_is_reported";
    if role().is_none() {
        let (output, text) = rerun(ME, "child");
        assert!(output.status.success(), "{text}");
        assert!(text.contains("never ran") && text.contains("crash_exhaustion.rs"), "{text}");
        return;
    }
    let runtime = runtime(1);
    limit_growth(100 << 20);
    runtime.run(|| {
        drop(Builder::new().stack_size(1 << 30).spawn(|| ()).unwrap());
        lamprey::yield_now();
        assert!(no_stack(Builder::new().stack_size(1 << 30).spawn(|| ()).unwrap().join()));
    });
}

#[test]
fn a_build_without_room_for_threads_fails() {
    const ME: &str = "a_build_without_room_for_threads_fails";
    if role().is_none() {
        // Large stacks for kernel threads: what is left when no more of them fits is enough for what those
        // few allocate.
        let me = std::env::current_exe().unwrap();
        let child = std::process::Command::new(me)
            .args(["--exact", ME, "--nocapture"])
            .env("LAMPREY_TEST_ROLE", "child")
            .env("RUST_MIN_STACK", (64 << 20).to_string())
            .output()
            .unwrap();
        assert!(child.status.success(), "{:?} {}", child.status, String::from_utf8_lossy(&child.stderr));
        return;
    }
    limit_growth(170 << 20); // two stacks and a half
    let error = Runtime::builder().workers(64).build().unwrap_err();
    assert!(!error.to_string().is_empty());
    let _ = Runtime::builder().workers(1).build().map(|runtime| runtime.run(|| ()));
}

#[test]
fn a_build_without_descriptors_fails_and_works_again_with_them() {
    const ME: &str = "a_build_without_descriptors_fails_and_works_again_with_them";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    let mut held = hold_all_descriptors();
    for spare in 0..4 {
        held.truncate(held.len() - 1);
        let error = Runtime::builder().workers(8).build().unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EMFILE), "{spare} spare: {error}");
    }
    held.clear();
    assert_eq!(runtime(4).run(|| 5), 5);
}

#[test]
fn a_simulation_without_descriptors_panics_and_works_again_with_them() {
    const ME: &str = "a_simulation_without_descriptors_panics_and_works_again_with_them";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    let simulate = || Runtime::simulated(1).workers(3).run(|| spawn(|| 7).join().unwrap());
    assert_eq!(simulate(), 7);
    let mut held = hold_all_descriptors();
    start_when_there_is_room(|| assert_eq!(simulate(), 7), &mut held);
}

/// What the system's refusal of a machine leaves: an error, and then none, with more descriptors.
fn start_when_there_is_room(start: impl Fn(), held: &mut Vec<std::fs::File>) {
    let mut refused = 0;
    while let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(&start)) {
        let text = panic.downcast_ref::<String>().map_or("", String::as_str);
        assert!(text.contains("cannot be started: Too many open files"), "{refused} refused: {text}");
        refused += 1;
        held.truncate(held.len() - 1);
    }
    assert!(refused > 0 && !held.is_empty(), "{refused} refused");
}

#[test]
fn a_machine_without_descriptors_is_not_made_and_the_next_attempt_makes_it() {
    const ME: &str = "a_machine_without_descriptors_is_not_made_and_the_next_attempt_makes_it";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    Runtime::simulated(1).workers(3).run(|| {
        let machine = || Machine::new("database");
        let mut held = hold_all_descriptors();
        start_when_there_is_room(|| drop(machine()), &mut held);
        held.clear();
        assert!(machine().is_up());
        assert_eq!(machine().spawn(|| Machine::here().name().to_owned()).join().unwrap(), "database");
        // The same once it has been up.
        machine().crash();
        while machine().is_up() {
            lamprey::yield_now();
        }
        lamprey::sleep(Duration::from_millis(1)); // its threads end
        held = hold_all_descriptors();
        start_when_there_is_room(|| machine().restart(), &mut held);
        assert_eq!(machine().spawn(|| 5).join().unwrap(), 5);
    });
}

/// A runtime in which no parasite can have a stack, nor the worker one for parasites.
fn without_stacks(workers: usize) -> Runtime {
    let builder = Runtime::builder().workers(workers).stack_size(1 << 30);
    let runtime = builder.time_slice(Duration::from_millis(1)).build().unwrap();
    limit_growth(100 << 20);
    runtime
}

/// Runs `main` on a host that is small enough for it.
fn run_small<T: Send + 'static>(runtime: &Runtime, main: impl FnOnce() -> T + Send + 'static) -> T {
    Builder::new().stack_size(64 << 10).spawn_in(&runtime.handle(), main).unwrap().join().unwrap()
}

/// Holds its kernel thread up for much longer than a time slice.
fn compute() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(50) {}
}

#[test]
fn a_long_parasite_that_can_have_no_stack_is_cancelled() {
    const ME: &str = "a_long_parasite_that_can_have_no_stack_is_cancelled";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    run_small(&without_stacks(2), || {
        let long = parasite(async {
            lamprey::yield_now_async().await; // goes on when the host below blocks: on the root
            compute();
            lamprey::yield_now_async().await; // is made a host here
        });
        // Inflated in vain, or (on a machine that is too busy to tick) not inflated.
        assert!(matches!(long.join(), Err(JoinError::Cancelled(_)) | Ok(())));
    });
}

#[test]
fn a_parasite_that_was_to_be_a_host_ends_though_its_closure_panics_when_dropped() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("in the destructor of a closure that never ran");
        }
    }
    const ME: &str = "a_parasite_that_was_to_be_a_host_ends_though_its_closure_panics_when_dropped";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    let handle: ParasiteHandle<()> = run_small(&without_stacks(1), || {
        let stats = || lamprey::Handle::current().unwrap().stats();
        while stats().inflated == 0 {
            parasite(async { compute() }).join().unwrap();
            drop(parasite_fn(|| ())); // the first that starts as a host: the spawner pays its penalty
        }
        let panics = Panics;
        parasite_fn(move || drop(panics))
    });
    assert!(matches!(within(common::FOREVER, || handle.join()), Err(JoinError::Cancelled(_))));
}

#[test]
fn parasites_end_with_a_runtime_that_has_no_stack_for_it() {
    const ME: &str = "parasites_end_with_a_runtime_that_has_no_stack_for_it";
    if role().is_none() {
        return ends_well(ME, "child");
    }
    let runtime = without_stacks(1);
    let (tx, rx) = channel::<u8>();
    let second = tx.clone();
    let (over, waiting) = run_small(&runtime, move || {
        let receive = || {
            let rx = rx.clone();
            parasite(async move { rx.recv_async().await })
        };
        let handles = (0..50).map(|_| (receive(), receive())).unzip::<_, _, Vec<_>, Vec<_>>();
        (0..50).for_each(|n| second.send(n).unwrap());
        // The host blocks, so the root runs them.
        let over = |handle: &&ParasiteHandle<_>| handle.is_finished();
        while handles.0.iter().chain(&handles.1).filter(over).count() < 50 {
            lamprey::sleep(Duration::from_millis(1));
        }
        handles
    });
    // Half of those that lie side by side come back from elsewhere before the end, when all are looked at.
    let (got, cancelled): (Vec<_>, Vec<_>) =
        over.into_iter().chain(waiting).partition(ParasiteHandle::is_finished);
    assert_eq!((got.len(), cancelled.len()), (50, 50));
    assert!(got.into_iter().all(|handle| handle.join().unwrap().is_ok()));
    drop(runtime);
    assert!(cancelled.into_iter().all(|handle| matches!(handle.join(), Err(JoinError::Cancelled(_)))));
    drop(tx);
}

/// Makes this process one of an ordinary user, who alone has a limit of threads. False if it may not.
fn becomes_ordinary() -> bool {
    // SAFETY: plain calls.
    let is_ordinary = unsafe {
        libc::geteuid() != 0
            || libc::setresgid(65_534, 65_534, 65_534) == 0 && libc::setresuid(65_534, 65_534, 65_534) == 0
    };
    if !is_ordinary {
        println!("NOT TESTED: this process cannot become an ordinary user");
    }
    is_ordinary
}

#[test]
fn a_name_that_no_kernel_thread_can_look_up_is_an_error() {
    const NAME: &str = "a_name_that_no_kernel_thread_can_look_up_is_an_error";
    if role().is_none() {
        return ends_well(NAME, "looks up");
    }
    if !becomes_ordinary() {
        return;
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    runtime.run(|| {
        let look_up = || lamprey::net::lookup("localhost:80");
        limit(libc::RLIMIT_NPROC, 0);
        for error in
            [look_up().unwrap_err(), lamprey::wait(lamprey::net::lookup_async("localhost:80")).unwrap_err()]
        {
            assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
            let text = error.to_string();
            assert!(text.contains("localhost") && text.contains("kernel thread"), "{text}");
        }
        // What needs no thread goes on.
        assert_eq!(lamprey::net::lookup("127.0.0.1:80").unwrap(), [([127, 0, 0, 1], 80).into()]);
    });
}

/// The kernel has one thread for the operations of the ring, and can have no more.
#[test]
fn a_fifo_that_nobody_opens_does_not_hold_up_files_without_threads() {
    const NAME: &str = "a_fifo_that_nobody_opens_does_not_hold_up_files_without_threads";
    let Some(folder) = role() else {
        let folder = std::env::temp_dir().join(format!("lamprey-threads-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        ends_well(NAME, folder.to_str().unwrap());
        return std::fs::remove_dir_all(folder).unwrap();
    };
    let folder = std::path::PathBuf::from(folder);
    let fifo = std::ffi::CString::new(folder.join("fifo").into_os_string().into_encoded_bytes()).unwrap();
    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    // SAFETY: plain calls with a path.
    unsafe {
        assert_eq!(libc::mkfifo(fifo.as_ptr(), 0o666), 0);
        if libc::geteuid() == 0 {
            assert_eq!(libc::chmod(fifo.as_ptr(), 0o666), 0);
            assert_eq!(libc::chown(fifo.as_ptr(), 65_534, 65_534), 0);
        }
    }
    if !becomes_ordinary() {
        return;
    }
    if std::fs::File::open(&file).is_err() {
        return println!("NOT TESTED: an ordinary user may not read in {}", folder.display());
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let fifo = folder.join("fifo");
    runtime.run(move || {
        let open = |path: &std::path::Path| lamprey::fs::File::open(path).map(drop);
        open(&file).unwrap(); // now the ring has its thread
        limit(libc::RLIMIT_NPROC, 0);
        let waits = spawn(move || open(&fifo));
        lamprey::sleep(Duration::from_millis(100)); // usually it waits now
        open(&file).unwrap();
        waits.cancel();
        // It may have been told that there is no thread for it.
        drop(waits.join());
    });
}
