//! The live page of a program that runs, in a real browser. Each test starts a program and Chromium, and fails where there is none:
//! `cargo test -p page-test -- --ignored`.

mod views;

use page_test::{Browser, Program, hostile};
use views::{VIEWS, complaints, open, opened, show};

fn watched() -> Program {
    Program::start(env!("CARGO_BIN_EXE_watched"), &["127.0.0.1:0", "50"])
}

fn hostile(address: &str, token: &[&str]) -> Program {
    Program::start(env!("CARGO_BIN_EXE_page-test"), &[&["hostile", address], token].concat())
}

#[test]
#[ignore = "needs Chromium"]
fn a_program_is_shown_and_searched() {
    let program = watched();
    let mut browser = Browser::start();
    let mut page = opened(&mut browser, &program);
    assert!(page.eval("document.title").as_str().unwrap().contains("watched"));
    page.until_seen(".tile", "Threads");
    page.until_seen(".bars .what", "receive on a channel");
    page.until_seen(".worker", "living");
    page.until_seen(".alarm", "deadlock");

    show(&mut page, "groups");
    page.until_seen(".groups summary", "receive on a channel");
    page.click(".groups summary", "client");
    page.until_seen(".of-group a", "client");
    page.click(".of-group a", "client");
    page.until_seen("#details h2", "client");
    page.until_seen("#details .stack", "watched::");
    page.click("#details .why", "critical path");
    page.until_seen("#details .path", "waited");
    assert!(page.eval("location.hash").as_str().unwrap().contains("thread="));
    page.press("Escape");
    page.until("document.querySelector('#details').hidden");

    page.press("/");
    page.until("document.activeElement?.type === 'search'");
    page.write("behind 7");
    page.until("document.querySelectorAll('.thread').length === 1");
    page.until_seen(".thread .what", "behind 7");
    page.until_seen(".about", "1 thread found");
    // From the field to its only row, and into it.
    page.press("Enter");
    page.until("document.activeElement?.classList.contains('thread')");
    page.press("Enter");
    page.until_seen("#details h2", "behind 7");
    page.until_seen("#details dd", "there");
    page.press("Escape");

    show(&mut page, "graph");
    page.until("document.querySelectorAll('.node[data-stuck]').length >= 2");
    page.until_seen(".node[data-stuck] text", "back");
    show(&mut page, "stuck");
    page.until_seen(".card[data-class=certain]", "`back`");
    show(&mut page, "scopes");
    page.until_seen(".tree", "scope");
    show(&mut page, "recording");
    page.until_seen("pre.text", "worker 0");
    show(&mut page, "dump");
    page.until_seen("pre.text", "waits: lock of a mutex");
    page.click(".segments button", "Sizes of stacks");
    page.until_seen("pre.text", "spawned at");
    assert_eq!(complaints(&mut page), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium"]
fn keys_do_what_they_say() {
    let program = watched();
    let mut browser = Browser::start();
    let mut page = opened(&mut browser, &program);
    for view in VIEWS {
        show(&mut page, view);
        let current = page.eval("document.querySelector('.tabs [aria-current]').textContent");
        assert!(current.as_str().unwrap().to_lowercase().ends_with(view), "{current}");
    }
    show(&mut page, "threads");
    page.until("document.querySelectorAll('.thread:not([data-empty])').length > 10");
    for (key, place) in [("j", 1), ("j", 2), ("j", 3), ("k", 2)] {
        page.press(key);
        page.until(&format!("document.activeElement.getAttribute('aria-posinset') === '{place}'"));
    }
    page.press("?");
    page.until("document.querySelector('dialog').open");
    page.press("Escape");
    page.until("!document.querySelector('dialog').open");
    page.press("p");
    page.until_seen("#state", "paused");
    page.press("p");
    page.until_seen("#state", "live");
    // Whatever can be focused says what it is.
    for view in VIEWS {
        show(&mut page, view);
        let mute = page.eval(
            "[...document.querySelectorAll('a, button, input, select, summary')].filter((one) => one.checkVisibility() && \
             !(one.textContent.trim() || one.getAttribute('aria-label') || one.labels?.[0]?.textContent.trim())).map((one) => one.outerHTML)",
        );
        assert_eq!(mute, serde_json::json!([]), "{view}");
    }
}

#[test]
#[ignore = "needs Chromium"]
fn it_fits_a_phone_and_a_dark_room() {
    let program = watched();
    let mut browser = Browser::start();
    let mut page = browser.page();
    let ground = "getComputedStyle(document.body).backgroundColor";
    page.prefer_dark(false);
    page.resize(360, 740);
    open(&mut page, &program.url);
    let light = page.eval(ground);
    page.prefer_dark(true);
    let dark = page.eval(ground);
    assert_ne!(light, dark);
    // Who wants it light nevertheless gets it, also the next time.
    page.press("t");
    assert_eq!(page.eval(ground), light);
    page.open("about:blank");
    open(&mut page, &program.url);
    assert_eq!(page.eval(ground), light);
    for width in [360, 390, 768] {
        page.resize(width, 740);
        for view in VIEWS {
            show(&mut page, view);
            // It stays open from width to width.
            if view == "groups" && width == 360 {
                page.click(".groups summary", "client");
                page.until_seen(".of-group a", "client");
            }
            let wide = page.eval(
                "[document.documentElement, document.querySelector('main')].some((one) => one.scrollWidth > one.clientWidth)",
            );
            assert_eq!(wide, false, "{view} is wider than {width} pixels");
        }
        show(&mut page, "threads");
        page.click(".thread:not([data-empty])", "client");
        page.until_seen("#details .stack, #details .nothing", "");
        let box_ = page.eval("(() => { const box = document.querySelector('#details'); return box.scrollWidth - box.clientWidth; })()");
        assert_eq!(box_, 0, "details are wider than {width} pixels");
    }
    assert_eq!(complaints(&mut page), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium"]
fn hostile_names_are_shown_as_text() {
    let program = hostile("127.0.0.1:0", &[]);
    let mut browser = Browser::start();
    let mut page = opened(&mut browser, &program);
    for view in VIEWS {
        show(&mut page, view);
        if view == "groups" {
            page.eval("document.querySelectorAll('summary').forEach((one) => one.click())");
            page.until_seen(".of-group a", hostile::NAMES[0]);
        }
        if view == "threads" {
            for name in hostile::NAMES {
                page.until_seen(".thread .what", name);
            }
        }
        if view == "graph" {
            page.until("document.querySelectorAll('.node[data-stuck]').length >= 2");
        }
        if view == "stuck" {
            page.until_seen(".card", "<script>");
        }
        let made = page.eval("document.querySelectorAll('main :is(img, script, b:not([class]) b, iframe, [onload], [onerror])').length");
        assert_eq!(made, 0, "{view}");
    }
    show(&mut page, "threads");
    let rows = page.eval("document.querySelectorAll('.thread:not([data-empty])').length").as_u64().unwrap();
    for row in 0..rows {
        page.eval("location.hash = '#threads'");
        page.until("document.querySelector('#details').hidden");
        page.eval(&format!("document.querySelectorAll('.thread:not([data-empty])')[{row}].click()"));
        page.until("!document.querySelector('#details').hidden && document.querySelector('#details dl')");
    }
    // A name that is searched for is found, whatever is in it.
    for name in hostile::NAMES {
        page.press("Escape");
        page.eval("location.hash = '#threads'");
        page.press("/");
        page.until("document.activeElement?.type === 'search'");
        page.write(name.split(['\n', '\t']).next().unwrap().trim());
        page.until_seen(".about", "found");
        page.until_seen(".thread .what", name);
        page.eval("document.activeElement.value = ''");
    }
    assert!(page.eval("document.body.dataset.hacked ?? null").is_null());
    assert_eq!(complaints(&mut page), Vec::<String>::new());
}

#[test]
#[ignore = "needs Chromium"]
fn an_end_and_a_new_beginning_are_told() {
    let program = hostile("127.0.0.1:0", &["sixteen-bytes-ok"]);
    let (url, address) = (program.url.clone(), program.address().to_owned());
    let mut browser = Browser::start();
    let mut page = browser.page();
    open(&mut page, &format!("{url}?token=sixteen-bytes-ok#threads"));
    page.until("document.querySelectorAll('.thread:not([data-empty])').length > 5");
    assert!(page.complaints().is_empty());
    show(&mut page, "recording");
    let link = page.eval("document.querySelector('a[download][href*=perfetto]').getAttribute('href')");
    assert!(link.as_str().unwrap().contains("token=sixteen-bytes-ok"), "{link}");
    show(&mut page, "threads");

    drop(program);
    page.until_seen("#notice", "The program has ended or does not answer");
    page.until_seen("#state", "gone");
    page.until_seen(".thread", "bold");

    let other = hostile(&address, &["another-token-of-it"]);
    page.click("#notice button", "Try again");
    page.until_seen("#notice", "does not accept");
    drop(other);
    page.until_seen("#notice", "has ended");
    let _again = hostile(&address, &["sixteen-bytes-ok"]);
    page.until("document.querySelector('#notice').hidden");
    page.until_seen("#state", "live");
}
