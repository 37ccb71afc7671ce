//! Programs that the compiler must reject, as they would break memory: each function of a file by itself.
//!
//! * `rejected/variance.txt`: how each public type of `lamprey` and `swapstack` varies in each of its parameters, and why it may,
//!   if it does. Two functions are made of each line: one converts the type to a shorter lifetime, one to a longer. The
//!   compiler must reject exactly those that the line forbids. A type that is missing in the table is found in the sources.
//! * `rejected/functions.rs`: functions that each break another rule, with the error that each must get.
//!
//! The other crates have neither pointers nor `unsafe impl`, so the compiler itself knows how their types vary.

mod sources;
mod table;

use crate::outside;
use std::collections::BTreeMap;

/// The errors of a library, by line.
fn errors(place: &str, library: &str) -> BTreeMap<usize, Vec<String>> {
    let args = ["check", "--quiet", "--message-format=short"];
    let Err(text) = outside::cargo(&args, place, library) else { return BTreeMap::new() };
    let mut errors: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for line in text.lines() {
        let Some((at, error)) = line.strip_prefix("src/lib.rs:").and_then(|rest| rest.split_once(": error"))
        else {
            continue;
        };
        let number = at.split(':').next().unwrap().parse().unwrap();
        errors.entry(number).or_default().push(error.to_owned());
    }
    assert!(!errors.is_empty(), "no function was looked at:\n{text}");
    errors
}

/// What is wrong with types and their lines in the table.
fn complain(wrong: &[String]) {
    assert!(wrong.is_empty(), "{} are wrong (tools/programs/rejected):\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_public_type_with_parameters_is_in_the_table() {
    let (found, rows) = (sources::public_types(), table::rows());
    assert!(found.len() > 150, "only {} parameters were found", found.len());
    let listed: Vec<_> = rows.iter().flat_map(table::Row::parameters).collect();
    let mut wrong = Vec::new();
    wrong.extend(
        found.iter().filter(|one| !listed.contains(one)).map(|one| format!("not in the table: {one}")),
    );
    wrong.extend(
        listed.iter().filter(|one| !found.contains(one)).map(|one| format!("not in the sources: {one}")),
    );
    complain(&wrong);
}

#[test]
fn each_type_varies_as_the_table_says() {
    let rows = table::rows();
    let rows: Vec<_> = rows.iter().filter(|row| row.is_probed()).collect();
    let probes = rows.iter().flat_map(|row| row.probes()).enumerate();
    let lines: Vec<_> = probes.map(|(number, probe)| format!("fn probe_{number}{probe}")).collect();
    let library = format!("#![allow(dead_code)]\n{}\n", lines.join("\n"));
    let errors = errors("variance", &library);
    let mut wrong = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let rejected = [2 * at + 2, 2 * at + 3].map(|line| errors.get(&line));
        if rejected.map(|errors| errors.is_some()) != row.rejects() {
            wrong.push(format!("{row:?}: {rejected:?}"));
        }
        // A type that is not there is rejected, too.
        let other =
            |error: &&String| !error.contains("lifetime may not live") && !error.contains("mismatched types");
        wrong.extend(
            rejected.into_iter().flatten().flatten().filter(other).map(|error| format!("{row:?}{error}")),
        );
    }
    complain(&wrong);
}

#[test]
fn each_function_is_rejected() {
    const FUNCTIONS: &str = include_str!("../rejected/functions.rs");
    let errors = errors("functions", FUNCTIONS);
    // The functions with the error that each must get, and whether it got that.
    let mut functions: Vec<(&str, &str, bool)> = Vec::new();
    let (mut wrong, mut of_next) = (Vec::new(), None);
    for (number, line) in (1..).zip(FUNCTIONS.lines()) {
        of_next = line.strip_prefix("//~ ").or(of_next);
        if line.starts_with("fn ")
            && let Some(error) = of_next.take()
        {
            functions.push((line, error, false));
        }
        for error in errors.get(&number).into_iter().flatten() {
            match functions.last_mut() {
                Some((_, expected, is_rejected)) if error.contains(*expected) => *is_rejected = true,
                _ => wrong.push(format!("line {number} is rejected for another reason: {error}")),
            }
        }
    }
    let accepted = functions.iter().filter(|(_, _, is_rejected)| !is_rejected);
    wrong.extend(accepted.map(|(function, error, _)| format!("not rejected with {error}: {function}")));
    assert!(functions.len() > 50, "only {} functions were found", functions.len());
    complain(&wrong);
}
