//! Calls that cannot wait: of a host that unwinds, and of a kernel thread that ends.

use crate::common::{rerun, role, within};
use lamprey::{JoinError, Runtime};
use std::cell::RefCell;
use std::os::unix::process::ExitStatusExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Calls it when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Runs `call` in a destructor of a host that unwinds.
fn unwinding(call: impl FnMut() + Send + 'static) {
    crate::common::run(2, move || {
        let host = lamprey::spawn(move || {
            let _calls = OnDrop(call);
            panic!("unwinds");
        });
        assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
    });
}

fn kernel_threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// The message of what `call` panics with.
fn message(call: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(call)).unwrap_err();
    payload
        .downcast_ref::<String>()
        .cloned()
        .unwrap_or_else(|| payload.downcast_ref::<&str>().unwrap().to_string())
}

#[test]
fn a_host_that_unwinds_is_told_that_it_cannot_wait_for_a_future() {
    unwinding(|| {
        let (_tx, rx) = lamprey::channel::<u8>();
        let text = message(|| assert!(lamprey::wait(rx.recv_async()).is_err()));
        assert!(text.contains("lamprey::wait was called by a host that unwinds"), "{text}");
        let (mut theirs, ours) = std::os::unix::net::UnixStream::pair().unwrap();
        let ours = lamprey::net::UnixStream::from_std(ours).unwrap();
        message(|| drop(lamprey::wait(ours.read_async(&mut [0; 4]))));
        // What is ready is read.
        std::io::Write::write_all(&mut theirs, b"here").unwrap();
        assert_eq!(lamprey::wait(ours.read_async(&mut [0; 4])).unwrap(), 4);
    });
}

#[test]
fn a_future_that_wakes_itself_is_polled_on_by_a_host_that_unwinds() {
    unwinding(|| {
        let mut polls = 0;
        let counts = std::future::poll_fn(move |cx| {
            polls += 1;
            cx.waker().wake_by_ref();
            if polls < 10_000 { std::task::Poll::Pending } else { std::task::Poll::Ready(polls) }
        });
        assert_eq!(lamprey::wait(counts), 10_000);
        // These give others their turn, where there is one to give.
        let (tx, rx) = lamprey::bounded::<u32>(1);
        for n in 0..10_000 {
            assert_eq!(
                lamprey::wait(async { (tx.send_async(n).await, rx.recv_async().await) }),
                (Ok(()), Ok(n))
            );
        }
    });
}

#[test]
fn a_host_that_unwinds_and_waits_for_a_timer_starts_no_runtimes() {
    unwinding(|| {
        message(|| lamprey::wait(lamprey::sleep_async(Duration::from_secs(1000))));
        let before = kernel_threads();
        for _ in 0..10 {
            message(|| lamprey::wait(lamprey::sleep_async(Duration::from_secs(1000))));
        }
        assert!(kernel_threads() < before + 5);
        // Polled by another executor it comes in its time.
        struct Unparks(std::thread::Thread);
        impl std::task::Wake for Unparks {
            fn wake(self: Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = Arc::new(Unparks(std::thread::current())).into();
        let mut sleep = std::pin::pin!(lamprey::sleep_async(Duration::from_millis(2)));
        while sleep.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending() {
            std::thread::park();
        }
    });
}

/// Nobody catches the panic that says so.
#[test]
fn a_wait_in_a_destructor_that_unwinds_ends_the_process_with_its_message() {
    const ME: &str = "a_wait_in_a_destructor_that_unwinds_ends_the_process_with_its_message";
    if role().is_some() {
        return unwinding(|| lamprey::wait(std::future::pending()));
    }
    let (output, text) = rerun(ME, "waits");
    assert_eq!(output.status.signal(), Some(6), "{text}");
    assert!(text.contains("lamprey::wait was called by a host that unwinds"), "{text}");
}

#[test]
fn a_host_that_unwinds_runs_none_on_its_own_runtime() {
    within(crate::common::FOREVER, || {
        let runtime = Arc::new(crate::common::runtime(1));
        let theirs = runtime.clone();
        runtime.run(move || {
            let host = lamprey::spawn(move || {
                let _runs = OnDrop(|| {
                    let text = message(|| theirs.run(|| ()));
                    assert!(text.contains("unwinds"), "{text}");
                    assert_eq!(crate::common::runtime(1).run(|| 7), 7); // another's worker is waited for
                });
                panic!("unwinds");
            });
            assert!(matches!(host.join(), Err(JoinError::Panicked(_))));
        });
    });
}

/// It may be called when the thread-locals of Lamprey are destroyed before, and what borrows runs while what it borrows is
/// there.
#[test]
fn run_in_the_destructor_of_a_thread_local_waits() {
    static RAN: AtomicUsize = AtomicUsize::new(0);

    struct Runs(Arc<Runtime>);
    impl Drop for Runs {
        fn drop(&mut self) {
            let mut borrowed = vec![1_u8; 4096];
            self.0.run(|| {
                lamprey::sleep(Duration::from_millis(20));
                borrowed.fill(2);
            });
            assert_eq!(borrowed, [2; 4096]);
            RAN.fetch_add(1, Ordering::SeqCst);
        }
    }
    thread_local! {
        static LOCAL: RefCell<Option<Runs>> = const { RefCell::new(None) };
    }
    let runtime = Arc::new(crate::common::runtime(1));
    for late in [false, true] {
        let theirs = runtime.clone();
        let thread = std::thread::spawn(move || {
            let block = || lamprey::sleep(Duration::from_millis(1)); // makes the thread-local of Lamprey
            if late {
                block();
            }
            LOCAL.set(Some(Runs(theirs)));
            block();
        });
        thread.join().unwrap();
    }
    assert_eq!(RAN.load(Ordering::SeqCst), 2);
}
