//! The thread that asks the endpoint: the screen does not wait for it.

use super::data::{Content, Query, Summary};
use crate::client::Client;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryIter, channel};
use std::time::{Duration, Instant};

/// A summary, and the answer to a query.
pub struct Answer {
    pub at: Instant,
    pub summary: Summary,
    pub query: Query,
    pub content: Result<Content, String>,
}

/// Asks for both. An error if there is not even a summary.
pub fn ask(client: &Client, query: &Query) -> Result<Answer, String> {
    let summary = client.json("/api/v1/summary")?;
    let content = client.json(&query.path()).map(|answer| query.content(&answer));
    Ok(Answer { at: Instant::now(), summary: Summary::of(&summary), query: query.clone(), content })
}

/// What is wanted: a query, unless nothing new is.
type Wanted = Option<Query>;

pub struct Feed {
    wanted: Sender<Wanted>,
    answers: Receiver<Result<Answer, String>>,
    last: std::cell::RefCell<Option<Wanted>>,
}

impl Feed {
    /// Begins to ask, each time after `pause`, and at once when something else is wanted.
    pub fn start(client: Client, pause: Duration) -> Self {
        let (wanted, wants) = channel();
        let (tx, answers) = channel();
        std::thread::spawn(move || feed(&client, pause, &wants, &tx));
        Self { wanted, answers, last: None.into() }
    }

    pub fn want(&self, query: Query, is_paused: bool) {
        let wanted = (!is_paused).then_some(query);
        let mut last = self.last.borrow_mut();
        if last.as_ref() != Some(&wanted) {
            // The thread ends when this is dropped only.
            let _ = self.wanted.send(wanted.clone());
            *last = Some(wanted);
        }
    }

    pub fn answers(&self) -> TryIter<'_, Result<Answer, String>> {
        self.answers.try_iter()
    }
}

fn feed(
    client: &Client,
    pause: Duration,
    wants: &Receiver<Wanted>,
    answers: &Sender<Result<Answer, String>>,
) {
    let mut wanted = None;
    loop {
        let next = match &wanted {
            None => wants.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => wants.recv_timeout(pause),
        };
        match next {
            // Only the last one: the user goes on while an answer takes its time.
            Ok(first) => wanted = wants.try_iter().last().unwrap_or(first),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        if let Some(query) = &wanted
            && answers.send(ask(client, query)).is_err()
        {
            return;
        }
    }
}
