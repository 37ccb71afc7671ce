//! Code of the program that is called from inside of the runtime (the table of call-outs in HACKING.md): what
//! runs freely may block, spawn, use its object again, panic, cancel its thread and end the process; where
//! something is not finished, an attempt ends the process with a message. Never is there a hang, a crash, a
//! value that is lost or doubled. Each place in processes of its own.

use crate::places::{Action, Place, run_cell, watch};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::sync::Mutex;

fn free() -> Vec<&'static Place> {
    use crate::places::{async_code, events, locks, messages, threads, transactions};
    let others = [messages::PLACES, locks::PLACES, transactions::PLACES];
    let all = [threads::PLACES, async_code::PLACES, events::PLACES].into_iter().chain(others);
    all.flatten().collect()
}

fn place(name: &str) -> &'static Place {
    let guarded = crate::places::guarded::PLACES.iter();
    free().into_iter().chain(guarded).find(|place| place.name == name).unwrap()
}

/// `test` as each of these roles.
fn again_as(test: &str, roles: impl Iterator<Item = String>) -> Vec<(Command, String)> {
    roles.map(|role| (crate::common::again(test, &role), role)).collect()
}

/// Runs the commands, each with its role, some at a time; what is wrong about them.
pub fn in_processes(runs: Vec<(Command, String)>, judge: impl Fn(&Output, &str) -> bool + Sync) {
    let (runs, wrong) = (Mutex::new(runs), Mutex::new(Vec::new()));
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                loop {
                    let Some((command, role)) = runs.lock().unwrap().pop() else { break };
                    let (output, text) = crate::common::outcome(command);
                    if !judge(&output, &text) {
                        wrong.lock().unwrap().push(format!("{role}: {:?}\n{text}", output.status));
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `std` itself ends the process where a panic hook panics, and where a destructor does in an unwind; a
/// generator that is dropped unwinds.
fn is_forbidden(place: &Place, action: Action) -> bool {
    action == Action::Panic && ["a panic hook", "a generator that is dropped"].contains(&place.name)
}

#[test]
fn what_runs_freely_may_do_anything() {
    const ME: &str = "what_runs_freely_may_do_anything";
    if let Some(role) = crate::common::role() {
        watch();
        let place = place(&role);
        let actions = Action::ALL.into_iter().filter(|&action| !is_forbidden(place, action));
        return actions
            .for_each(|action| [1, 2].into_iter().for_each(|workers| run_cell(place, action, workers)));
    }
    let roles = free().into_iter().map(|place| place.name.to_owned());
    in_processes(again_as(ME, roles), |output, text| {
        output.status.success() && !text.contains("lamprey: bug")
    });
}

#[test]
fn any_of_it_may_end_the_process() {
    const ME: &str = "any_of_it_may_end_the_process";
    if let Some(role) = crate::common::role() {
        watch();
        run_cell(place(&role), Action::Exit, 1);
        unreachable!("it has not ended the process");
    }
    let guarded = crate::places::guarded::PLACES.iter();
    let roles = free().into_iter().chain(guarded).map(|place| place.name.to_owned());
    in_processes(again_as(ME, roles), |output, text| output.status.success() && text.contains("exits"));
}

#[test]
fn where_something_is_not_finished_it_works_or_ends_the_process_with_a_message() {
    const ME: &str = "where_something_is_not_finished_it_works_or_ends_the_process_with_a_message";
    if let Some(role) = crate::common::role() {
        watch();
        let (name, action) = role.rsplit_once(": ").unwrap();
        return run_cell(place(name), Action::of(action), 1);
    }
    let roles = crate::places::guarded::PLACES
        .iter()
        .flat_map(|place| Action::ALL.map(|action| format!("{}: {action:?}", place.name)));
    in_processes(again_as(ME, roles), |output, text| {
        let refused = output.status.signal() == Some(libc::SIGABRT) && text.contains("lamprey: ");
        (output.status.success() || refused) && !text.contains("lamprey: bug")
    });
}
