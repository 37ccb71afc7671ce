//! What is written is what is read, whatever interrupts it.

use super::{pair, pattern, run};
use lamprey::{TimedOut, with_timeout};
use std::io::{ErrorKind, IoSlice, Read, Write};
use std::time::Duration;

const SHORT: Duration = Duration::from_millis(2);

#[test]
fn megabytes_arrive_in_order() {
    run(|| {
        let (mut client, mut server) = pair();
        let sent = pattern(5_000_001);
        lamprey::scope(|s| {
            s.spawn(|| {
                client.write_all(&sent).unwrap();
                client.close_notify().unwrap();
            });
            let mut read = Vec::new();
            server.read_to_end(&mut read).unwrap();
            assert!(read == sent, "{} bytes", read.len());
        });
    });
}

#[test]
fn pieces_of_all_sizes_arrive_in_order() {
    run(|| {
        let (client, mut server) = pair();
        let sent = pattern(300_000);
        lamprey::scope(|s| {
            s.spawn(|| {
                let (mut rest, mut size) = (&sent[..], 1);
                while !rest.is_empty() {
                    let (now, later) = rest.split_at(size.min(rest.len()));
                    (&client).write_all(now).unwrap();
                    (rest, size) = (later, size * 2 % 100_003);
                }
                client.close_notify().unwrap();
            });
            let (mut read, mut buf, mut size) = (Vec::new(), vec![0; 70_000], 1);
            loop {
                match server.read(&mut buf[..size]).unwrap() {
                    0 => break,
                    n => read.extend_from_slice(&buf[..n]),
                }
                size = size * 3 % 70_000 + 1;
            }
            assert!(read == sent, "{} bytes", read.len());
        });
    });
}

#[test]
fn slices_share_a_record() {
    run(|| {
        let (mut client, mut server) = pair();
        let slices = [IoSlice::new(b"one "), IoSlice::new(b""), IoSlice::new(b"two")];
        assert_eq!(client.write_vectored(&slices).unwrap(), 7);
        let mut buf = [0; 16];
        assert_eq!(server.read(&mut buf).unwrap(), 7);
        assert_eq!(&buf[..7], b"one two");
    });
}

#[test]
fn reads_that_are_cancelled_lose_nothing() {
    run(|| {
        let (mut client, mut server) = pair();
        let sent = pattern(200_000);
        lamprey::scope(|s| {
            s.spawn(|| {
                for piece in sent.chunks(1_777) {
                    client.write_all(piece).unwrap();
                    lamprey::sleep(Duration::from_micros(300));
                }
            });
            let (mut read, mut buf) = (Vec::new(), [0; 999]);
            while read.len() < sent.len() {
                // A limit that is over at once cancels at the first wait, others at any.
                let limit = Duration::from_micros(read.len() as u64 % 400);
                if let Ok(got) = with_timeout(limit, || server.read(&mut buf).unwrap()) {
                    read.extend_from_slice(&buf[..got]);
                }
            }
            assert!(read == sent);
        });
    });
}

#[test]
fn a_write_that_is_cancelled_tears_no_record() {
    run(|| {
        let (mut client, mut server) = pair();
        // The socket is full, so each of these is cancelled while it waits.
        let mut cancelled = 0;
        while cancelled < 5 {
            cancelled +=
                usize::from(with_timeout(SHORT, || client.write(&[1; 50_000]).unwrap()) == Err(TimedOut));
        }
        lamprey::scope(|s| {
            s.spawn(|| {
                client.write_all(&[2; 10]).unwrap();
                client.close_notify().unwrap();
            });
            let mut read = Vec::new();
            server.read_to_end(&mut read).unwrap();
            let ones = read.iter().take_while(|byte| **byte == 1).count();
            assert_eq!(ones % 50_000, 0, "a part of a write");
            assert_eq!(&read[ones..], [2; 10]);
        });
    });
}

#[test]
fn what_a_write_beyond_its_limit_has_not_taken_is_not_sent() {
    run(|| {
        let (mut client, mut server) = pair();
        client.set_write_timeout(Some(SHORT)).unwrap();
        let (mut taken, mut late) = (0, 0);
        while late < 3 {
            match client.write(&[1; 40_000]) {
                Ok(some) => taken += some,
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::TimedOut);
                    late += 1;
                }
            }
        }
        client.set_write_timeout(None).unwrap();
        lamprey::scope(|s| {
            s.spawn(|| client.close_notify().unwrap());
            let mut read = Vec::new();
            server.read_to_end(&mut read).unwrap();
            assert_eq!(read.len(), taken);
        });
    });
}

#[test]
fn a_read_beyond_its_limit_has_taken_nothing() {
    run(|| {
        let (mut client, mut server) = pair();
        server.set_read_timeout(Some(SHORT)).unwrap();
        assert_eq!(server.read(&mut [0; 4]).unwrap_err().kind(), ErrorKind::TimedOut);
        client.write_all(b"late").unwrap();
        server.set_read_timeout(None).unwrap();
        let mut buf = [0; 8];
        assert_eq!(server.read(&mut buf).unwrap(), 4);
    });
}

#[test]
fn a_limit_of_nothing_is_refused() {
    run(|| {
        let (client, _server) = pair();
        for refused in
            [client.set_read_timeout(Some(Duration::ZERO)), client.set_write_timeout(Some(Duration::ZERO))]
        {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        client.set_read_timeout(Some(SHORT)).unwrap();
        assert_eq!((client.read_timeout(), client.write_timeout()), (Some(SHORT), None));
    });
}

#[test]
fn an_empty_read_and_an_empty_write_do_nothing() {
    run(|| {
        let (mut client, mut server) = pair();
        assert_eq!(client.write(&[]).unwrap(), 0);
        assert_eq!(server.read(&mut []).unwrap(), 0);
    });
}

#[test]
fn a_thread_of_the_system_reads_and_writes() {
    let runtime = lamprey::Runtime::builder().workers(1).build().unwrap();
    let (mut client, mut server) = runtime.run(pair);
    std::thread::scope(|s| {
        s.spawn(|| {
            client.write_all(&pattern(500_000)).unwrap();
            client.close_notify().unwrap();
        });
        let mut read = Vec::new();
        server.read_to_end(&mut read).unwrap();
        assert!(read == pattern(500_000));
    });
}
