//! `examples/half_on_tokio.rs`.

use interop::peer::{Running, example, output};

#[test]
fn each_number_is_squared_once() {
    for threads in [1u64, 200] {
        let text = output(example("half_on_tokio").arg(threads.to_string()));
        let sum: u64 = (0..threads * 100).map(|n| n * n).sum();
        assert_eq!(text, format!("{threads} tasks and {threads} hosts: {sum}\n"));
    }
}

#[test]
fn a_wrong_number_is_said() {
    let (status, text) = Running::start(example("half_on_tokio").arg("0")).end();
    assert!(!status.success() && text.starts_with("usage: half_on_tokio"), "{text}");
}
