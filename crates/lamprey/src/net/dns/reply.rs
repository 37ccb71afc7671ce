//! [`Reply`]: what a server has sent, as far as it can be read.
//!
//! Only what is used is taken apart. Records that are broken or cut off, and those in other sections, change nothing: the
//! others count.

use hickory_proto::op::{Header, Message, MessageType, Metadata, Query, ResponseCode};
use hickory_proto::rr::{Name, RData, Record};
use hickory_proto::serialize::binary::{BinDecodable, BinDecoder};
use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

pub(super) struct Reply {
    head: Metadata,
    queries: Vec<Query>,
    records: Vec<Record>,
}

impl Reply {
    /// `None` if not even the questions can be read.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut decoder = BinDecoder::new(bytes);
        let Header { metadata, counts } = Header::read(&mut decoder).ok()?;
        let queries = Message::read_queries(&mut decoder, counts.queries.into()).ok()?;
        let records = (0..counts.answers).map_while(|_| next(&mut decoder)).flatten().collect();
        Some(Self { head: metadata, queries, records })
    }

    /// True if it is the reply to this question. A server that did not understand the question may leave it out.
    pub(super) fn answers(&self, question: &Message) -> bool {
        let is_same = |(a, q): (&Query, &Query)| {
            a.query_type() == q.query_type()
                && a.query_class() == q.query_class()
                && a.name().to_lowercase() == q.name().to_lowercase()
        };
        self.head.id == question.metadata.id
            && self.head.message_type == MessageType::Response
            && (self.queries.len() == question.queries.len()
                && self.queries.iter().zip(&question.queries).all(is_same)
                || self.queries.is_empty() && !self.is_final())
    }

    /// True if some of it did not fit.
    pub(super) fn is_cut(&self) -> bool {
        self.head.truncation
    }

    /// The same, of which something did not fit into this program's room: no server says so.
    pub(super) fn cut(mut self) -> Self {
        self.head.truncation = true;
        self
    }

    /// True if it says what there is of the name, and not that the server cannot say.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.head.response_code, ResponseCode::NoError | ResponseCode::NXDomain)
    }

    pub(super) fn code(&self) -> ResponseCode {
        self.head.response_code
    }

    /// The addresses of the name and of those it is an alias of; with how long each is good.
    pub(super) fn addresses(&self) -> impl Iterator<Item = (IpAddr, Duration)> {
        let owners: Vec<Name> = self.records.iter().map(|record| record.name.to_lowercase()).collect();
        let names = self.names(&owners);
        let of_names = self.records.iter().zip(owners).filter(move |(_, owner)| names.contains(owner));
        of_names.filter_map(|(record, _)| {
            let ip = match &record.data {
                RData::A(address) => address.0.into(),
                RData::AAAA(address) => address.0.into(),
                _ => return None,
            };
            Some((ip, Duration::from_secs(record.ttl.into())))
        })
    }

    /// The name that was asked for, and those it is an alias of, in small letters. Aliases in a circle end.
    ///
    /// `owners` are the records' names, in small letters.
    fn names(&self, owners: &[Name]) -> Vec<Name> {
        let mut aliases: HashMap<&Name, Vec<&Name>> = HashMap::new();
        for (record, owner) in self.records.iter().zip(owners) {
            if let RData::CNAME(alias) = &record.data {
                aliases.entry(owner).or_default().push(&alias.0);
            }
        }
        let mut names: Vec<Name> = self.queries.iter().map(|query| query.name().to_lowercase()).collect();
        let mut at = 0;
        while let Some(name) = names.get(at).cloned() {
            for alias in aliases.remove(&name).into_iter().flatten().map(Name::to_lowercase) {
                if names.len() > MOST_ALIASES {
                    return names;
                }
                if !names.contains(&alias) {
                    names.push(alias);
                }
            }
            at += 1;
        }
        names
    }
}

/// Most aliases that are followed, as resolvers do: a longer chain is a mistake, or an attack.
const MOST_ALIASES: usize = 16;

/// The next record, or `Some(None)` for one that cannot be understood; `None` where nothing whole is left.
fn next(decoder: &mut BinDecoder<'_>) -> Option<Option<Record>> {
    let mut behind = decoder.clone(u16::try_from(decoder.index()).ok()?);
    if let Ok(record) = Record::read(decoder) {
        return Some(Some(record));
    }
    Name::read(&mut behind).ok()?;
    // The type, the class, and the time for which it is good.
    behind.read_slice(8).ok()?;
    // Of what comes from outside: a wrong length ends the slice below.
    let length = behind.read_u16().ok()?.unverified();
    behind.read_slice(length.into()).ok()?;
    *decoder = behind;
    Some(None)
}
