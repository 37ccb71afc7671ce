//! A program whose threads have names that a page must not believe.

use lamprey::sync::Mutex;
use lamprey::{Builder, channel, inspect, scope, sleep};
use std::io::{Error, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

/// Names that would do something in a page that made HTML, addresses or patterns of them.
pub const NAMES: [&str; 10] = [
    "<img src=x onerror=\"document.body.dataset.hacked='img'\">",
    "<script>document.body.dataset.hacked='script'</script>",
    "\"><svg onload=document.body.dataset.hacked='svg'>",
    "' onmouseover='document.body.dataset.hacked=1",
    "javascript:document.body.dataset.hacked=1",
    "</pre></li></title><b>bold</b>&lt;&amp;",
    "two\nlines\tand a tab",
    "\u{202e}sdrawkcab\u{202c} and \u{200b}unseen",
    "__proto__",
    "%3Cb%3E&thread=1#groups?search=.*",
];

/// Serves a page, at `address` or at a free one, until it is killed.
pub fn run(address: &str, token: Option<&str>) -> std::io::Result<()> {
    let server = match token {
        Some(token) => inspect::serve_with_token(address, token)?,
        None => inspect::serve(address)?,
    };
    println!("http://{}/", server.addr());
    lamprey::run(|| {
        let locks = Arc::new([Mutex::new(()), Mutex::new(())]);
        for (name, first) in [(NAMES[0], 0), (NAMES[1], 1)] {
            let locks = locks.clone();
            let blocked = move || {
                let _mine = locks[first].lock();
                sleep(Duration::from_millis(50));
                drop(locks[1 - first].lock());
            };
            Builder::new().name(name).spawn(blocked)?;
        }
        let (tx, rx) = channel::<()>();
        scope(|s| {
            for name in NAMES.into_iter().map(str::to_owned).chain(["long ".repeat(2000)]) {
                let rx = rx.clone();
                s.spawn_with(Builder::new().name(name), move || rx.recv().is_ok())?;
            }
            sleep(Duration::MAX);
            drop(tx);
            Err(Error::from(ErrorKind::TimedOut))
        })
    })
}
