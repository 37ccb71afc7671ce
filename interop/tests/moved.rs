//! The promise of the guide's chapter "Moving an axum application": the one before and the one after differ by `main` and one import, and
//! answer alike.

use futures::{SinkExt, StreamExt};
use interop::peer::{self, LIMIT, Running};
use std::future::Future;
use std::iter::zip;
use tokio_tungstenite::tungstenite::Message;

const BEFORE: &str = include_str!("moved/on_tokio.rs");
const AFTER: &str = include_str!("moved/on_lamprey.rs");
const CHAPTER: &str = include_str!("../../docs/guide/moving-an-axum-application.md");

/// The lines of an application without `main` and its attribute, and without the import of `serve`; and that import.
fn without_main(text: &str) -> (Vec<&str>, &str) {
    let lines: Vec<_> = text.lines().collect();
    let main = lines.iter().position(|line| line.contains("fn main()")).unwrap();
    assert!(lines[main - 1].ends_with("::main]"), "{}", lines[main - 1]);
    assert_eq!(lines.last(), Some(&"}"), "main comes last");
    let (serve, rest): (Vec<_>, Vec<_>) =
        lines[..main - 1].iter().partition(|line| line.starts_with("use ") && line.ends_with("::serve;"));
    assert_eq!(serve.len(), 1);
    (rest, serve[0])
}

#[test]
fn they_differ_by_main_and_one_import() {
    let ((before, import), (after, new_import)) = (without_main(BEFORE), without_main(AFTER));
    assert_eq!(before, after);
    assert_eq!((import, new_import), ("use axum::serve;", "use lamprey_compat::axum::serve;"));
    assert!(
        !before.iter().any(|line| line.to_lowercase().contains("lamprey::")),
        "nothing else names Lamprey"
    );
}

#[test]
fn the_chapter_shows_just_this_difference() {
    let only_in = |text: &str, other: &str| -> Vec<String> {
        text.lines().filter(|line| !other.lines().any(|theirs| theirs == *line)).map(str::to_owned).collect()
    };
    let shown = CHAPTER.split("```diff\n").nth(1).unwrap().split("```").next().unwrap();
    let marked = |mark: char| -> Vec<String> {
        let marked = shown.lines().filter_map(|line| line.strip_prefix(mark));
        // Such lines are in both.
        marked.filter(|line| !["", "}"].contains(line)).map(str::to_owned).collect()
    };
    assert_eq!(marked('-'), only_in(BEFORE, AFTER));
    assert_eq!(marked('+'), only_in(AFTER, BEFORE));
    for line in shown.lines().filter_map(|line| line.strip_prefix(' ')).filter(|line| !line.is_empty()) {
        assert!(BEFORE.lines().any(|theirs| theirs == line), "not in the application: {line}");
    }
}

#[test]
fn they_answer_alike() {
    let (before, after) = (
        answers("moved_on_tokio", "tests/moved/on_tokio.rs"),
        answers("moved_on_lamprey", "tests/moved/on_lamprey.rs"),
    );
    for (before, after) in zip(&before, &after) {
        assert_eq!(before, after);
    }
    assert_eq!(before.len(), after.len());
    assert!(before.len() > 20, "{before:#?}");
}

/// All that the application answers to one client, and how it ends.
fn answers(name: &str, path: &str) -> Vec<String> {
    let mut server = Running::start(peer::example_of(name, path).arg("127.0.0.1:0"));
    let line = server.line_with("listening on");
    let url = line.rsplit(' ').next().unwrap().to_owned();
    let mut answers = on_tokio(ask(&url));
    server.terminate();
    let (status, _) = server.end();
    answers.push(status.to_string());
    answers
}

fn on_tokio<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.expect("it hangs") })
}

async fn ask(url: &str) -> Vec<String> {
    let mut answers = Vec::new();
    let client = client();
    let mut events = client.get(format!("{url}/events")).send().await.unwrap();
    answers.push(head(&events));
    for (method, path, body) in [
        ("GET", "/items", ""),
        ("POST", "/items", r#"{"name": "cup", "price": 5}"#),
        ("POST", "/items", r#"{"name": "pot", "price": 50}"#),
        ("POST", "/items", r#"{"name": "lid"}"#),
        ("POST", "/items", "no json"),
        ("GET", "/items", ""),
        ("GET", "/items?most=10", ""),
        ("GET", "/items?most=all", ""),
        ("GET", "/items/2", ""),
        ("GET", "/items/9", ""),
        ("GET", "/items/x", ""),
        ("DELETE", "/items/2", ""),
        ("DELETE", "/items/2", ""),
        ("PUT", "/items", ""),
        ("GET", "/who", ""),
        ("GET", "/panic", ""),
        ("GET", "/slow", ""),
        ("GET", "/none", ""),
        ("HEAD", "/who", ""),
    ] {
        for is_staff in [true, false] {
            if !is_staff && !path.starts_with("/items") {
                continue;
            }
            let mut request = client
                .request(method.parse().unwrap(), format!("{url}{path}"))
                .header("content-type", "application/json")
                .header("x-request-id", format!("{method} {path}"))
                .body(body);
            if is_staff {
                request = request.header("authorization", "staff");
            }
            let answer = request.send().await.unwrap();
            let head = head(&answer);
            answers.push(format!("{method} {path}: {head}\n{}", answer.text().await.unwrap()));
        }
    }
    let mut seen = String::new();
    while !seen.contains("pot for 50") {
        seen += &String::from_utf8_lossy(&events.chunk().await.unwrap().unwrap());
    }
    answers.push(seen);

    let (mut chat, upgraded) =
        tokio_tungstenite::connect_async(url.replace("http", "ws") + "/chat").await.unwrap();
    answers.push(upgraded.status().to_string());
    for word in ["cup", "spoon"] {
        chat.send(Message::text(word)).await.unwrap();
        answers.push(format!("{:?}", chat.next().await.unwrap().unwrap()));
    }
    chat.close(None).await.unwrap();
    while let Some(Ok(message)) = chat.next().await {
        answers.push(format!("{message:?}"));
    }
    answers
}

/// Status and headers, without those that differ from call to call.
fn head(answer: &reqwest::Response) -> String {
    let mut headers: Vec<_> = answer
        .headers()
        .iter()
        .filter(|(name, _)| *name != "date")
        .map(|header| format!("{header:?}"))
        .collect();
    headers.sort();
    format!("{:?} {} {headers:?}", answer.version(), answer.status())
}

fn client() -> reqwest::Client {
    // reqwest asks for it, although all of this is without TLS. An error: another test has done it.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}
