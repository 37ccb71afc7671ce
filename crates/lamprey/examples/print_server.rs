//! A print server with swap channels: two threads meet, and each goes away with what the other one had.
//!
//! A client fills a page and swaps it for an empty one; the printer swaps an empty page for a full one, and
//! prints. Nobody copies a page, nobody allocates one after the start, and a client that is faster than the
//! printer waits, because there is nobody to swap with. Two printers at the same place share the work; a
//! client that does not want to wait chooses between the swap and a timeout. (Clients must not meet each
//! other, and nor must printers: so each page says what it is.)
//!
//! ```sh
//! cargo run -p lamprey --example print_server
//! cargo test --example print_server
//! ```

use lamprey::event::{Event, choose, timeout};
use lamprey::{JoinHandle, SwapChannel, spawn};
use std::time::Duration;

/// What changes hands.
#[derive(Debug, PartialEq, Eq)]
pub enum Page {
    /// To be written on.
    Empty(String),
    /// To be printed.
    Full(String),
    /// There will be no more.
    Last,
}

/// Where clients and printers meet.
#[derive(Clone)]
pub struct Server(SwapChannel<Page>);

impl Server {
    /// A place without a printer.
    pub fn open() -> Self {
        Self(SwapChannel::new())
    }

    /// A printer, until it meets [`Page::Last`]; what it has printed.
    pub fn printer(&self) -> JoinHandle<Vec<String>> {
        let place = self.clone();
        spawn(move || {
            let (mut printed, mut page) = (Vec::new(), String::new());
            loop {
                page.clear();
                match place.0.swap(Page::Empty(std::mem::take(&mut page))) {
                    Page::Full(text) => {
                        printed.push(text.clone());
                        page = text;
                    }
                    Page::Empty(theirs) => page = theirs, // another printer
                    Page::Last => return printed,
                }
            }
        })
    }

    /// Has `page` printed; an empty one, to be written on.
    pub fn print(&self, mut page: String) -> String {
        loop {
            match self.0.swap(Page::Full(page)) {
                Page::Empty(empty) => return empty,
                Page::Full(theirs) => page = theirs, // another client: print theirs, as they print ours
                Page::Last => unreachable!("closed while there are clients"),
            }
        }
    }

    /// As [`print`](Self::print), unless nobody comes for `patience`: then the text has not been printed.
    pub fn print_soon(&self, page: &str, patience: Duration) -> bool {
        let swapped = self.0.swap_evt(Page::Full(page.to_owned())).wrap(Some);
        match choose((swapped, timeout(patience).wrap(|()| None))).sync() {
            None => false,
            Some(Page::Full(theirs)) => {
                self.print(theirs);
                true
            }
            Some(_) => true,
        }
    }

    /// Sends one printer home.
    pub fn close(&self) {
        while self.0.swap(Page::Last) == Page::Last {}
    }
}

fn main() {
    lamprey::run(|| {
        let server = Server::open();
        let printer = server.printer();
        let mut page = String::new();
        for n in 1..=3 {
            page.push_str(&format!("page {n}"));
            page = server.print(page);
        }
        server.close();
        println!("{:?}", printer.join().unwrap());
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_main_program() {
        main();
    }

    #[test]
    fn all_pages_are_printed_once() {
        for workers in 1..=2 {
            lamprey::Runtime::builder().workers(workers).build().unwrap().run(|| {
                let server = Server::open();
                let printers = [server.printer(), server.printer()];
                let clients: Vec<_> = (0..4)
                    .map(|client| {
                        let server = server.clone();
                        spawn(move || {
                            let mut page = String::new();
                            for n in 0..100 {
                                page.push_str(&format!("{client}.{n:02}"));
                                page = server.print(page);
                                assert_eq!(page, "");
                            }
                        })
                    })
                    .collect();
                clients.into_iter().for_each(|client| client.join().unwrap());
                printers.iter().for_each(|_| server.close());
                let mut printed = printers.map(|printer| printer.join().unwrap()).concat();
                printed.sort();
                let all = (0..4).flat_map(|client| (0..100).map(move |n| format!("{client}.{n:02}")));
                assert_eq!(printed, Vec::from_iter(all));
            });
        }
    }

    #[test]
    fn without_a_printer_a_client_may_give_up() {
        lamprey::run(|| {
            let server = Server::open();
            assert!(!server.print_soon("nobody reads this", Duration::from_millis(3)));
            let printer = server.printer();
            assert!(server.print_soon("this one", Duration::from_secs(60)));
            server.close();
            assert_eq!(printer.join().unwrap(), ["this one"]);
        });
    }
}
