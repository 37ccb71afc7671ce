//! The same page, of a program on a JVM: `cargo test -p page-test --test jvm -- --ignored`, after Maven has built java/.

mod views;

use page_test::{Browser, Jvm, hostile};
use views::{VIEWS, complaints, opened, show};

#[test]
#[ignore = "needs Chromium, a JDK, and java/ built by Maven"]
fn a_program_on_a_jvm_is_shown_and_searched() {
    let jvm = Jvm::start(&[]);
    let mut browser = Browser::start();
    let mut page = opened(&mut browser, &jvm.program);
    assert!(page.eval("document.title").as_str().unwrap().contains("Watched"));
    page.until_seen("#about", "picothreads");
    page.until_seen(".tile", "Threads");
    page.until_seen(".bars .what", "on a queue");
    page.until_seen(".worker .runs", "computes");
    page.until_seen(".worker .queue", "ready");
    page.until_seen(".alarm", "1 deadlock");

    show(&mut page, "groups");
    page.click(".groups summary", "client");
    page.until_seen(".group-body .stack", "Watched.receive");
    page.click(".of-group a", "client");
    page.until_seen("#details h2", "client");
    page.until_seen("#details .stack", "Watched.receive");
    page.until_seen("#details .stack", "Watched.java:");
    assert_eq!(
        page.eval("document.querySelectorAll('#details .why').length"),
        0,
        "it would ask for a recording"
    );
    page.press("Escape");
    page.until("document.querySelector('#details').hidden");

    page.press("/");
    page.until("document.activeElement?.type === 'search'");
    page.write("there");
    page.until_seen(".about", "2 threads found");
    page.press("Enter");
    page.until("document.activeElement?.classList.contains('thread')");
    page.click(".thread .what", "back");
    page.until_seen("#details h2", "back");
    page.until_seen("#details dd", "entering a monitor");
    page.click("#details dd a", "there");
    page.until_seen("#details h2", "there");
    page.press("Escape");

    show(&mut page, "graph");
    page.until("document.querySelectorAll('.node[data-stuck]').length === 2");
    page.until_seen(".edge text", "entering a monitor");
    page.click(".node[data-stuck]", "back");
    page.until_seen("#details h2", "back");
    show(&mut page, "stuck");
    page.until_seen(".card[data-class=certain]", "\"back\"");
    show(&mut page, "scopes");
    page.until_seen("#notice", "This program does not tell that.");
    show(&mut page, "recording");
    page.until_seen("pre.text", "JFR");
    page.until("document.querySelector('#notice').hidden");
    show(&mut page, "dump");
    page.until_seen("pre.text", "owned by there");
    for (kind, why) in [("Sizes of stacks", "have no stacks"), ("Metrics", "no metrics")] {
        page.click(".segments button", kind);
        page.until_seen("pre.text", why);
    }
    assert_eq!(complaints(&mut page), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium, a JDK, and java/ built by Maven"]
fn hostile_names_of_a_jvm_are_shown_as_text() {
    let jvm = Jvm::start(&hostile::NAMES);
    let mut browser = Browser::start();
    let mut page = opened(&mut browser, &jvm.program);
    for view in VIEWS {
        show(&mut page, view);
        if view == "threads" {
            for name in hostile::NAMES.into_iter().chain(["half \u{fffd}"]) {
                page.until_seen(".thread .what", name);
            }
        }
        if view == "graph" {
            page.until("document.querySelectorAll('.node[data-stuck]').length === 2");
        }
        if view == "stuck" {
            page.until_seen(".card", "<script>");
        }
        let made = page
            .eval("document.querySelectorAll('main :is(img, script, iframe, [onload], [onerror])').length");
        assert_eq!(made, 0, "{view}");
    }
    assert!(page.eval("document.body.dataset.hacked ?? null").is_null());
    assert_eq!(complaints(&mut page), Vec::<String>::new());
}
