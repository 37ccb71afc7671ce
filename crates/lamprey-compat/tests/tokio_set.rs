//! A program that brings its own runtime; in a process of its own, because it has to come first.

use std::thread;
use std::time::Duration;

#[test]
fn a_runtime_of_the_program_is_set_once_and_used() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_name("of-the-program")
        .enable_all()
        .build()
        .unwrap();
    lamprey_compat::tokio::set_runtime(runtime.handle().clone()).unwrap();
    assert_eq!(lamprey_compat::tokio::handle().unwrap().id(), runtime.handle().id());
    let error = lamprey_compat::tokio::set_runtime(runtime.handle().clone()).unwrap_err();
    assert!(error.to_string().contains("at the start of the program"), "{error}");
    assert_eq!(error.0.id(), runtime.handle().id());
    let name = lamprey::run(|| {
        lamprey_compat::tokio(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            tokio::spawn(async { thread::current().name().unwrap().to_owned() }).await.unwrap()
        })
        .wait()
    });
    assert_eq!(name, "of-the-program");
    // Its end, while Lamprey's threads still have its context.
    let host = lamprey::run(move || {
        let mut future = Box::pin(lamprey_compat::tokio(async { tokio::time::sleep(Duration::MAX).await }));
        lamprey::wait(std::future::poll_fn(|cx| {
            assert!(future.as_mut().poll(cx).is_pending());
            std::task::Poll::Ready(())
        }));
        lamprey::block(move || drop(runtime));
        lamprey::spawn(move || lamprey::wait(future)).join()
    });
    assert!(host.unwrap_err().to_string().contains("shut"));
}
