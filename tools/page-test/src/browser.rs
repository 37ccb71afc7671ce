//! Chromium without a window, driven over a pair of pipes by its DevTools protocol: no driver and no port is needed.

use crate::page::Page;
use serde_json::{Value, json};
use std::env;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long an answer may take: only a browser that hangs takes longer.
const PATIENCE: Duration = Duration::from_secs(120);
const MISSING: &str = "there is no Chromium on this machine: install Debian's package `chromium`, or say where one is with \
                       CHROMIUM=PATH";
/// It is to ask nobody but the program that is looked at.
const FLAGS: [&str; 10] = [
    "--headless",
    "--remote-debugging-pipe",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
];

/// A browser. It ends when this is dropped.
pub struct Browser {
    chromium: Child,
    requests: Option<ChildStdin>,
    messages: Receiver<Value>,
    next: u64,
    /// What pages have said that is wrong: exceptions, errors, and what the policy of the page forbids.
    complaints: Vec<String>,
    profile: TempDir,
}

impl Browser {
    /// Starts Chromium.
    ///
    /// # Panics
    /// If there is none, or it does not start.
    pub fn start() -> Self {
        let path = find().expect(MISSING);
        let profile = tempfile::tempdir().unwrap();
        let log = File::create(profile.path().join("log")).unwrap();
        // It reads requests from descriptor 3 and answers on 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"]).arg(&path).args(FLAGS);
        command.arg(format!("--user-data-dir={}", profile.path().join("profile").display()));
        // Its sandbox refuses to be started by root.
        if fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0) {
            command.arg("--no-sandbox");
        }
        let mut chromium =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log).spawn().expect("no shell");
        let requests = chromium.stdin.take();
        let answers = BufReader::new(chromium.stdout.take().unwrap());
        let (tx, messages) = channel();
        thread::spawn(move || {
            let texts = answers.split(0).map_while(Result::ok);
            let parsed = texts.filter_map(|text| serde_json::from_slice(&text).ok());
            for message in parsed {
                if tx.send(message).is_err() {
                    return;
                }
            }
        });
        Self { chromium, requests, messages, next: 0, complaints: Vec::new(), profile }
    }

    /// Opens an empty page.
    pub fn page(&mut self) -> Page<'_> {
        let target = self.call("", "Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = self.call(
            "",
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        let session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            self.call(&session, domain, &json!({}));
        }
        Page::new(self, session)
    }

    /// What pages have complained of since the last call.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    /// Calls a method of the protocol; `session` is a page, or empty.
    ///
    /// # Panics
    /// If the browser refuses it, has ended, or does not answer.
    pub(crate) fn call(&mut self, session: &str, method: &str, parameters: &Value) -> Value {
        self.next += 1;
        let mut request = json!({ "id": self.next, "method": method, "params": parameters });
        if !session.is_empty() {
            request["sessionId"] = session.into();
        }
        let mut bytes = request.to_string().into_bytes();
        bytes.push(0);
        let sent = self.requests.as_mut().unwrap().write_all(&bytes);
        sent.unwrap_or_else(|error| self.give_up(method, &error.to_string()));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let message = self.messages.recv_timeout(deadline.saturating_duration_since(Instant::now()));
            let mut message = message.unwrap_or_else(|error| self.give_up(method, &error.to_string()));
            if message["id"] == self.next {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].take();
            }
            self.note(&message);
        }
    }

    /// Keeps what an event says that is wrong.
    fn note(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => {
                self.complaints.push(parameters["exceptionDetails"].to_string())
            }
            Some("Log.entryAdded") if parameters["entry"]["level"] == "error" => {
                self.complaints.push(parameters["entry"].to_string());
            }
            Some("Runtime.consoleAPICalled") if parameters["type"] == "error" => {
                self.complaints.push(parameters["args"].to_string());
            }
            _ => {}
        }
    }

    fn give_up(&self, method: &str, why: &str) -> ! {
        let log = fs::read_to_string(self.profile.path().join("log")).unwrap_or_default();
        let last: Vec<_> = log.lines().rev().take(20).collect();
        panic!("Chromium does not answer {method}: {why}\nits last lines, in reverse:\n{}", last.join("\n"));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // It ends when its pipe does.
        self.requests = None;
        let deadline = Instant::now() + Duration::from_secs(10);
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.chromium.try_wait() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        let _ = self.chromium.kill();
        let _ = self.chromium.wait();
    }
}

/// The path of a Chromium.
fn find() -> Option<PathBuf> {
    if let Some(path) = env::var_os("CHROMIUM") {
        return Some(path.into()).filter(|path: &PathBuf| path.is_file());
    }
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH")?).collect();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .flat_map(|name| folders.iter().map(move |folder| folder.join(name)))
        .find(|path| path.is_file())
}
