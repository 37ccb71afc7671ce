//! `RuntimeBuilder::from_env`. The environment is that of the whole process, so each in one of its own.

use crate::common::{again, outcome, role};
use lamprey::Runtime;

#[test]
fn the_environment_replaces_what_was_set_before() {
    if let Some(role) = role() {
        let builder = Runtime::builder().workers(1);
        let builder = match &*role {
            "after" => builder.from_env().workers(4),
            _ => builder.from_env(),
        };
        match builder.build() {
            Ok(runtime) => eprintln!("workers: {}", runtime.handle().workers()),
            Err(error) => eprintln!("refused: {error}"),
        }
        return;
    }
    for (role, value, says) in [
        ("before", "3", "workers: 3"),
        ("before", "", "workers: 1"),
        ("after", "3", "workers: 4"),
        ("before", "0", "refused: LAMPREY_WORKERS is \"0\": it must be a number from 1 to 1024"),
        // A later call does not make up for it.
        ("after", "none", "refused: LAMPREY_WORKERS is \"none\": it must be a number from 1 to 1024"),
    ] {
        let mut command = again("the_environment_replaces_what_was_set_before", role);
        command.env("LAMPREY_WORKERS", value).env("LAMPREY_SOMETHING", "else");
        let (output, text) = outcome(command);
        assert!(output.status.success(), "{text}");
        assert!(text.contains(says), "{role} {value}: {text}");
    }
}

#[test]
fn run_looks_at_the_environment() {
    if role().is_some() {
        lamprey::run(|| eprintln!("workers: {}", lamprey::Handle::current().unwrap().workers()));
        let builder = Runtime::builder().workers(2).build().unwrap();
        eprintln!("of a builder that was not told: {}", builder.handle().workers());
        return;
    }
    let mut command = again("run_looks_at_the_environment", "run");
    command.env("LAMPREY_WORKERS", "5").env("LAMPREY_STACK_SIZE", "128k").env("LAMPREY_PIN_WORKERS", "on");
    let (output, text) = outcome(command);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("workers: 5") && text.contains("not told: 2"), "{text}");
}
