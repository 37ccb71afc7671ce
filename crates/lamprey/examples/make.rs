//! A parallel build: tasks that wait for others, as in a makefile.
//!
//! Each task is a host. It waits for the tasks that it needs, which is a variable that is written once for each, then for a
//! seat, and runs its command. What needs a task that failed is not run. A circle is found before anything starts.
//!
//! ```sh
//! cargo run -p lamprey --example make -- build.txt 4
//! ```
//! Each line of the file is `task: needed needed ; shell command`. The second argument is how many commands run at once.
//! Without arguments it builds a house.

use lamprey::process::Command;
use lamprey::sync::Semaphore;
use lamprey::{IVar, scope};
use std::collections::BTreeMap;

const HOUSE: &str = "roof: walls ; echo roof\nwalls: floor ; echo walls\nfloor: ; echo floor\ngarden: ; echo garden\n\
                     house: roof garden ; echo house\n";

#[derive(Debug)]
struct Task {
    needs: Vec<String>,
    command: String,
    /// How it has ended.
    done: IVar<Ended>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Ended {
    Well,
    Failed,
    NotRun,
}

type Tasks = BTreeMap<String, Task>;

fn parse(text: &str) -> Result<Tasks, String> {
    let mut tasks = Tasks::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let parts = line.split_once(':').and_then(|(name, rest)| Some((name.trim(), rest.split_once(';')?)));
        let (name, (needs, command)) = parts.ok_or(format!("not `task: needs ; command`: {line}"))?;
        let needs = needs.split_whitespace().map(str::to_owned).collect();
        let task = Task { needs, command: command.trim().to_owned(), done: IVar::new() };
        if tasks.insert(name.to_owned(), task).is_some() {
            return Err(format!("{name} is there twice"));
        }
    }
    Ok(tasks)
}

/// Whether each task can be done: what it needs is there, and does not need it.
fn check(tasks: &Tasks) -> Result<(), String> {
    fn visit<'a>(
        tasks: &'a Tasks,
        name: &'a str,
        path: &mut Vec<&'a str>,
        seen: &mut Vec<&'a str>,
    ) -> Result<(), String> {
        if path.contains(&name) {
            return Err(format!("a circle: {} {name}", path.join(" ")));
        }
        if seen.contains(&name) {
            return Ok(());
        }
        let task = tasks.get(name).ok_or(format!("there is no task {name}"))?;
        path.push(name);
        task.needs.iter().try_for_each(|need| visit(tasks, need, path, seen))?;
        path.pop();
        seen.push(name);
        Ok(())
    }
    let mut seen = Vec::new();
    tasks.keys().try_for_each(|name| visit(tasks, name, &mut Vec::new(), &mut seen))
}

/// Runs a task when it can be run.
fn run(name: &str, task: &Task, tasks: &Tasks, seats: &Semaphore) -> Ended {
    if task.needs.iter().any(|need| tasks[need].done.get() != Ended::Well) {
        return Ended::NotRun;
    }
    let _seat = seats.acquire(1);
    match Command::new("sh").args(["-c", &task.command]).status() {
        Ok(status) if status.success() => Ended::Well,
        Ok(status) => {
            eprintln!("{name}: {status}");
            Ended::Failed
        }
        Err(error) => {
            eprintln!("{name}: {error}");
            Ended::Failed
        }
    }
}

/// Runs all tasks; how many have ended in each way.
fn build(tasks: &Tasks, at_once: u32) -> [usize; 3] {
    let seats = Semaphore::new(at_once);
    scope(|s| {
        for (name, task) in tasks {
            let seats = &seats;
            s.spawn(move || task.done.put(run(name, task, tasks, seats)));
        }
    });
    let count = |ended| tasks.values().filter(|task| task.done.get() == ended).count();
    [Ended::Well, Ended::Failed, Ended::NotRun].map(count)
}

fn main() -> Result<std::process::ExitCode, Box<dyn std::error::Error + Send + Sync>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next();
    let at_once =
        arguments.next().map_or(Ok(2), |text| text.parse().map_err(|error| format!("{text}: {error}")))?;
    if at_once == 0 {
        return Err("0 commands at once are none".into());
    }
    lamprey::run(|| {
        let text = file.map_or(Ok(HOUSE.to_owned()), lamprey::fs::read_to_string)?;
        let tasks = parse(&text)?;
        check(&tasks)?;
        let [well, failed, not_run] = build(&tasks, at_once);
        println!("{well} done, {failed} failed, {not_run} not run");
        Ok(u8::from(failed > 0).into())
    })
}
