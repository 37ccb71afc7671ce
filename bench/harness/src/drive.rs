//! Runs a bench: a warm-up, then rounds in which every variant has one run, so that a slow minute of the
//! machine affects all of them.

use super::process::Variant as Process;
use super::record::{Measured, Missing};
use super::stats::Summary;
use super::{Bench, Code, Effort, Sample, Size, Variant, programs};
use anyhow::Result;
use std::process::Command;
use std::time::Duration;

/// The maximum number of operations in a run, however short it is.
const MOST: u64 = 1 << 40;

/// The outcome of a bench.
#[derive(Default)]
pub struct Outcome {
    /// One for each metric of each variant that ran.
    pub measured: Vec<Measured>,
    /// One for each variant that did not.
    pub missing: Vec<Missing>,
}

/// Runs `bench`.
pub fn measure(bench: &Bench, effort: Effort, with_rivals: bool) -> Outcome {
    let variants = bench.variants.iter().filter(|v| with_rivals || !v.rival);
    let pairs = variants.flat_map(|v| bench.workers.iter().map(move |w| (v, *w)));
    let mut contenders: Vec<_> = pairs.map(|(v, w)| Contender::new(bench, v, w, effort)).collect();
    contenders.iter_mut().for_each(|c| c.attempt(|c| c.warm_up(effort)));
    for _ in 0..runs(bench, effort) {
        contenders.iter_mut().for_each(|c| c.attempt(Contender::run));
    }
    let mut outcome = Outcome::default();
    contenders.iter().for_each(|c| c.conclude(&contenders, &mut outcome));
    outcome
}

fn runs(bench: &Bench, effort: Effort) -> usize {
    match effort {
        Effort::Full => bench.runs,
        Effort::Quick => 3,
        Effort::Tiny => 1,
    }
}

/// The maximum number of operations of a tiny run. More of them, each with a `sched_yield` of a thousand OS
/// threads, take minutes on a busy machine.
const TINY: u64 = 1 << 12;

/// One variant with one number of workers.
struct Contender<'a> {
    bench: &'a Bench,
    variant: &'a Variant,
    workers: usize,
    /// Kept between runs, except for benches of a fixed size.
    process: Option<Process>,
    /// Operations in a run.
    size: u64,
    samples: Vec<Sample>,
    missing: Option<(bool, String)>,
}

impl<'a> Contender<'a> {
    fn new(bench: &'a Bench, variant: &'a Variant, workers: usize, effort: Effort) -> Self {
        let missing = match variant.code {
            Code::Here(_) => None,
            Code::Around(program, _) => programs::find(program).err(),
            Code::Go => programs::go::program().err(),
            Code::Boost => programs::boost::program().err(),
            Code::Ghc => programs::ghc::program().err(),
            Code::Simulators if effort == Effort::Tiny => programs::simulators::built().err(),
            Code::Simulators => programs::simulators::program().err(),
        };
        let missing = missing.map(|e| (true, format!("{e:#}")));
        Self { bench, variant, workers, process: None, size: 0, samples: Vec::new(), missing }
    }

    /// Does a step, unless an earlier one failed.
    fn attempt(&mut self, step: impl FnOnce(&mut Self) -> Result<()>) {
        if self.missing.is_some() {
            return;
        }
        if let Err(e) = step(self) {
            self.missing = Some((false, format!("{e:#}")));
            self.process = None;
        }
    }

    /// Finds the size of a run. Does nothing for benches that must not be warm.
    fn warm_up(&mut self, effort: Effort) -> Result<()> {
        self.size = self.bench.size.given(effort).unwrap_or_default();
        let (first, goal) = match self.bench.size {
            Size::Exactly { .. } => return Ok(()),
            Size::Kept { .. } => {
                let mut process = self.start()?;
                if effort != Effort::Tiny {
                    process.run(self.size)?;
                }
                self.process = Some(process);
                return Ok(());
            }
            Size::UntilTakes { first, goal } => (first, goal),
        };
        let goal = match effort {
            Effort::Full => goal,
            Effort::Quick => goal / 5,
            Effort::Tiny => Duration::ZERO,
        };
        let mut process = self.start()?;
        self.size = if effort == Effort::Tiny { first.min(TINY) } else { first };
        loop {
            let (took, _) = process.run(self.size)?;
            if took >= goal || self.size >= MOST {
                break;
            }
            let short = goal.as_secs_f64() / took.as_secs_f64().max(1e-6);
            self.size *= (short * 1.1).ceil().clamp(2.0, 16.0) as u64;
        }
        self.process = Some(process);
        Ok(())
    }

    fn run(&mut self) -> Result<()> {
        let (_, samples) = match &mut self.process {
            Some(process) => process.run(self.size)?,
            None => self.start()?.run(self.size)?,
        };
        self.samples.extend(samples);
        Ok(())
    }

    fn start(&self) -> Result<Process> {
        Process::start(&mut self.command()?)
    }

    fn command(&self) -> Result<Command> {
        let mut command = match self.variant.code {
            Code::Go => Command::new(programs::go::program()?),
            Code::Boost => Command::new(programs::boost::program()?),
            Code::Ghc => Command::new(programs::ghc::program()?),
            Code::Simulators => Command::new(programs::simulators::built()?),
            Code::Here(_) | Code::Around(..) => {
                let mut command = Command::new(std::env::current_exe()?);
                command.arg("child");
                command
            }
        };
        command.arg(self.bench.name);
        if !matches!(self.variant.code, Code::Go | Code::Boost | Code::Ghc) {
            command.arg(self.variant.name);
        }
        command.arg(self.workers.to_string()).envs(self.variant.io.map(|io| ("LAMPREY_IO", io)));
        Ok(command)
    }

    /// What the runs have said about a metric, in their order.
    fn values(&self, metric: &str) -> Vec<f64> {
        self.samples.iter().filter(|s| s.metric == metric).map(|s| s.value).collect()
    }

    fn conclude(&self, all: &[Self], outcome: &mut Outcome) {
        let (bench, variant) = (self.bench.name.to_owned(), self.variant.name.to_owned());
        let workers = self.workers;
        if let Some((skipped, error)) = self.missing.clone() {
            outcome.missing.push(Missing { bench, variant, workers, skipped, error });
            return;
        }
        let mut metrics: Vec<(&str, &str)> = Vec::new();
        for s in &self.samples {
            if !metrics.contains(&(&s.metric, &s.unit)) {
                metrics.push((&s.metric, &s.unit));
            }
        }
        for (metric, unit) in metrics {
            let values = self.values(metric);
            let first = all.iter().find(|c| c.workers == workers && c.missing.is_none());
            let paired = first.filter(|first| !std::ptr::eq(*first, self)).and_then(|first| {
                let pairs = values.iter().zip(first.values(metric));
                Summary::of(&pairs.map(|(value, of_first)| value / of_first).collect::<Vec<_>>())
            });
            let paired = paired.map(|quotients| quotients.median).filter(|quotient| quotient.is_finite());
            let Some(Summary { min, median, runs }) = Summary::of(&values) else { continue };
            let (bench, variant) = (bench.clone(), variant.clone());
            let (metric, unit) = (metric.to_owned(), unit.to_owned());
            outcome.measured.push(Measured {
                bench,
                variant,
                workers,
                metric,
                unit,
                min,
                median,
                runs,
                paired,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_told_its_back_end() {
        let variant = Variant::ours("lamprey", |_| Ok(Box::new(|_| Ok(Vec::new()))));
        let told = |variant: &Variant| {
            let bench = Bench {
                name: "b",
                about: "",
                workers: &[1],
                size: Size::Exactly { full: 1, quick: 1, tiny: 1 },
                runs: 1,
                variants: &[],
            };
            let command = Contender::new(&bench, variant, 1, Effort::Tiny).command().unwrap();
            command.get_envs().any(|told| told == ("LAMPREY_IO".as_ref(), Some("uring".as_ref())))
        };
        assert!(!told(&variant));
        assert!(told(&variant.io("uring")));
    }
}
