//! A profile as the messages of `profile.proto` (pprof's), each with the tags that it needs.

use flate2::{Compression, write::GzEncoder};
use lamprey::inspect::Frame;
use prost::Message;
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, SystemTime};

/// Threads that have waited alike.
pub(super) struct Sampled {
    pub(super) reason: String,
    pub(super) kind: &'static str,
    /// The innermost first.
    pub(super) frames: Vec<Frame>,
    /// Waits, and nanoseconds.
    pub(super) values: [u64; 2],
}

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    r#type: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<Label>,
}

#[derive(Clone, PartialEq, Message)]
struct Label {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// The tables of a profile: strings, and places in the code, each once.
#[derive(Default)]
struct Tables<'a> {
    profile: Profile,
    strings: HashMap<&'a str, i64>,
    locations: HashMap<&'a Frame, u64>,
}

impl<'a> Tables<'a> {
    fn string(&mut self, text: &'a str) -> i64 {
        *self.strings.entry(text).or_insert_with(|| {
            self.profile.string_table.push(text.to_owned());
            self.profile.string_table.len() as i64 - 1
        })
    }

    fn location(&mut self, frame: &'a Frame) -> u64 {
        if let Some(id) = self.locations.get(frame) {
            return *id;
        }
        let id = self.locations.len() as u64 + 1;
        let (name, filename) =
            (self.string(&frame.function), self.string(frame.file.as_deref().unwrap_or_default()));
        // A function for each location: two lines of one function are still told apart by these.
        self.profile.function.push(Function { id, name, filename });
        self.profile.location.push(Location {
            id,
            line: vec![Line { function_id: id, line: frame.line.unwrap_or_default().into() }],
        });
        self.locations.insert(frame, id);
        id
    }
}

pub(super) fn encode(samples: &[Sampled], began: SystemTime, lasted: Duration) -> io::Result<Vec<u8>> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&profile(samples, began, lasted).encode_to_vec())?;
    gzip.finish()
}

fn profile(samples: &[Sampled], began: SystemTime, lasted: Duration) -> Profile {
    let mut tables = Tables::default();
    tables.string(""); // the first one has to be empty
    for (name, unit) in [("waits", "count"), ("delay", "nanoseconds")] {
        let of = ValueType { r#type: tables.string(name), unit: tables.string(unit) };
        tables.profile.sample_type.push(of);
    }
    tables.profile.default_sample_type = tables.string("delay");
    for sampled in samples {
        let location_id = sampled.frames.iter().map(|frame| tables.location(frame)).collect();
        let labels = [("reason", sampled.reason.as_str()), ("kind", sampled.kind)];
        let label =
            labels.map(|(key, text)| Label { key: tables.string(key), str: tables.string(text) }).into();
        let value = sampled.values.map(|value| i64::try_from(value).unwrap_or(i64::MAX)).into();
        tables.profile.sample.push(Sample { location_id, value, label });
    }
    tables.profile.time_nanos =
        began.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos() as i64;
    tables.profile.duration_nanos = lasted.as_nanos() as i64;
    tables.profile
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::Read;

    #[test]
    fn what_is_read_back_is_what_was_there() {
        let frame = |function: &str, line| Frame {
            file: Some("src/main.rs".to_owned()),
            line: Some(line),
            ..Frame::named(function.to_owned())
        };
        let sampled = |frames, values| Sampled { reason: "join".to_owned(), kind: "host", frames, values };
        let samples = [
            sampled(vec![frame("[join]", 0), frame("main", 7)], [2, 50]),
            sampled(vec![frame("main", 7)], [1, 7]),
        ];
        let encoded = encode(&samples, SystemTime::now(), Duration::from_secs(1)).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(&encoded[..]).read_to_end(&mut bytes).unwrap();
        let read = Profile::decode(&bytes[..]).unwrap();
        let text = |at: i64| read.string_table[at as usize].as_str();
        assert_eq!(text(0), "");
        let units: Vec<_> = read.sample_type.iter().map(|of| (text(of.r#type), text(of.unit))).collect();
        assert_eq!(units, [("waits", "count"), ("delay", "nanoseconds")]);
        let function = |id: &u64| {
            let location = read.location.iter().find(|location| location.id == *id).unwrap();
            let line = &location.line[0];
            let of = read.function.iter().find(|function| function.id == line.function_id).unwrap();
            (text(of.name), text(of.filename), line.line)
        };
        let mut samples: Vec<_> = read
            .sample
            .iter()
            .map(|sample| {
                let labels: Vec<_> =
                    sample.label.iter().map(|label| (text(label.key), text(label.str))).collect();
                assert_eq!(labels, [("reason", "join"), ("kind", "host")]);
                (sample.value.clone(), sample.location_id.iter().map(function).collect::<Vec<_>>())
            })
            .collect();
        samples.sort();
        let (inner, outer) = (("[join]", "src/main.rs", 0), ("main", "src/main.rs", 7));
        assert_eq!(samples, [(vec![1, 7], vec![outer]), (vec![2, 50], vec![inner, outer])]);
        assert_eq!(read.location.len(), 2, "each place is in the table once");
    }
}
