//! The part of a command line that says what to run, and the list of what there is.

use super::report::{Order, is_tiny};
use super::{Bench, Effort};
use anyhow::{Context, Result};
use lexopt::prelude::*;
use lexopt::{Arg, Parser};
use std::io::{self, Write};

/// Parses the arguments after `run`. A name that is not one of `all` may stand for several benches (`group`); what is no option here may
/// say the effort (`effort`).
///
/// # Errors
/// A wrong argument; nothing to run.
pub fn parse(
    parser: &mut Parser,
    all: &[&'static Bench],
    group: impl Fn(&str) -> Option<Vec<&'static Bench>>,
    effort: impl Fn(&Arg<'_>) -> Option<Effort>,
) -> Result<Order, lexopt::Error> {
    let names = || all.iter().map(|bench| bench.name).collect::<Vec<_>>().join(", ");
    let mut order = Order { benches: Vec::new(), rivals: false, json: None, effort: Effort::Full };
    while let Some(argument) = parser.next()? {
        match argument {
            Value(name) => {
                let name = name.string()?;
                let meant = meant(&name, all, &group);
                add(meant.ok_or_else(|| format!("no bench `{name}`: there are {}", names()))?, &mut order);
            }
            Long("rivals") => order.rivals = true,
            Long("quick") => order.effort = Effort::Quick,
            Long("json") => order.json = Some(parser.value()?.into()),
            other => order.effort = effort(&other).ok_or_else(|| other.unexpected())?,
        }
    }
    if is_tiny() {
        order.effort = Effort::Tiny;
    }
    if order.benches.is_empty() {
        return Err(format!("nothing to run: name some of {}, or all", names()).into());
    }
    Ok(order)
}

/// The benches that `name` stands for.
fn meant(
    name: &str,
    all: &[&'static Bench],
    group: impl Fn(&str) -> Option<Vec<&'static Bench>>,
) -> Option<Vec<&'static Bench>> {
    if name == "all" {
        return Some(all.to_vec());
    }
    group(name).or_else(|| all.iter().find(|bench| bench.name == name).map(|bench| vec![*bench]))
}

/// A bench that is named twice runs once.
fn add(meant: Vec<&'static Bench>, order: &mut Order) {
    for bench in meant {
        if order.benches.iter().all(|other| other.name != bench.name) {
            order.benches.push(bench);
        }
    }
}

/// Prints the benches, with their variants.
///
/// # Errors
/// If the standard output cannot be written.
pub fn list(all: &[&'static Bench]) -> Result<()> {
    for bench in all {
        let variants: Vec<_> = bench.variants.iter().map(|v| v.name).collect();
        say(&format!("{:<15} {}\n{:15} by {}", bench.name, bench.about, "", variants.join(", ")))?;
    }
    Ok(())
}

/// Prints a line.
///
/// # Errors
/// If the standard output cannot be written.
pub fn say(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("cannot write")
}
