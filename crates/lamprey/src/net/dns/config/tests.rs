use super::*;

const DEFAULT_SERVER: [&str; 1] = ["127.0.0.1:53"];

fn servers(text: &str) -> Vec<String> {
    Config::of_text(text).servers.iter().map(SocketAddr::to_string).collect()
}

fn names(settings: &str, host: &str) -> Vec<String> {
    Config::of_text(settings).names(host).iter().map(Name::to_ascii).collect()
}

#[test]
fn servers_are_understood() {
    for (text, expected) in [
        ("", &DEFAULT_SERVER[..]),
        ("# nameserver 10.0.0.1\n;nameserver 10.0.0.2\n", &DEFAULT_SERVER),
        (
            "nameserver\nnameserver nonsense\nnameserver 10.0.0.256\nnameserver [::1]\nNAMESERVER 10.0.0.1",
            &DEFAULT_SERVER,
        ),
        ("nameserver 10.0.0.1 ; near\n", &["10.0.0.1:53"]),
        ("nameserver 10.0.0.1\r\nnameserver\t10.0.0.2\r\n", &["10.0.0.1:53", "10.0.0.2:53"]),
        ("  nameserver   10.0.0.1   10.0.0.2", &["10.0.0.1:53"]),
        ("nameserver 127.1\nnameserver 0", &["127.0.0.1:53", "0.0.0.0:53"]),
        (
            "nameserver fe80::1\nnameserver fe80::1%lo\nnameserver fe80::1%9",
            &["[fe80::1]:53", "[fe80::1%1]:53", "[fe80::1%9]:53"],
        ),
        ("nameserver fe80::1%no-such-one", &["[fe80::1]:53"]),
        (
            "nameserver 10.0.0.1\nnameserver 10.0.0.1\nnameserver ::1\nnameserver 10.0.0.4\n",
            &["10.0.0.1:53", "10.0.0.1:53", "[::1]:53"],
        ),
    ] {
        assert_eq!(servers(text), expected, "{text:?}");
    }
}

#[test]
fn options_are_understood() {
    for (text, dots, seconds, attempts) in [
        ("options", 1, 5, 2),
        (
            "options ndots:2 timeout:99 attempts:0 rotate edns0 trust-ad inet6 no-such-one:7 single-request",
            2,
            30,
            1,
        ),
        ("options ndots:0\noptions timeout:0 attempts:9", 0, 1, 5),
        ("options ndots:15 timeout:", 15, 5, 2),
        ("options ndots:99 attempts:x ndots", 15, 5, 2),
        ("options ndots:-1 timeout:4294967296 : :: :1", 1, 5, 2),
    ] {
        let config = Config::of_text(text);
        assert_eq!(
            (config.dots, config.timeout.as_secs(), config.attempts),
            (dots, seconds, attempts),
            "{text:?}"
        );
        assert!(!config.uses_tcp);
    }
    assert!(Config::of_text("options use-vc").uses_tcp);
}

#[test]
fn domains_are_appended() {
    for (settings, host, expected) in [
        ("", "www", &["www."][..]),
        ("search", "www", &["www."]),
        ("search .", "www", &["www."]),
        ("search . example", "www", &["www.", "www.example."]),
        ("search example. .org b..c", "www", &["www.example.", "www.org.", "www."]),
        ("domain a.example b.example\n", "www", &["www.a.example.", "www."]),
        ("domain a\nsearch b c\r\n", "www", &["www.b.", "www.c.", "www."]),
        ("search b c\ndomain a", "www", &["www.a.", "www."]),
        (
            "search a.example. b.example # c\noptions ndots:2",
            "w.w.w",
            &["w.w.w.", "w.w.w.a.example.", "w.w.w.b.example."],
        ),
        ("search a\noptions ndots:2", "w.w", &["w.w.a.", "w.w."]),
        ("search a\noptions ndots:0", "www", &["www.", "www.a."]),
        ("search a\noptions ndots:15", "w.w.w", &["w.w.w.a.", "w.w.w."]),
        ("search a", "www.", &["www."]),
        ("search b", "_w-w_", &["_w-w_.b.", "_w-w_."]),
        ("", "b\u{fc}cher.example", &["xn--bcher-kva.example."]),
    ] {
        let found = names(settings, host);
        let expected: Vec<_> = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(found, expected, "{settings:?} {host:?}");
    }
}

#[test]
fn what_cannot_be_a_name_is_not_asked_for() {
    let (label, longest) = ("x".repeat(64), "x.".repeat(126) + "x");
    for host in [
        "",
        ".",
        "..",
        "a..b",
        ".a",
        "a..",
        " ",
        "a b",
        "a\0b",
        "a\tb",
        "a\\b",
        "a\\.b",
        "a/b",
        "[::1]",
        "a:b",
        "a@b",
        &label,
        &(longest.clone() + "xx"),
    ] {
        assert_eq!(names("search example", host), [""; 0], "{host:?}");
    }
    // Too long only with what is appended.
    assert_eq!(names("search example", &longest), [longest.clone() + "."]);
    assert_eq!(names("", &label[1..]), [label[1..].to_owned() + "."]);
}

#[test]
fn a_file_that_is_none_says_nothing() {
    let file = std::env::temp_dir().join(format!("lamprey-resolv-{}", std::process::id()));
    let read = |path: &Path| Config::of_file(path).unwrap().servers;
    let defaults = Config::of_text("").servers;
    assert_eq!(read(&file), defaults);
    assert_eq!(read(&std::env::temp_dir()), defaults);
    std::fs::write(&file, b"# by M\xfcller\nnameserver 10.0.0.1\n").unwrap();
    assert_eq!(read(&file), ["10.0.0.1:53".parse().unwrap()]);
    assert_eq!(read(&file.join("below")), defaults);
    std::fs::remove_file(file).unwrap();
}
