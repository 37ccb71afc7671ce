//! What an endpoint answers, as far as it is shown. Fields that are not there are empty: endpoints of other versions have others.

use serde_json::Value;

/// What to ask for, beside the summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    Groups,
    /// Threads of a group, or all, from `offset` on.
    Threads {
        group: Option<String>,
        search: String,
        offset: usize,
    },
    /// One thread, with its stack.
    Thread {
        id: String,
        runtime: u64,
    },
    Stuck,
}

/// How many threads are asked for at a time.
pub const PAGE: usize = 300;

impl Query {
    pub fn path(&self) -> String {
        match self {
            Self::Groups => "/api/v1/groups".to_owned(),
            Self::Threads { group, search, offset } => {
                let group = group.as_ref().map_or_else(String::new, |key| format!("&group={}", escaped(key)));
                format!("/api/v1/threads?offset={offset}&limit={PAGE}&search={}{group}", escaped(search))
            }
            Self::Thread { id, runtime } => format!("/api/v1/thread/{}?runtime={runtime}", escaped(id)),
            Self::Stuck => "/api/v1/stuck".to_owned(),
        }
    }

    pub fn content(&self, answer: &Value) -> Content {
        match self {
            Self::Groups => Content::Groups {
                groups: list(&answer["groups"]).map(Group::of).collect(),
                missing: missing(answer),
            },
            Self::Threads { offset, search, .. } => Content::Threads(Page {
                search: search.clone(),
                offset: *offset,
                total: number(&answer["total"]) as usize,
                threads: list(&answer["threads"]).map(Thread::of).collect(),
            }),
            Self::Thread { .. } => Content::Text(Thread::of(answer).told(&answer["stack"])),
            Self::Stuck => Content::Text(stuck(answer)),
        }
    }
}

/// A part of an address, with what is no letter or digit as `%XX`.
fn escaped(text: &str) -> String {
    let one = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// An answer to a query.
pub enum Content {
    Groups { groups: Vec<Group>, missing: Vec<String> },
    Threads(Page),
    Text(Vec<String>),
}

/// Threads, from the place `offset` on among `total`.
#[derive(Default)]
pub struct Page {
    /// What was searched for.
    pub search: String,
    pub offset: usize,
    pub total: usize,
    pub threads: Vec<Thread>,
}

#[derive(Default)]
pub struct Summary {
    pub head: String,
    pub threads: u64,
    pub hosts: u64,
    pub parasites: u64,
    /// Running, ready, waiting.
    pub states: [u64; 3],
    /// How many of those that are ready have not started.
    pub unstarted: u64,
    pub workers: Vec<Worker>,
    /// What has been counted so far: sums over the runtimes.
    pub counts: Vec<(String, u64)>,
    pub pools: Vec<Pool>,
    /// How late ready threads run: half of them within, 99 of 100 within, all within so many nanoseconds.
    pub delays: Option<[u64; 3]>,
}

pub struct Worker {
    pub name: String,
    pub ready: u64,
    /// Threads that belong to it; those of a JVM belong to none.
    pub living: Option<u64>,
    pub running: String,
    pub held: Option<u64>,
}

pub struct Pool {
    pub name: String,
    pub threads: u64,
    pub idle: u64,
    pub queued: u64,
}

#[derive(Debug, Clone, Default)]
pub struct Group {
    pub key: String,
    pub count: u64,
    pub kind: String,
    pub state: String,
    pub reason: String,
    pub site: String,
    pub names: Vec<String>,
    pub oldest: Option<u64>,
    /// What it waits on, and for whom.
    pub on: String,
}

#[derive(Default)]
pub struct Thread {
    pub id: String,
    pub runtime: u64,
    pub name: String,
    pub kind: String,
    pub state: String,
    pub reason: String,
    pub waiting: Option<u64>,
    pub site: String,
    pub worker: String,
    pub count: u64,
    pub on: String,
    blockers: Vec<String>,
    parent: String,
    scope: String,
}

pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().map_or(&[][..], Vec::as_slice).iter()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> u64 {
    some_number(value).unwrap_or_default()
}

/// Some endpoints write numbers as text.
fn some_number(value: &Value) -> Option<u64> {
    value
        .as_u64()
        .or_else(|| value.as_str()?.parse().ok())
        .or_else(|| value.as_f64().map(|number| number as u64))
}

/// A thread that is referred to: its number, name or text.
fn referred(value: &Value) -> String {
    if !value.is_object() {
        return text(value);
    }
    let name = text(&value["name"]);
    let name = if name.is_empty() { name } else { format!("`{name}`") };
    let parts = [text(&value["id"]), name, text(&value["why"]), text(&value["site"])];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

impl Summary {
    pub fn of(value: &Value) -> Self {
        let runtimes = || list(&value["runtimes"]);
        let is_one = runtimes().count() < 2;
        let worker = |runtime: &Value, worker: &Value| Worker {
            name: match is_one {
                true => text(&worker["id"]),
                false => format!("{}/{}", text(&runtime["id"]), text(&worker["id"])),
            },
            ready: number(&worker["ready"]),
            living: some_number(&worker["living"]),
            running: referred(&worker["running"]),
            held: some_number(&worker["held_ns"]),
        };
        let workers =
            runtimes().flat_map(|runtime| list(&runtime["workers"]).map(move |one| worker(runtime, one)));
        let (mut counts, mut pools) = (Vec::new(), Vec::new());
        for runtime in runtimes() {
            add_counts(&mut counts, &runtime["stats"]);
            pools.extend(runtime["stats"]["pools"].as_object().into_iter().flatten().map(|(name, pool)| {
                Pool {
                    name: name.clone(),
                    threads: number(&pool["threads"]),
                    idle: number(&pool["idle"]),
                    queued: number(&pool["queued"]),
                }
            }));
        }
        let of = |names: [&str; 3], value: &Value| names.map(|name| number(&value[name]));
        let uptime = some_number(&value["uptime_ns"])
            .map_or_else(String::new, |time| format!(", up {}", crate::text::time(time)));
        Self {
            head: format!(
                "{} (process {}, {} {}){uptime}",
                text(&value["program"]),
                text(&value["pid"]),
                text(&value["system"]),
                text(&value["version"])
            ),
            threads: number(&value["threads"]),
            hosts: number(&value["hosts"]),
            parasites: number(&value["parasites"]),
            states: of(["running", "ready", "waiting"], &value["states"]),
            unstarted: number(&value["unstarted"]),
            workers: workers.collect(),
            counts,
            pools,
            delays: value["delay"].is_object().then(|| of(["p50_ns", "p99_ns", "max_ns"], &value["delay"])),
        }
    }
}

fn add_counts(counts: &mut Vec<(String, u64)>, stats: &Value) {
    for (name, value) in stats.as_object().into_iter().flatten() {
        let Some(value) = value.as_u64() else { continue };
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += value,
            None => counts.push((name.clone(), value)),
        }
    }
}

impl Group {
    fn of(value: &Value) -> Self {
        Self {
            key: text(&value["key"]),
            count: number(&value["count"]),
            kind: text(&value["kind"]),
            state: text(&value["state"]),
            reason: text(&value["reason"]),
            site: text(&value["site"]),
            names: list(&value["names"]).map(text).collect(),
            oldest: some_number(&value["oldest_ns"]),
            on: on(value),
        }
    }

    /// The reason for which it waits, or else its state.
    pub fn doing(&self) -> &str {
        doing(&self.reason, &self.state)
    }

    pub fn has(&self, search: &str) -> bool {
        let all =
            [&self.kind, &self.state, &self.reason, &self.site, &self.on].into_iter().chain(&self.names);
        all.into_iter().any(|text| text.to_lowercase().contains(search))
    }
}

fn doing<'a>(reason: &'a str, state: &'a str) -> &'a str {
    if reason.is_empty() { state } else { reason }
}

fn on(value: &Value) -> String {
    let blockers = list(&value["blockers"]).map(referred);
    let all: Vec<_> =
        std::iter::once(text(&value["on"])).chain(blockers).filter(|text| !text.is_empty()).collect();
    all.join("; ")
}

impl Thread {
    fn of(value: &Value) -> Self {
        Self {
            id: text(&value["id"]),
            runtime: number(&value["runtime"]),
            name: text(&value["name"]),
            kind: text(&value["kind"]),
            state: text(&value["state"]),
            reason: text(&value["reason"]),
            waiting: some_number(&value["waiting_ns"]),
            site: text(&value["site"]),
            worker: text(&value["worker"]),
            count: some_number(&value["count"]).unwrap_or(1),
            on: on(value),
            blockers: list(&value["blockers"]).map(referred).collect(),
            parent: referred(&value["parent"]),
            scope: referred(&value["scope"]),
        }
    }

    /// The reason for which it waits, or else its state.
    pub fn doing(&self) -> &str {
        doing(&self.reason, &self.state)
    }

    /// All that is known of it, and its stack.
    fn told(&self, stack: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |what: &str, text: &str| {
            if !text.is_empty() {
                lines.push(format!("{what:<10} {text}"));
            }
        };
        say(&self.kind, &format!("{} {}", self.id, self.name));
        say(
            "does",
            &format!(
                "{}{}",
                self.doing(),
                self.waiting.map_or_else(String::new, |time| format!(" for {}", crate::text::time(time)))
            ),
        );
        say("worker", &self.worker);
        say("spawned at", &self.site);
        say("parent", &self.parent);
        say("scope", &self.scope);
        if self.blockers.is_empty() {
            say("waits on", &self.on);
        }
        self.blockers.iter().for_each(|blocker| say("waits for", blocker));
        lines.push(String::new());
        for (number, frame) in list(stack).enumerate() {
            match frame.as_object() {
                None => lines.push(format!("{number:>3}: {}", text(frame))),
                Some(_) => {
                    lines.push(format!("{number:>3}: {}", text(&frame["function"])));
                    let (file, line) = (text(&frame["file"]), text(&frame["line"]));
                    if !file.is_empty() {
                        lines.push(format!("       at {file}:{line}"));
                    }
                }
            }
        }
        if list(stack).next().is_none() {
            lines.push("(its stack is not known)".to_owned());
        }
        lines
    }
}

/// What the list of groups does not have.
fn missing(answer: &Value) -> Vec<String> {
    let more = number(&answer["more"]);
    let more =
        (more != 0).then(|| format!("{} with fewer threads not listed", crate::text::counted(more, "group")));
    list(&answer["missing"]).map(text).chain(more).collect()
}

fn stuck(answer: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for stuck in list(&answer["stuck"]) {
        lines.extend(
            format!("{}: {}", text(&stuck["class"]), text(&stuck["text"])).lines().map(str::to_owned),
        );
        lines.push(String::new());
    }
    if lines.is_empty() {
        lines.push("No threads that wait for each other are known.".to_owned());
    }
    lines
}
