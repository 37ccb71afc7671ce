//! Pipes, those of children among them, and descriptors of the program's own, by tokio's traits.

use crate::common::run;
use lamprey::io::{Descriptor, pipe};
use lamprey::process::{Command, Stdio};
use lamprey::{parasite, wait};
use lamprey_compat::Async;
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

#[test]
fn a_child_reads_until_its_input_is_shut_down() {
    run(2, || {
        let mut child = Command::new("tr")
            .args(["a-z", "A-Z"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut input = Async::new(child.stdin.take().unwrap());
        let mut output = Async::new(child.stdout.take().unwrap());
        let text = "every word of it ".repeat(20_000);
        let sent = text.clone();
        let writer = parasite(async move {
            input.write_all(sent.as_bytes()).await?;
            input.shutdown().await?;
            // It is still there, and says what it is.
            assert_eq!(input.write(b"more").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
            input.shutdown().await
        });
        let mut loud = String::new();
        wait(output.read_to_string(&mut loud)).unwrap();
        assert!(loud == text.to_uppercase());
        writer.join().unwrap().unwrap();
        assert!(child.wait().unwrap().success());
    });
}

#[test]
fn a_reader_that_is_gone_is_an_error_of_the_writer_that_waits() {
    run(1, || {
        let (reader, writer) = pipe().unwrap();
        let mut writer = Async::new(writer);
        let host = parasite(async move { writer.write_all(&vec![0; 1_000_000]).await });
        let mut reader = Async::new(reader);
        assert_eq!(wait(reader.read_u8()).unwrap(), 0);
        drop(reader);
        assert_eq!(host.join().unwrap().unwrap_err().kind(), ErrorKind::BrokenPipe);
    });
}

#[test]
fn a_descriptor_of_the_programs_own_reads_and_writes() {
    run(1, || {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut reader = Async::new(Descriptor::new(reader).unwrap());
        let mut writer = Async::new(Descriptor::new(writer).unwrap());
        let echo = parasite(async move {
            let mut text = String::new();
            reader.read_to_string(&mut text).await.map(|_| text)
        });
        wait(async {
            writer.write_all(b"hello ").await?;
            let parts = [std::io::IoSlice::new(b"wor"), std::io::IoSlice::new(b"ld")];
            assert_eq!(writer.write_vectored(&parts).await?, 5);
            writer.shutdown().await
        })
        .unwrap();
        drop(writer);
        assert_eq!(echo.join().unwrap().unwrap(), "hello world");
    });
}
