use super::*;

const DAY: u64 = 784_111_777;
const BEFORE: &[u8] = b"Sun, 06 Nov 1994 08:49:36 GMT";
const THEN: &[u8] = b"Sun, 06 Nov 1994 08:49:37 GMT";
const AFTER: &[u8] = b"Sun, 06 Nov 1994 08:49:38 GMT";

fn if_none_match(list: &str, tag: &str) -> bool {
    let conditions = Conditions { if_none_match: vec![list.as_bytes()], ..Default::default() };
    conditions.judge(&Validators::chosen(tag, DAY)) == Verdict::NotModified
}

fn if_match(list: &str, tag: &str) -> bool {
    let conditions = Conditions { if_match: vec![list.as_bytes()], ..Default::default() };
    conditions.judge(&Validators::chosen(tag, DAY)) == Verdict::Send
}

#[test]
fn lists_that_have_the_tag() {
    for list in [
        "\"x\"",
        "*",
        " * ",
        "\"a\", \"x\"",
        "\"a\",W/\"b\"\t, \"x\" , \"c\"",
        "\"a,b\", \"x\"",
        "\"\", \"x\"",
        ", ,\"a\",, \"x\",",
        "\"x\", nonsense",
    ] {
        assert!(if_none_match(list, "\"x\""), "{list}");
        assert!(if_match(list, "\"x\""), "{list}");
    }
}

#[test]
fn lists_that_do_not() {
    for list in [
        "",
        "x",
        "\"X\"",
        "\"x",
        "\"xx\"",
        "\"a\" \"x\"",
        "\"x\" \"a\"",
        "\"x\"y",
        "\"a, x\"",
        "w/\"x\"",
        "W/ \"x\"",
        "W/",
        "\"a\",",
        "*, \"a\"",
        "\"a\", *",
        "nonsense, \"x\"",
        ",",
        "\"*\"",
    ] {
        assert!(!if_none_match(list, "\"x\""), "{list}");
        assert!(!if_match(list, "\"x\""), "{list}");
    }
}

#[test]
fn a_weak_tag_is_good_for_none_match_only() {
    for (list, tag) in [("W/\"x\"", "\"x\""), ("\"x\"", "W/\"x\""), ("W/\"x\"", "W/\"x\"")] {
        assert!(if_none_match(list, tag), "{list} {tag}");
        assert!(!if_match(list, tag), "{list} {tag}");
    }
    assert!(if_match("*", "W/\"x\""), "any version will do");
}

#[test]
fn several_lines_are_one_list() {
    let lines = vec![&b"\"a\", nonsense"[..], b"\"x\"", b""];
    let (one, other) = (Validators::chosen("\"x\"", DAY), Validators::chosen("\"y\"", DAY));
    let none = Conditions { if_none_match: lines.clone(), ..Default::default() };
    assert_eq!((none.judge(&one), none.judge(&other)), (Verdict::NotModified, Verdict::Send));
    let some = Conditions { if_match: lines, ..Default::default() };
    assert_eq!((some.judge(&one), some.judge(&other)), (Verdict::Send, Verdict::Failed));
}

/// Each condition that holds or does not, and the verdict for the file with the tag `"x"`, of the day `THEN`.
#[test]
fn the_order_of_the_standard() {
    use Verdict::{Failed, NotModified, Send};
    let file = Validators::chosen("\"x\"", DAY);
    let (none, same, other) = (None, Some(&b"\"x\""[..]), Some(&b"\"y\""[..]));
    let (no_date, nonsense) = (None, Some(&b"now"[..]));
    let (before, then, after) = (Some(BEFORE), Some(THEN), Some(AFTER));
    let table = [
        // If-Match, If-Unmodified-Since, If-None-Match, If-Modified-Since
        (none, no_date, none, no_date, Send),
        (same, no_date, none, no_date, Send),
        (other, no_date, none, no_date, Failed),
        (none, before, none, no_date, Failed),
        (none, then, none, no_date, Send),
        (none, after, none, no_date, Send),
        (none, nonsense, none, no_date, Send),
        (same, before, none, no_date, Send),
        (other, after, none, no_date, Failed),
        (none, no_date, same, no_date, NotModified),
        (none, no_date, other, no_date, Send),
        (none, no_date, none, before, Send),
        (none, no_date, none, then, NotModified),
        (none, no_date, none, after, NotModified),
        (none, no_date, none, nonsense, Send),
        (none, no_date, same, before, NotModified),
        (none, no_date, other, after, Send),
        (same, no_date, same, no_date, NotModified),
        (other, no_date, same, no_date, Failed),
        (same, before, same, before, NotModified),
        (same, no_date, other, after, Send),
        (none, before, same, no_date, Failed),
        (none, before, none, after, Failed),
        (none, then, none, then, NotModified),
        (none, then, same, before, NotModified),
        (none, nonsense, none, then, NotModified),
    ];
    for (if_match, if_unmodified_since, if_none_match, if_modified_since, expected) in table {
        let conditions = Conditions {
            if_match: if_match.into_iter().collect(),
            if_unmodified_since,
            if_none_match: if_none_match.into_iter().collect(),
            if_modified_since,
        };
        assert_eq!(conditions.judge(&file), expected, "{conditions:?}");
    }
}
