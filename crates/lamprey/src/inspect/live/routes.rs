//! The paths of the endpoint, and the answer to each.

use super::accept::Endpoint;
use super::kept::Kept;
use super::look::Look;
use super::request::Request;
use super::response::{Answer, JSON};
use super::{graph, groups, page, rows, scopes, summary};
use crate::inspect::{Dump, found, perfetto, recording};
use crate::sched::inspect::cycles;
use crate::sched::inspect::groups::Groups;
use crate::sched::inspect::runtimes;
use crate::sync_shim::watched::{Mutex, MutexGuard};
use serde_json::{Value, json};
use std::sync::{Arc, PoisonError};

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
    if let Some(known) = parameters(&request.path) {
        request.takes(known)?;
    }
    let answers = &endpoint.answers;
    let look = |stacks| answers.look(stacks);
    Ok(match &*request.path {
        "/" => Answer::new(page::PAGE.0, page::PAGE.1),
        "/api/v1/summary" => Answer::json(&summary::json(&look(false))),
        "/api/v1/groups" => {
            let stacks = request.choice("stacks", &["0", "1"])?;
            Answer::json(&groups::json(&look(stacks == Some("1"))))
        }
        "/api/v1/threads" => Answer::json(&rows::page(request, &look(false))?),
        "/api/v1/graph" => Answer::json(&graph::json(&look(false))),
        "/api/v1/scopes" => Answer::json(&scopes::json(&look(false))),
        "/api/v1/metrics" => metrics(endpoint)?,
        "/api/v1/stuck" => Answer::new(JSON, answers.stuck.get(|| stuck().to_string()).as_bytes().to_vec()),
        "/api/v1/dump" => Answer::text(answers.dump.get(dump).to_string()),
        "/api/v1/stacks" => Answer::text(answers.stacks.get(stacks).to_string()),
        "/api/v1/recording" => {
            ["thread", "runtime"].into_iter().try_for_each(|name| request.number(name).map(drop))?;
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

/// What a path can be asked with; `None` for what does not look at it.
fn parameters(path: &str) -> Option<&'static [&'static str]> {
    Some(match path {
        "/api/v1/groups" => &["stacks"],
        "/api/v1/threads" => rows::PARAMETERS,
        "/api/v1/recording" => &["format", "thread", "runtime"],
        "/api/v1/summary" | "/api/v1/graph" | "/api/v1/scopes" | "/api/v1/metrics" | "/api/v1/stuck"
        | "/api/v1/dump" | "/api/v1/stacks" => &[],
        path if path.starts_with("/api/v1/thread/") => &["runtime"],
        _ => return None,
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
    let format = request.value("format").unwrap_or("text");
    if format != "why"
        && let Some(name) = ["thread", "runtime"].into_iter().find(|name| request.value(name).is_some())
    {
        return Err(Answer::error(
            400,
            format!("`{name}` goes with format=why: the others tell of all threads"),
        ));
    }
    match format {
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
            let path = recording.why(thread, ..);
            match path.thread() {
                Some(_) => Ok(Answer::text(format!("{path}\n"))),
                None => Err(Answer::error(404, path.to_string())),
            }
        }
        format => Err(Answer::error(400, format!("format={format}: write text, why, perfetto or dial9"))),
    }
}
