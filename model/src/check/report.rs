//! What was checked, or what has failed, as text.

use super::smaller::parts;
use super::{Checked, Plan};
use crate::generate::Size;
use crate::machine::rule::{Rule, Tally};
use crate::syntax::{Exp, Node};
use std::fmt;
use std::time::Duration;

/// What was checked.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The programs.
    pub programs: u64,
    /// Those that differ from all others.
    pub distinct: u64,
    /// Those whose computations all ended.
    pub complete: u64,
    /// Those whose outcomes were all found.
    pub enumerated: u64,
    /// Those that have too many states for that. Their runs were checked by replaying them.
    pub too_large: u64,
    /// Those with more than one outcome.
    pub nondeterministic: u64,
    /// Those that ran with hosts for parasites.
    pub replaced: u64,
    /// Those whose outcomes are those of the replaced program.
    pub safe: u64,
    /// The machine's states in those that were enumerated.
    pub states: u64,
    /// How often each rule has fired.
    pub tally: Tally,
    /// How long it took.
    pub elapsed: Duration,
}

/// A program that fails.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What was to be checked.
    pub plan: Plan,
    /// The number of the program that was found.
    pub seed: u64,
    /// The smallest one that fails.
    pub bytes: Vec<u8>,
    /// The same as an expression.
    pub program: Exp,
    /// How it fails.
    pub why: String,
    /// False if it failed once only, and so was not made smaller.
    pub has_failed_again: bool,
}

impl Report {
    pub(super) fn add(&mut self, one: &Checked) {
        self.programs += 1;
        self.complete += u64::from(one.is_complete);
        self.enumerated += u64::from(one.states.is_some() && !one.is_too_large);
        self.too_large += u64::from(one.is_too_large);
        self.nondeterministic += u64::from(one.is_nondeterministic);
        self.replaced += u64::from(one.was_replaced);
        self.safe += u64::from(one.is_safe);
        self.states += one.states.unwrap_or(0) as u64;
    }

    /// Programs in a second.
    pub fn rate(&self) -> f64 {
        self.programs as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// The rules that have not fired.
    pub fn unused(&self) -> Vec<Rule> {
        Rule::ALL.iter().map(|(rule, _)| *rule).filter(|rule| self.tally.count(*rule) == 0).collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        writeln!(f, "{} programs in {seconds:.1} s: {:.0} a second", self.programs, self.rate())?;
        writeln!(f, "{} of them are distinct; in {} all computations ended", self.distinct, self.complete)?;
        writeln!(
            f,
            "of {} all outcomes are known ({} states), of {} there are too many states; {} have several",
            self.enumerated, self.states, self.too_large, self.nondeterministic
        )?;
        writeln!(f, "every run was replayed on the machine: none is undecided")?;
        writeln!(
            f,
            "{} ran with hosts for parasites; the outcomes of {} are those of the replaced program",
            self.replaced, self.safe
        )?;
        for (rule, from) in Rule::ALL {
            write!(f, "\n{:>12}  {:<20}{from}", self.tally.count(*rule), format!("{rule:?}"))?;
        }
        Ok(())
    }
}

impl Counterexample {
    /// The number of commands in the program: what is neither a value nor binds one.
    pub fn commands(&self) -> usize {
        commands(&self.program)
    }
}

fn commands(e: &Exp) -> usize {
    let is_value = matches!(**e, Node::Var(_) | Node::Unit | Node::Const(_) | Node::Lam(..) | Node::App(..));
    usize::from(!is_value) + parts(e).iter().map(commands).sum::<usize>()
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex: String = self.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let size = if self.plan.size == Size::Small { "small" } else { "large" };
        let again = format!(
            "cargo run --release -p lamprey-model -- check --size {size} --workers {}",
            self.plan.workers
        );
        writeln!(
            f,
            "program {} does what the machine does not; made smaller:\n\n{}\n",
            self.seed, self.program
        )?;
        writeln!(f, "{}\n", self.why)?;
        if !self.has_failed_again {
            writeln!(f, "(It has not failed again, so it was not made smaller.)")?;
        }
        writeln!(f, "the one that was found:  LAMPREY_SEED={} {again}", self.seed)?;
        write!(f, "one nearly as small:     LAMPREY_SEED={} {again} --bytes {hex}", self.seed)
    }
}
