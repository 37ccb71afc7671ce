use super::*;
use std::sync::mpsc;

/// Passes on what is written. Each write waits for a message, until the sender is gone.
struct Slow(mpsc::Receiver<()>, mpsc::Sender<Vec<u8>>);

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // An error: the sender is gone.
        let _ = self.0.recv();
        let _ = self.1.send(bytes.to_vec());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What is written after `add` has added lines.
fn written(add: impl FnOnce(&Log)) -> String {
    let (go, wait) = mpsc::channel();
    let (to, from) = mpsc::channel();
    let log = Log::start(Slow(wait, to)).unwrap();
    add(&log);
    drop(go);
    log.finish(Duration::from_secs(60));
    String::from_utf8(from.iter().flatten().collect()).unwrap()
}

const DATE: &DateText = b"Sun, 06 Nov 1994 08:49:37 GMT";

#[test]
fn a_line_is_in_the_common_format() {
    let text = written(|log| {
        log.line("127.0.0.1".parse().unwrap(), DATE, b"GET /a HTTP/1.1", Status::Ok, 12);
        log.line("::1".parse().unwrap(), DATE, b"", Status::BadRequest, 0);
    });
    assert_eq!(
        text,
        "127.0.0.1 - - [06/Nov/1994:08:49:37 +0000] \"GET /a HTTP/1.1\" 200 12\n\
             ::1 - - [06/Nov/1994:08:49:37 +0000] \"-\" 400 0\n"
    );
}

#[test]
fn finish_gives_up_if_the_log_is_not_read() {
    let (_go, wait) = mpsc::channel();
    let log = Log::start(Slow(wait, mpsc::channel().0)).unwrap();
    log.line("::1".parse().unwrap(), DATE, b"", Status::BadRequest, 0);
    log.finish(Duration::from_millis(10));
}

#[test]
fn a_request_cannot_forge_a_line() {
    let text = written(|log| {
        log.line("127.0.0.1".parse().unwrap(), DATE, b"GET /\" 200 1\n\x1b[2J\\ \xff", Status::Ok, 1);
    });
    assert!(text.contains(r#""GET /\" 200 1\x0a\x1b[2J\\ \xff" 200 1"#), "{text}");
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_reader_that_is_too_slow_loses_lines_and_learns_how_many() {
    let text = written(|log| {
        for _ in 0..4 * ROOM / 1000 {
            log.line("127.0.0.1".parse().unwrap(), DATE, &[b'x'; 1000], Status::Ok, 1);
        }
    });
    assert!(text.contains(" lines dropped: the log is read too slowly)\n"));
    assert!(text.len() < 3 * ROOM);
}
