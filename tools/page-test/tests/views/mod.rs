//! The views of the page, and how to get to them.

use page_test::{Browser, Page, Program};

pub const VIEWS: [&str; 8] =
    ["overview", "groups", "threads", "graph", "stuck", "scopes", "recording", "dump"];

pub fn open(page: &mut Page, url: &str) {
    page.open(url);
    page.until("document.querySelector('#state').textContent === 'live'");
}

/// The page of a program, in a window of the usual size.
pub fn opened<'a>(browser: &'a mut Browser, program: &Program) -> Page<'a> {
    let mut page = browser.page();
    page.resize(1440, 900);
    open(&mut page, &program.url);
    page
}

/// Shows a view, by its key, and waits until it has been asked for.
pub fn show(page: &mut Page, view: &str) {
    let number = VIEWS.iter().position(|one| *one == view).unwrap() + 1;
    page.eval("performance.clearMarks()");
    page.press("Escape");
    page.press("Escape");
    page.press(&number.to_string());
    page.until(&format!("document.querySelector('main').dataset.view === '{view}'"));
    page.until(&format!("performance.getEntriesByName('{view}').length"));
}

pub fn complaints(page: &mut Page) -> Vec<String> {
    page.eval("new Promise((done) => setTimeout(done, 100))");
    page.complaints()
}
