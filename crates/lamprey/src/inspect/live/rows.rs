//! Single threads: a page of a list, and one with its stack.

use super::groups::{key_text, reason};
use super::look::{Look, Row};
use super::request::Request;
use super::response::Answer;
use crate::inspect::{Blocker, Parent, ThreadRow};
use crate::sched::info::ThreadInfo;
use serde_json::{Value, json};
use std::time::Duration;

/// How many threads are told at a time, if nothing else is asked for, and at most.
const LIMIT: usize = 100;
const MOST: usize = 1000;

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

impl Row {
    fn json(&self) -> Value {
        let Self { runtime, kind, state, group, row, .. } = self;
        let thread = row.thread();
        json!({
            "id": thread.id().to_string(),
            "name": thread.name(),
            "kind": kind.text(),
            "count": row.count(),
            "state": state.text(),
            "reason": reason(*state),
            "waiting_ns": row.waiting().map(nanoseconds),
            "held_ns": row.held().map(nanoseconds),
            "site": thread.spawn_site().map(|site| site.to_string()),
            "worker": thread.worker(),
            "runtime": runtime,
            "group": key_text(*group),
            "on": row.text_of_on(true),
            "blockers": row.blockers().iter().map(blocker).collect::<Vec<_>>(),
            "parent": row.parent().map(parent),
            "scope": row.scope().map(|scope| json!({ "id": scope.id().to_string(), "site": scope.site().to_string() })),
        })
    }

    /// True if `text`, in small letters, is in its number, name, spawn site or reason.
    fn has(&self, text: &str) -> bool {
        let has = |part: &str| part.to_lowercase().contains(text);
        let thread = self.row.thread();
        thread.name().is_some_and(has)
            || thread.id().to_string() == text
            || reason(self.state).is_some_and(|reason| has(&reason))
            || thread.spawn_site().is_some_and(|site| has(&site.to_string()))
    }
}

fn parent(parent: &Parent) -> Value {
    json!({ "id": parent.id().to_string(), "name": parent.thread().and_then(ThreadInfo::name) })
}

fn blocker(blocker: &Blocker) -> Value {
    let why = match blocker.lock_site() {
        Some(site) => format!("has held it since {site}"),
        None => "is joined".to_owned(),
    };
    json!({ "id": blocker.thread().id().to_string(), "name": blocker.thread().name(), "why": why })
}

/// The calls on a thread's stack, the innermost first.
pub(super) fn frames(row: &ThreadRow, all: bool) -> Vec<Value> {
    let frames = row.stack().frames(all).into_iter();
    frames
        .map(|frame| json!({ "function": frame.function, "file": frame.file, "line": frame.line }))
        .collect()
}

/// The answer to `/api/v1/threads`.
pub(super) fn page(request: &Request, look: &Look) -> Result<Value, Answer> {
    let offset = request.number("offset")?.unwrap_or(0);
    let limit = request.number("limit")?.unwrap_or(LIMIT).min(MOST);
    let group = match request.value("group") {
        None | Some("") => None,
        Some(text) => Some(
            u64::from_str_radix(text, 16).map_err(|_| Answer::error(400, format!("group={text}: no key")))?,
        ),
    };
    let search = request.value("search").unwrap_or_default().to_lowercase();
    let is_wanted =
        |row: &&Row| group.is_none_or(|group| row.group == group) && (search.is_empty() || row.has(&search));
    let mut wanted: Vec<_> = look.rows.iter().filter(is_wanted).collect();
    wanted.sort_by_key(|row| (std::cmp::Reverse(row.row.waiting()), row.runtime, row.row.thread().id()));
    let total = wanted.len();
    let some = wanted.into_iter().skip(offset).take(limit);
    Ok(json!({ "total": total, "threads": some.map(Row::json).collect::<Vec<_>>() }))
}

/// The answer to `/api/v1/thread/ID`.
pub(super) fn one(request: &Request, id: &str) -> Result<Value, Answer> {
    let invalid = || Answer::error(400, format!("`{id}` is no number of a thread"));
    let number: u64 = id.parse().map_err(|_| invalid())?;
    let runtime = request.number("runtime")?;
    let look = Look::at(number);
    let is_it =
        |row: &&Row| row.row.thread().id() == number && runtime.is_none_or(|runtime| row.runtime == runtime);
    let missing = || Answer::error(404, format!("there is no thread {id}: it has ended, or has not started"));
    let row = look.rows.iter().find(is_it).ok_or_else(missing)?;
    let mut value = row.json();
    value["stack"] = frames(&row.row, true).into();
    Ok(value)
}
