//! Single threads: a page of a list, and one with its stack.

use super::groups::{key_text, reason};
use super::look::{Kind, Look, Row, State};
use super::request::Request;
use super::response::Answer;
use crate::inspect::{Blocker, Parent, ThreadRow};
use crate::sched::info::ThreadInfo;
use crate::sched::reason::Wait;
use serde_json::{Value, json};
use std::time::Duration;

/// How many threads are told at a time, if nothing else is asked for, and at most.
const LIMIT: usize = 100;
const MOST: usize = 1000;
/// What `/api/v1/threads` can be asked for.
pub(super) const PARAMETERS: &[&str] = &["kind", "state", "reason", "search", "group", "offset", "limit"];

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

    /// True if `text`, in small letters, is its number, or is in its name, kind, state, reason, spawn site, or what it waits on.
    fn has(&self, text: &str) -> bool {
        let has = |part: &str| part.to_lowercase().contains(text);
        let thread = self.row.thread();
        thread.name().is_some_and(has)
            || thread.id().to_string() == text
            || has(self.kind.text())
            || has(self.state.text())
            || reason(self.state).is_some_and(|reason| has(&reason))
            || thread.spawn_site().is_some_and(|site| has(&site.to_string()))
            || self.row.text_of_on(true).is_some_and(|on| has(&on))
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

/// Which threads are asked for: those to which all of this applies.
struct Wanted {
    group: Option<u64>,
    kind: Option<&'static str>,
    state: Option<&'static str>,
    reason: Option<&'static str>,
    /// In small letters.
    search: String,
}

impl Wanted {
    fn of(request: &Request) -> Result<Self, Answer> {
        let group = match request.value("group") {
            None | Some("") => None,
            Some(text) => {
                let no_key = || {
                    let what = "write the `key` of a group, as /api/v1/groups tells it";
                    Answer::error(400, format!("group={text}: {what}"))
                };
                Some(u64::from_str_radix(text, 16).map_err(|_| no_key())?)
            }
        };
        Ok(Self {
            group,
            kind: request.choice("kind", &Kind::ALL.map(Kind::text))?,
            state: request.choice("state", &State::TEXTS)?,
            reason: request.choice("reason", &Wait::TEXTS)?,
            search: request.value("search").unwrap_or_default().to_lowercase(),
        })
    }

    fn has(&self, row: &Row) -> bool {
        self.group.is_none_or(|group| row.group == group)
            && self.kind.is_none_or(|kind| row.kind.text() == kind)
            && self.state.is_none_or(|state| row.state.text() == state)
            && self.reason.is_none_or(|wanted| reason(row.state).is_some_and(|reason| reason == wanted))
            && (self.search.is_empty() || row.has(&self.search))
    }
}

/// The answer to `/api/v1/threads`.
pub(super) fn page(request: &Request, look: &Look) -> Result<Value, Answer> {
    let offset = request.number("offset")?.unwrap_or(0);
    let limit = request.number("limit")?.unwrap_or(LIMIT);
    if limit > MOST {
        return Err(Answer::error(400, format!("limit={limit}: at most {MOST} threads are told at a time")));
    }
    let all = Wanted::of(request)?;
    let mut wanted: Vec<_> = look.rows.iter().filter(|row| all.has(row)).collect();
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
    let missing = || {
        let text = "it has ended, or has not started; of parasites that wait alike only one has a row, with their count";
        Answer::error(404, format!("there is no row of a thread {id}: {text}"))
    };
    let row = look.rows.iter().find(is_it).ok_or_else(missing)?;
    let mut value = row.json();
    value["stack"] = frames(&row.row, true).into();
    Ok(value)
}
