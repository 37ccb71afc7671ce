//! `examples/redis_client.rs` against a server of Redis that the test starts.

use interop::peer::{Running, example, free_port, output, program};
use std::process::Command;

#[test]
fn hosts_count_in_pipelines_and_hear_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port().to_string();
    let mut server = Command::new(program("redis-server"));
    server.args([
        "--port",
        &port,
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--appendonly",
        "no",
        "--daemonize",
        "no",
    ]);
    let mut server = Running::start(server.current_dir(folder.path()));
    server.line_with("Ready to accept connections");
    let url = format!("redis://127.0.0.1:{port}");
    for _ in 0..2 {
        let text = output(example("redis_client").args([&url, "100"]));
        assert_eq!(text, "1000 counted by 100 hosts; heard of 5050\n");
    }
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let url = format!("redis://127.0.0.1:{}", free_port());
    let (status, text) = Running::start(example("redis_client").arg(&url)).end();
    assert!(!status.success());
    assert!(text.contains(&url) && text.contains("refused"), "{text}");
    let (_, text) = Running::start(example("redis_client").arg("nonsense")).end();
    assert!(text.starts_with("nonsense: "), "{text}");
}
