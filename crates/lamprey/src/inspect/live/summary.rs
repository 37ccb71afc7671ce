//! The program as a whole: its threads by state and reason, its workers, what they have counted.

use super::groups;
use super::look::{Kind, Look, State};
use super::rows::nanoseconds;
use crate::sched::shared::Shared;
use crate::sched::stats::Stats;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The answer to `/api/v1/summary`.
pub(super) fn json(look: &Look) -> Value {
    let unstarted = look.unstarted();
    let (mut hosts, mut states) = (unstarted, BTreeMap::from(State::TEXTS.map(|state| (state, 0))));
    *states.entry(State::Ready.text()).or_default() += unstarted;
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for group in &look.groups {
        if group.kind == Kind::Host {
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
        "threads": look.threads() + unstarted,
        "hosts": hosts,
        "parasites": look.threads() + unstarted - hosts,
        "unstarted": unstarted,
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
        let unstarted = look.unstarted[number].get(remote.index).copied().unwrap_or_default();
        json!({
            "id": remote.index,
            "ready": ready + unstarted,
            "living": its().map(|row| row.row.count()).sum::<usize>() + unstarted,
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
