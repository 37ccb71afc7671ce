//! Lamprey's sockets and files by the traits of the crate `futures`.

#[path = "../../lamprey/tests/common/mod.rs"]
mod common;

use common::run;
use futures::io::{AsyncBufReadExt, AsyncReadExt, AsyncSeek, AsyncSeekExt, AsyncWriteExt, BufReader};
use lamprey::fs::OpenOptions;
use lamprey::net::{TcpListener, TcpStream};
use lamprey::{parasite, wait};
use lamprey_compat::Async;
use std::future::poll_fn;
use std::io::{self, IoSliceMut, SeekFrom};
use std::pin::Pin;
use std::task::Poll;

#[test]
fn a_line_goes_to_and_fro_and_close_is_the_end() {
    run(2, || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = parasite(async move {
            let (reader, mut writer) = Async::new(listener.accept_async().await?.0).split();
            let mut lines = BufReader::new(reader);
            let mut line = String::new();
            while lines.read_line(&mut line).await? > 0 {
                writer.write_all(line.to_uppercase().as_bytes()).await?;
                line.clear();
            }
            writer.close().await
        });
        let mut client = Async::new(TcpStream::connect(address).unwrap());
        wait(async {
            client.write_all(b"one\ntwo\n").await?;
            client.close().await?;
            let (mut four, mut rest) = ([0; 4], [0; 8]);
            let count =
                client.read_vectored(&mut [IoSliceMut::new(&mut four), IoSliceMut::new(&mut rest)]).await?;
            let mut text = [&four[..], &rest[..]].concat();
            text.truncate(count);
            client.read_to_end(&mut text).await?;
            assert_eq!(text, b"ONE\nTWO\n");
            io::Result::Ok(())
        })
        .unwrap();
        server.join().unwrap().unwrap();
    });
}

#[test]
fn a_seek_that_was_dropped_is_not_taken_for_a_later_one_to_the_same_place() {
    run(2, || {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"0123456789").unwrap();
        let mut file = Async::new(OpenOptions::new().read(true).open(&path).unwrap());
        // The pool makes the seek; now and then it is done before the poll returns.
        let mut poll_once =
            || wait(poll_fn(|cx| Poll::Ready(Pin::new(&mut file).poll_seek(cx, SeekFrom::Start(5)))));
        while poll_once().is_ready() {}
        wait(async {
            let mut two = [0; 2];
            file.read_exact(&mut two).await?;
            assert_eq!(&two, b"56");
            file.seek(SeekFrom::Start(5)).await?;
            file.read_exact(&mut two).await?;
            assert_eq!(&two, b"56");
            io::Result::Ok(())
        })
        .unwrap();
    });
}

#[test]
fn a_file_is_written_sought_and_read() {
    run(2, || {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("file");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path);
        let mut file = Async::new(file.unwrap());
        wait(async {
            file.write_all(&[7; 1_000_000]).await?;
            assert_eq!(file.seek(SeekFrom::Current(-10)).await?, 999_990);
            file.write_all(b"0123456789ab").await?;
            assert_eq!(file.seek(SeekFrom::End(-12)).await?, 999_990);
            let mut buffered = BufReader::new(file);
            let mut text = [0; 3];
            buffered.read_exact(&mut text).await?;
            assert_eq!(&text, b"012");
            // What the buffer has read ahead is taken back.
            assert_eq!(buffered.seek(SeekFrom::Current(2)).await?, 999_995);
            buffered.read_exact(&mut text).await?;
            assert_eq!(&text, b"567");
            buffered.into_inner().close().await
        })
        .unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().len(), 1_000_002);
    });
}
