//! How fast the page is: the time until a snapshot is shown, and the frames while a list of threads is scrolled.

use page_test::{Browser, Page};
use serde_json::Value;
use std::thread;
use std::time::Duration;

const TIMES: usize = 7;

/// Waits for something in the page, and for the frame that shows it; the milliseconds since `begin` was called.
const SHOWN: &str = "const shown = (begin, is) => new Promise((done) => { const start = performance.now(); begin(); const look = () => \
                     is() ? requestAnimationFrame(() => setTimeout(() => done(performance.now() - start))) : \
                     setTimeout(look, 1); look(); });";

/// Scrolls by some rows in each frame, five seconds long: the gaps between frames.
const SCROLL: &str = "new Promise((done) => { const list = document.querySelector('.list'); const gaps = []; let last = performance.now(); \
                      const end = last + 5000; let empty = 0; const frame = (now) => { gaps.push(now - last); last = now; \
                      list.scrollTop = (list.scrollTop + STEP) % (list.scrollHeight - list.clientHeight); \
                      empty += list.querySelectorAll('[data-empty]').length > 0; \
                      if (performance.now() < end) requestAnimationFrame(frame); else done({ gaps: gaps.slice(1), empty }); }; \
                      requestAnimationFrame(frame); })";

/// Measures the page at `url`, and prints what it finds.
pub fn run(url: &str) {
    let mut browser = Browser::start();
    let mut page = browser.page();
    page.resize(1440, 900);
    page.open(url);
    page.until("document.querySelector('#state').textContent === 'live'");
    let threads = page
        .eval("fetch('api/v1/summary').then((answer) => answer.json()).then((summary) => summary.threads)");
    println!("{threads} threads");
    for (view, row) in
        [("overview", ".tile"), ("groups", ".groups > li"), ("threads", ".thread:not([data-empty])")]
    {
        snapshot(&mut page, url, view, row);
    }
    page.eval("location.hash = '#threads'");
    page.until("document.querySelector('.thread:not([data-empty])')");
    for (name, step) in [("slowly", 60), ("fast", 5000)] {
        scroll(&mut page, name, step);
    }
}

/// The time until a view is shown that was not: from another view, and in a page that is loaded anew.
fn snapshot(page: &mut Page, url: &str, view: &str, row: &str) {
    let (mut asked, mut loaded, mut shown) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        page.open("about:blank");
        // What the program remembers of its last look is old then.
        thread::sleep(Duration::from_millis(1500));
        page.open(&format!("{url}#{view}"));
        page.until(&format!("document.querySelector('{row}')"));
        let time = page.eval(&format!(
            "new Promise((done) => requestAnimationFrame(() => done(performance.getEntriesByName('{view}')[0].startTime)))"
        ));
        loaded.push(time.as_f64().unwrap());
        thread::sleep(Duration::from_millis(1500));
        let ask = "fetch('api/v1/groups').then((answer) => answer.text())";
        asked.push(number(&page.eval(&format!("(async () => {{ const start = performance.now(); await {ask}; return performance.now() - start; }})()"))));
        thread::sleep(Duration::from_millis(1500));
        let again = format!(
            "(async () => {{ {SHOWN} const at = () => performance.getEntriesByName('{view}')[0].startTime; const before = at(); return await shown(() => \
             document.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'r' }})), () => at() > before); }})()"
        );
        shown.push(number(&page.eval(&again)));
    }
    println!(
        "{view}: {} ms from the address to the picture, {} ms from asking to the picture, of which the program's answer {} ms",
        spread(&mut loaded),
        spread(&mut shown),
        spread(&mut asked)
    );
}

fn scroll(page: &mut Page, name: &str, step: u32) {
    let found = page.eval(&SCROLL.replace("STEP", &step.to_string()));
    let mut gaps: Vec<f64> = found["gaps"].as_array().unwrap().iter().map(number).collect();
    let rate = 1000.0 * gaps.len() as f64 / gaps.iter().sum::<f64>();
    gaps.sort_by(f64::total_cmp);
    let at = |part: f64| gaps[((gaps.len() - 1) as f64 * part) as usize];
    println!(
        "scrolled {name} ({step} pixels a frame): {rate:.0} frames a second; gaps of {:.1} ms in the middle, {:.1} ms in 99 of 100, {:.1} ms at most; \
         {} of {} frames with rows that have not come yet",
        at(0.5),
        at(0.99),
        at(1.0),
        found["empty"],
        gaps.len() + 1
    );
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// The least and the median.
fn spread(times: &mut [f64]) -> String {
    times.sort_by(f64::total_cmp);
    format!("{:.0}/{:.0}", times[0], times[times.len() / 2])
}
