//! `examples/sqlx_postgres.rs` against a PostgreSQL of the test's own, in a temporary folder.

use interop::peer::{Running, example, free_port, output, program};
use std::fs;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A server; it ends with this value, before its folder.
struct Postgres {
    server: Running,
    url: String,
    _folder: tempfile::TempDir,
}

/// The user and group that PostgreSQL runs as, if the test is run by root, as whom it refuses to.
fn user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let line = users.lines().find(|line| line.starts_with("postgres:"));
    let mut fields = line.expect("Debian's package `postgresql` makes a user `postgres`").split(':');
    let mut number = |n| fields.nth(n).unwrap().parse().unwrap();
    Some((number(2), number(0)))
}

fn start() -> Postgres {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().to_str().unwrap();
    let user = user();
    let command = |name: &str| {
        let mut command = Command::new(program(name));
        command.current_dir(place);
        if let Some((user, group)) = user {
            command.uid(user).gid(group);
        }
        command
    };
    if let Some((user, group)) = user {
        chown(folder.path(), Some(user), Some(group)).unwrap();
    }
    let data = format!("{place}/data");
    output(command("initdb").args(["-D", &data, "-U", "lamprey", "-A", "trust", "--no-sync"]));
    let port = free_port().to_string();
    let mut server = command("postgres");
    server.args(["-D", &data, "-k", place, "-h", "127.0.0.1", "-p", &port, "-c", "fsync=off"]);
    let mut server = Running::start(&mut server);
    server.line_with("database system is ready to accept connections");
    Postgres { server, url: format!("postgres://lamprey@127.0.0.1:{port}/postgres"), _folder: folder }
}

#[test]
fn jobs_are_put_and_taken_once_each() {
    let mut postgres = start();
    let text = output(example("sqlx_postgres").args([&postgres.url, "200"]));
    // The sum of the squares of 1..=200.
    assert_eq!(text, "200 jobs done, 200 in the table, sum 2686700\n");
    // The server has lost no connection by itself: it ends at once, because none is left.
    postgres.server.terminate();
    postgres.server.line_with("database system is shut down");
}

#[test]
fn a_server_that_is_not_there_is_said() {
    let url = format!("postgres://lamprey@127.0.0.1:{}/postgres", free_port());
    let (status, text) = Running::start(example("sqlx_postgres").arg(&url)).end();
    assert!(!status.success());
    assert!(text.contains(&url) && text.contains("Connection refused"), "{text}");
}
