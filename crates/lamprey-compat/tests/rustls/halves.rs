//! One host reads while another one writes.

use super::{pair, pattern, run};
use std::io::{Read, Write};
use std::sync::Arc;

#[test]
fn both_sides_send_all_before_either_has_read_all() {
    run(|| {
        let (client, server) = pair();
        let sent = pattern(3_000_000);
        lamprey::scope(|s| {
            for side in [&client, &server] {
                let sent = &sent;
                let (mut reader, mut writer) = (side, side);
                s.spawn(move || writer.write_all(sent).unwrap());
                s.spawn(move || {
                    let mut read = vec![0; sent.len()];
                    reader.read_exact(&mut read).unwrap();
                    assert!(read == *sent);
                });
            }
        });
    });
}

/// New keys are asked for while both directions are full: the answer must not make the reader wait for the writer.
#[test]
fn keys_change_while_both_directions_are_busy() {
    run(|| {
        let (client, server) = pair();
        let sent = pattern(2_000_000);
        lamprey::scope(|s| {
            for side in [&client, &server] {
                let sent = &sent;
                let (mut reader, mut writer) = (side, side);
                s.spawn(move || {
                    for piece in sent.chunks(100_000) {
                        writer.write_all(piece).unwrap();
                        side.connection(|tls| tls.refresh_traffic_keys()).unwrap();
                    }
                    writer.flush().unwrap();
                });
                s.spawn(move || {
                    let mut read = vec![0; sent.len()];
                    reader.read_exact(&mut read).unwrap();
                    assert!(read == *sent);
                });
            }
        });
    });
}

#[test]
fn halves_go_to_hosts_of_their_own() {
    run(|| {
        let (client, server) = pair();
        let server = Arc::new(server);
        let (reader, writer) = (server.clone(), server);
        let (tx, rx) = lamprey::bounded::<Vec<u8>>(4);
        let echo = [
            lamprey::spawn(move || {
                let mut buf = [0; 1000];
                while let read @ 1.. = (&*reader).read(&mut buf).unwrap() {
                    tx.send(buf[..read].to_vec()).unwrap();
                }
            }),
            lamprey::spawn(move || {
                rx.iter().for_each(|piece| (&*writer).write_all(&piece).unwrap());
                writer.close_notify().unwrap();
            }),
        ];
        let sent = pattern(100_000);
        lamprey::scope(|s| {
            s.spawn(|| {
                (&client).write_all(&sent).unwrap();
                client.close_notify().unwrap();
            });
            let mut read = Vec::new();
            (&client).read_to_end(&mut read).unwrap();
            assert!(read == sent);
        });
        echo.into_iter().for_each(|half| half.join().unwrap());
    });
}

#[test]
fn several_readers_take_turns() {
    run(|| {
        let (client, server) = pair();
        lamprey::scope(|s| {
            for _ in 0..8 {
                s.spawn(|| (&server).read_exact(&mut [0; 1]).unwrap());
            }
            for _ in 0..8 {
                (&client).write_all(&[1]).unwrap();
                lamprey::yield_now();
            }
        });
    });
}
