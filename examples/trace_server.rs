//! A web server for the files of a folder, on the scheduler in `trace_scheduler.rs`: a thread for each connection,
//! written as if each call blocked; disk reads that pass the kernel's cache by (`O_DIRECT`), and a cache of its own.
//! (Li and Zdancewic, *Combining Events and Threads for Scalable Network Services*, 2007, 5.2; their server has 370 lines as
//! well.) It has no time limits.
//!
//! ```sh
//! cargo run --release --example trace_server -- site 127.0.0.1:8080
//! ```

#[path = "trace_scheduler.rs"]
mod trace_scheduler;

use lamprey::fs::AlignedBuf;
use lamprey::trace::{aio_read, blio, catch, or_throw, read, write_all};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};
use swerve::Limits;
use swerve::http::{self, Body, Method, Request, Scan, Stamp, Status, Validators, Verdict};
pub use trace_scheduler::{Scheduler, serve};

/// The largest file that is kept in memory, the memory for files, and how long they are not looked at again.
const SMALL: u64 = 256 << 10;
const CACHE: u64 = 100 << 20;
const FRESH: Duration = Duration::from_millis(500);
/// Bytes of a file that are read at a time.
const CHUNK: usize = 256 << 10;

/// A file as it is sent.
struct Page {
    stamp: Stamp,
    is_settled: bool,
    /// Lines of the header: of an answer with the file, and of every one.
    fields: String,
    validator_lines: String,
    validators: Validators,
    length: u64,
    content: Content,
}

enum Content {
    Whole(Vec<u8>),
    Open(Arc<File>),
}

enum Answer {
    Page(Arc<Page>),
    NotModified(Arc<Page>),
    Moved(String),
    Status(Status),
}

/// The folder, and the files of it that are in memory: the oldest goes first.
pub struct Site {
    folder: OwnedFd,
    limits: Limits,
    cache: Mutex<Cache>,
}

#[derive(Default)]
struct Cache {
    pages: HashMap<Vec<u8>, (Arc<Page>, Instant)>,
    order: VecDeque<Vec<u8>>,
    bytes: u64,
}

impl Site {
    /// The folder at `folder`.
    pub fn open(folder: &std::path::Path) -> io::Result<Arc<Self>> {
        let folder =
            rustix::fs::open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Arc::new(Self { folder, limits: Limits::default(), cache: Mutex::default() }))
    }

    async fn answer(&self, request: &Request<'_>) -> Answer {
        match request.method {
            Method::Get | Method::Head => {}
            Method::Other => return Answer::Status(Status::MethodNotAllowed),
            Method::Unknown => return Answer::Status(Status::NotImplemented),
        }
        let (path, query) = match http::split(request.target) {
            Ok(parts) => parts,
            Err(status) => return Answer::Status(status),
        };
        match self.find(path).await {
            Ok(Some(page)) => match request.conditions.judge(&page.validators) {
                Verdict::Send => Answer::Page(page),
                Verdict::NotModified => Answer::NotModified(page),
                Verdict::Failed => Answer::Status(Status::PreconditionFailed),
            },
            Ok(None) if path.ends_with('/') => Answer::Status(Status::NotFound),
            Ok(None) => Answer::Moved(format!("{path}/{query}")),
            Err(status) => Answer::Status(status),
        }
    }

    /// The file at `path`; None if that is a folder.
    async fn find(&self, path: &str) -> Result<Option<Arc<Page>>, Status> {
        let mut name = Vec::new();
        http::resolve(path, &mut name)?;
        let known = self.cache.lock().unwrap().pages.get(&name).cloned();
        if let Some((page, looked)) = &known
            && looked.elapsed() < FRESH
        {
            return Ok(Some(Arc::clone(page)));
        }
        let now = SystemTime::now();
        let (file, stat) = blio(|| self.look(&name)).await.map_err(refusal)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(None),
            _ => return Err(Status::Forbidden),
        }
        let page = match known {
            Some((page, _)) if page.is_settled && page.stamp == Stamp::of(&stat) => page,
            _ => {
                Arc::new(Page::load(&name, file, Stamp::of(&stat), now).await.map_err(|_| Status::Internal)?)
            }
        };
        self.keep(name, &page);
        Ok(Some(page))
    }

    fn look(&self, name: &[u8]) -> Result<(Arc<File>, Stat), Errno> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let open = |flags| rustix::fs::openat2(self.folder.as_fd(), name, flags, Mode::empty(), inside);
        // What is no file, and some file systems, cannot be opened with O_DIRECT.
        let file = open(flags | OFlags::DIRECT)
            .or_else(|error| if error == Errno::INVAL { open(flags) } else { Err(error) })?;
        let stat = rustix::fs::fstat(&file)?;
        Ok((Arc::new(file.into()), stat))
    }

    fn keep(&self, name: Vec<u8>, page: &Arc<Page>) {
        let mut guard = self.cache.lock().unwrap();
        let cache = &mut *guard;
        match cache.pages.insert(name.clone(), (Arc::clone(page), Instant::now())) {
            None => cache.order.push_back(name),
            Some((old, _)) => cache.bytes -= old.memory(),
        }
        cache.bytes += page.memory();
        while cache.bytes > CACHE
            && let Some((old, _)) = cache.order.pop_front().and_then(|name| cache.pages.remove(&name))
        {
            cache.bytes -= old.memory();
        }
    }
}

fn refusal(error: Errno) -> Status {
    match error {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => Status::NotFound,
        Errno::XDEV | Errno::LOOP | Errno::ACCESS | Errno::PERM | Errno::NXIO => Status::Forbidden,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN => Status::Unavailable,
        _ => Status::Internal,
    }
}

impl Page {
    async fn load(name: &[u8], file: Arc<File>, stamp: Stamp, now: SystemTime) -> io::Result<Self> {
        let content = match stamp.length() {
            ..=SMALL => Content::Whole(read_whole(&file, stamp.length()).await?),
            _ => Content::Open(file),
        };
        let (validators, length) = match &content {
            Content::Whole(bytes) => (Validators::of_bytes(bytes, &stamp, now), bytes.len() as u64),
            Content::Open(_) => (Validators::of_stamp(&stamp, now), stamp.length()),
        };
        let (kind, charset) = http::media_type(name);
        let fields = format!("Content-Type: {kind}{charset}\r\nContent-Length: {length}\r\n");
        let mut lines = Vec::new();
        validators.write_to(&mut lines);
        let validator_lines = String::from_utf8_lossy(&lines).into_owned();
        let is_settled = stamp.is_settled(now);
        Ok(Self { stamp, is_settled, fields, validator_lines, validators, length, content })
    }

    fn memory(&self) -> u64 {
        512 + if let Content::Whole(bytes) = &self.content { bytes.len() as u64 } else { 0 }
    }
}

async fn read_whole(file: &Arc<File>, length: u64) -> io::Result<Vec<u8>> {
    let (count, buffer) =
        aio_read(file, 0, AlignedBuf::new((length as usize).next_multiple_of(AlignedBuf::ALIGN))?).await;
    Ok(buffer[..count?].to_vec())
}

/// Sends `length` bytes of a file; false if it has fewer.
async fn send_file(stream: &Arc<TcpStream>, file: &Arc<File>, length: u64) -> io::Result<bool> {
    let (mut sent, mut buffer) = (0, AlignedBuf::new(CHUNK)?);
    while sent < length {
        let (count, filled) = aio_read(file, sent, buffer).await;
        let count = (count? as u64).min(length - sent);
        write_all(stream, &filled[..count as usize]).await?;
        sent += count;
        if count < CHUNK as u64 && sent < length {
            return Ok(false);
        }
        buffer = filled;
    }
    Ok(true)
}

/// Sends an answer. False if the connection cannot go on.
async fn send(
    stream: &Arc<TcpStream>,
    answer: Answer,
    request: Option<&Request<'_>>,
    keep_alive: bool,
    has_body: bool,
) -> io::Result<bool> {
    let (status, fields, page) = match &answer {
        Answer::Page(page) => (Status::Ok, [&*page.fields, &page.validator_lines].concat(), Some(page)),
        Answer::NotModified(page) => (Status::NotModified, page.validator_lines.clone(), None),
        Answer::Moved(address) => (Status::MovedPermanently, format!("Location: {address}\r\n"), None),
        Answer::Status(Status::MethodNotAllowed) => {
            (Status::MethodNotAllowed, "Allow: GET, HEAD\r\n".into(), None)
        }
        Answer::Status(status) => (*status, String::new(), None),
    };
    let connection = match (keep_alive, request.is_none_or(|request| request.is_http_1_1)) {
        (true, true) => "",
        (true, false) => "Connection: keep-alive\r\n",
        (false, _) => "Connection: close\r\n",
    };
    let (line, date) = (status.line(), httpdate::fmt_http_date(SystemTime::now()));
    let mut bytes =
        format!("HTTP/1.1 {line}\r\nServer: traces\r\nDate: {date}\r\n{connection}{fields}").into_bytes();
    let mut body = &b""[..];
    let text = status.page();
    if !matches!(status, Status::Ok | Status::NotModified) {
        body = text.as_bytes();
        bytes.extend(
            format!("Content-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n", body.len()).bytes(),
        );
    }
    bytes.extend(b"\r\n");
    if let Some(Content::Whole(content)) = page.map(|page| &page.content) {
        body = content;
    }
    bytes.extend(if has_body { body } else { b"" });
    write_all(stream, &bytes).await?;
    match page.map(|page| (&page.content, page.length)) {
        Some((Content::Open(file), length)) if has_body => {
            Ok(send_file(stream, file, length).await? && keep_alive)
        }
        _ => Ok(keep_alive),
    }
}

/// Receives more. False at the end.
async fn receive(stream: &Arc<TcpStream>, input: &mut Vec<u8>) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    let count = read(stream, &mut buffer).await?;
    input.extend_from_slice(&buffer[..count]);
    Ok(count > 0)
}

/// Answers what cannot be understood.
async fn refuse(stream: &Arc<TcpStream>, status: Status, input: &[u8]) -> io::Result<bool> {
    send(stream, Answer::Status(status), None, false, !input.starts_with(b"HEAD ")).await
}

/// Reads a request and answers it. False if no other may follow.
async fn exchange(site: &Site, stream: &Arc<TcpStream>, input: &mut Vec<u8>) -> io::Result<bool> {
    let length = loop {
        input.drain(..http::empty_lines(input));
        match http::scan(input, 0, &site.limits) {
            Scan::Whole(length) => break length,
            Scan::Part if receive(stream, input).await? => {}
            Scan::Part => return Ok(false),
            Scan::Wrong(status) => return refuse(stream, status, input).await,
        }
    };
    let head: Vec<u8> = input.drain(..length).collect();
    let request = match http::parse(&head) {
        Ok(request) if request.target.len() <= site.limits.target_bytes => request,
        Ok(_) => return refuse(stream, Status::UriTooLong, &head).await,
        Err(status) => return refuse(stream, status, &head).await,
    };
    let answer = site.answer(&request).await;
    // The body is dropped. One that is too long is not read: the connection ends.
    let body = match request.body {
        Body::None => Some(0),
        Body::Length(_) if request.expects_continue && matches!(answer, Answer::Status(_)) => None,
        Body::Length(length) => Some(length).filter(|length| *length <= site.limits.body_bytes),
        Body::Chunked => None,
    };
    if request.expects_continue && body.is_some() {
        write_all(stream, b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    while (input.len() as u64) < body.unwrap_or(0) {
        if !receive(stream, input).await? {
            return Ok(false);
        }
    }
    input.drain(..body.unwrap_or(0) as usize);
    let has_body = request.method != Method::Head;
    send(stream, answer, Some(&request), request.keep_alive && body.is_some(), has_body).await
}

/// A connection.
pub async fn session(site: Arc<Site>, stream: Arc<TcpStream>) {
    let served = async {
        or_throw(stream.set_nodelay(true)).await;
        let mut input = Vec::new();
        while or_throw(exchange(&site, &stream, &mut input).await).await {}
        // Who closes while bytes come in takes its last answer back.
        or_throw(stream.shutdown(Shutdown::Write)).await;
        while or_throw(receive(&stream, &mut input).await).await {
            input.clear();
        }
    };
    // The peer has gone, and nobody is left to be told.
    catch(served, |_| async {}).await;
}

#[allow(dead_code, reason = "this file is also a module of tests")]
fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, address] = &arguments[..] else {
        eprintln!("trace_server FOLDER ADDRESS");
        std::process::exit(2);
    };
    let (site, listener) = (Site::open(folder.as_ref())?, TcpListener::bind(address)?);
    Scheduler::run(2, serve(listener, move |stream| session(Arc::clone(&site), stream)))
}
