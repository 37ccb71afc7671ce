//! `#[lamprey::main]` and `run_with`.

use crate::common::{again, outcome, rerun, role};
use std::process::ExitCode;

mod plain {
    #[lamprey::main]
    pub fn main() {
        assert_eq!(lamprey::spawn(|| 1 + 1).join().unwrap(), 2);
    }
}

mod awaiting {
    #[lamprey::main(workers = 3, from_env = false)]
    pub(super) async fn main() -> Result<(), Box<dyn std::error::Error>> {
        let (tx, rx) = lamprey::channel();
        let _sender = lamprey::parasite(async move { tx.send_async("42").await });
        assert_eq!(rx.recv_async().await?.parse::<u32>()?, 42);
        assert_eq!(lamprey::Handle::current().unwrap().workers(), 3);
        if crate::common::role().is_some() { Err("no bread".into()) } else { Ok(()) }
    }
}

mod code {
    #[other::main(crate = ::other)]
    pub fn main() -> std::process::ExitCode {
        std::process::ExitCode::from(7)
    }
}

#[test]
fn main_ends_as_its_output_says() {
    assert_eq!(plain::main(), ExitCode::SUCCESS);
    assert_eq!(awaiting::main(), ExitCode::SUCCESS);
    assert_eq!(code::main(), ExitCode::from(7));
}

#[test]
fn an_error_is_printed() {
    if role().is_some() {
        assert_eq!(awaiting::main(), ExitCode::FAILURE);
        return;
    }
    let (output, text) = rerun("an_error_is_printed", "fail");
    assert!(output.status.success(), "{text}");
    assert!(text.contains("Error: \"no bread\""), "{text}");
}

#[test]
fn a_bad_environment_is_told() {
    if let Some(role) = role() {
        match &*role {
            "main" => assert_eq!(plain::main(), ExitCode::FAILURE),
            // It does not look.
            "deaf" => assert_eq!(awaiting::main(), ExitCode::FAILURE),
            _ => lamprey::run(|| ()),
        }
        return;
    }
    let bad = "LAMPREY_PANICS is \"loud\": it must be `report`, `propagate` or `abort`";
    for (role, passes, told) in [("main", true, true), ("deaf", true, false), ("run", false, true)] {
        let mut command = again("a_bad_environment_is_told", role);
        command.env("LAMPREY_PANICS", "loud");
        let (output, text) = outcome(command);
        assert_eq!(output.status.success(), passes, "{role}: {text}");
        assert_eq!(text.contains(bad), told, "{role}: {text}");
    }
}

#[test]
fn run_with_has_errors_instead_of_panics() {
    let builder = || lamprey::Runtime::builder();
    let mut seen = 0;
    lamprey::run_with(builder().workers(2), || seen = lamprey::Handle::current().unwrap().workers()).unwrap();
    assert_eq!(seen, 2);
    let error = lamprey::run_with(builder().workers(0), || unreachable!("it ran")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
}

/// Whether it comes before `main` returns or just after it depends on the machine.
#[test]
#[should_panic(expected = "in the background")]
fn a_panic_that_is_propagated_while_the_program_ends_counts() {
    let builder = lamprey::Runtime::builder().workers(2).panics(lamprey::Panics::Propagate);
    lamprey::run_with(builder, || {
        let (tell, told) = lamprey::oneshot();
        lamprey::spawn(move || {
            tell.send(()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(100));
            panic!("in the background");
        });
        told.recv().unwrap();
    })
    .unwrap();
}
