//! What is answered to which path.

use super::accept::Endpoint;
use super::kept::Kept;
use super::look::{Look, State};
use super::request::Request;
use super::response::{Answer, JSON};
use super::rows::nanoseconds;
use super::{graph, groups, page, rows, scopes};
use crate::inspect::{Dump, found, perfetto, recording};
use crate::sched::inspect::cycles;
use crate::sched::inspect::groups::Groups;
use crate::sched::inspect::runtimes;
use crate::sched::shared::Shared;
use crate::sched::stats::Stats;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Answers that take a while, as they were last: each is made once at a time.
#[derive(Default)]
pub(super) struct Answers {
    bare: Kept<Look>,
    full: Kept<Look>,
    stuck: Kept<String>,
    dump: Kept<String>,
    stacks: Kept<String>,
    /// Held while a recording, or the stack of one thread, is asked for.
    single: Mutex<()>,
}

impl Answers {
    fn look(&self, stacks: bool) -> Arc<Look> {
        if stacks { self.full.get(|| Look::take(true)) } else { self.bare.get(|| Look::take(false)) }
    }

    fn single(&self) -> MutexGuard<'_, ()> {
        self.single.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn forget(&self) {
        [&self.bare, &self.full].into_iter().for_each(Kept::forget);
        [&self.stuck, &self.dump, &self.stacks].into_iter().for_each(Kept::forget);
    }
}

pub(super) fn answer(request: &Request, endpoint: &Endpoint) -> Answer {
    try_answer(request, endpoint).unwrap_or_else(|error| error)
}

fn try_answer(request: &Request, endpoint: &Endpoint) -> Result<Answer, Answer> {
    let answers = &endpoint.answers;
    let look = |stacks| answers.look(stacks);
    Ok(match &*request.path {
        "/" => Answer::new(page::PAGE.0, page::PAGE.1),
        "/api/v1/summary" => Answer::json(&summary(&look(false))),
        "/api/v1/groups" => Answer::json(&groups::json(&look(request.value("stacks") == Some("1")))),
        "/api/v1/threads" => Answer::json(&rows::page(request, &look(false))?),
        "/api/v1/graph" => Answer::json(&graph::json(&look(false))),
        "/api/v1/scopes" => Answer::json(&scopes::json(&look(false))),
        "/api/v1/metrics" => metrics(endpoint)?,
        "/api/v1/stuck" => Answer::new(JSON, answers.stuck.get(|| stuck().to_string()).as_bytes().to_vec()),
        "/api/v1/dump" => Answer::text(answers.dump.get(dump).to_string()),
        "/api/v1/stacks" => Answer::text(answers.stacks.get(stacks).to_string()),
        "/api/v1/recording" => {
            let _single = answers.single();
            recorded(request)?
        }
        path => match path.strip_prefix("/api/v1/thread/") {
            Some(id) => {
                let _single = answers.single();
                Answer::json(&rows::one(request, id)?)
            }
            None => {
                let (kind, content) =
                    page::asset(path).ok_or_else(|| Answer::error(404, format!("nothing is at `{path}`")))?;
                Answer::new(kind, content)
            }
        },
    })
}

fn dump() -> String {
    format!("{}\n", Dump(Groups::of(found())))
}

fn stacks() -> String {
    crate::inspect::stacks::of_all().to_string()
}

fn stuck() -> Value {
    let all = cycles::find_all(&runtimes::all());
    let class = |stuck: &cycles::Stuck| if stuck.is_certain() { "certain" } else { "possible" };
    let one = |stuck: &cycles::Stuck| json!({ "class": class(stuck), "text": stuck.to_string() });
    json!({ "stuck": all.iter().map(one).collect::<Vec<_>>() })
}

fn metrics(endpoint: &Endpoint) -> Result<Answer, Answer> {
    let metrics = endpoint.metrics.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let none = || Answer::error(404, "the program has not said how: see inspect::Server::metrics".to_owned());
    let metrics = metrics.ok_or_else(none)?;
    Ok(Answer::new("text/plain; version=0.0.4; charset=utf-8", metrics().into_bytes()))
}

fn recorded(request: &Request) -> Result<Answer, Answer> {
    match request.value("format").unwrap_or("text") {
        "text" => Ok(Answer::text(format!("{:#}", recording()))),
        "perfetto" => Ok(Answer::new(JSON, perfetto::trace(&recording()).into_bytes())),
        #[cfg(feature = "dial9")]
        "dial9" => Ok(Answer::new("application/octet-stream", crate::inspect::dial9::trace(&recording()))),
        #[cfg(not(feature = "dial9"))]
        "dial9" => {
            Err(Answer::error(404, "the program is built without the feature `dial9` of lamprey".to_owned()))
        }
        "why" => {
            let thread = request.value("thread").and_then(|thread| thread.parse().ok());
            let thread = thread
                .ok_or_else(|| Answer::error(400, "format=why: thread=ID says of which thread".to_owned()))?;
            let recording = match request.value("runtime").map(str::parse) {
                None => recording(),
                Some(Ok(runtime)) => recording().seen_from(runtime),
                Some(Err(_)) => return Err(Answer::error(400, "runtime=N: write a number".to_owned())),
            };
            Ok(Answer::text(recording.why(thread, ..).to_string()))
        }
        format => Err(Answer::error(400, format!("format={format}: write text, why, perfetto or dial9"))),
    }
}

fn summary(look: &Look) -> Value {
    let (mut hosts, mut states) = (0, BTreeMap::from([("ready", 0), ("running", 0), ("waiting", 0)]));
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for group in &look.groups {
        if group.kind == super::look::Kind::Host {
            hosts += group.count;
        }
        *states.entry(group.state.text()).or_default() += group.count;
        if let Some(reason) = groups::reason(group.state) {
            *reasons.entry(reason).or_default() += group.count;
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let reason = |(reason, count)| json!({ "reason": reason, "count": count });
    let program = std::env::current_exe().ok();
    let program = program.and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let runtimes = look.runtimes.iter().enumerate();
    json!({
        "v": 1,
        "system": "lamprey",
        "version": env!("CARGO_PKG_VERSION"),
        "program": program,
        "pid": std::process::id(),
        "uptime_ns": look.runtimes.first().map(|oldest| nanoseconds(oldest.age())),
        "now_unix_ms": u64::try_from(now.as_millis()).unwrap_or(u64::MAX),
        "threads": look.threads(),
        "hosts": hosts,
        "parasites": look.threads() - hosts,
        "states": states,
        "reasons": reasons.into_iter().map(reason).collect::<Vec<_>>(),
        "runtimes": runtimes.map(|(number, shared)| runtime(look, number, shared)).collect::<Vec<_>>(),
    })
}

fn runtime(look: &Look, number: usize, shared: &Shared) -> Value {
    let workers = shared.remotes().iter().map(|remote| {
        let its = || look.rows.iter().filter(|row| row.runtime == number && row.row.thread().worker() == Some(remote.index));
        let running = its().find(|row| row.state == State::Running);
        let ready = its().filter(|row| row.state == State::Ready).map(|row| row.row.count()).sum::<usize>();
        let unstarted = remote.unstarted.look();
        json!({
            "id": remote.index,
            "ready": ready + unstarted.tail.wrapping_sub(unstarted.head),
            "living": its().map(|row| row.row.count()).sum::<usize>(),
            "running": running.map(|row| json!({ "id": row.row.thread().id().to_string(), "name": row.row.thread().name() })),
            "held_ns": running.and_then(|row| row.row.held()).map(nanoseconds),
        })
    });
    json!({ "id": number, "workers": workers.collect::<Vec<_>>(), "stats": stats(&shared.stats()) })
}

fn stats(stats: &Stats) -> Value {
    let counts = [
        ("hosts", stats.hosts),
        ("stackless", stats.stackless),
        ("stackful", stats.stackful),
        ("reified", stats.reified),
        ("attached", stats.attached),
        ("spilled", stats.spilled),
        ("inflated", stats.inflated),
        ("offered", stats.offered),
        ("communications", stats.communications),
        ("sent", stats.sent),
        ("stolen", stats.stolen),
        ("sleeps", stats.sleeps),
    ];
    let mut all: Map<String, Value> =
        counts.into_iter().map(|(name, count)| (name.to_owned(), count.into())).collect();
    let pools = [
        ("blocking", stats.blocking),
        ("files", stats.files),
        ("lookups", stats.lookups),
        ("compute", stats.compute),
    ];
    let pools = pools.map(|(name, pool)| {
        let pool =
            json!({ "threads": pool.threads, "idle": pool.idle, "queued": pool.queued, "calls": pool.calls });
        (name.to_owned(), pool)
    });
    all.insert("pools".to_owned(), Value::Object(pools.into_iter().collect()));
    Value::Object(all)
}
