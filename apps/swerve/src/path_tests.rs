use super::*;

fn file(target: &str) -> Result<String, u16> {
    let mut name = b"left over".to_vec();
    split(target)
        .and_then(|(path, _)| resolve(path, &mut name))
        .map(|()| String::from_utf8_lossy(&name).into_owned())
        .map_err(Status::code)
}

#[test]
fn plain_names() {
    let table = [
        ("/", "index.html"),
        ("/a", "a"),
        ("/a/b.txt", "a/b.txt"),
        ("/a/", "a/index.html"),
        ("/a?b/../c", "a"),
        ("/?q", "index.html"),
        ("/%61%2Etxt", "a.txt"),
        ("/a%20b+c", "a b+c"),
        ("/%e2%82%ac", "\u{20ac}"),
        ("/...", "..."),
        ("/.well-known/x", ".well-known/x"),
        ("/a%3fb", "a?b"),
        ("http://h/a", "a"),
        ("HTTP://h:80/a/", "a/index.html"),
        ("https://h", "index.html"),
        ("http://h?q=/../x", "index.html"),
        ("/a/http://x".split("//").next().unwrap(), "a/http:"),
    ];
    for (target, name) in table {
        assert_eq!(file(target).as_deref(), Ok(name), "{target}");
    }
}

#[test]
fn tricks_are_refused() {
    let table = [
        ("/..", 400),
        ("/../etc/passwd", 400),
        ("/a/../../etc/passwd", 400),
        ("/%2e%2e/etc/passwd", 400),
        ("/%2E./etc/passwd", 400),
        ("/.%2e/", 400),
        ("/a/..", 400),
        ("/%252e%252e/x%00", 400),
        ("/..%2fetc", 404),
        ("/..%2Fetc%2Fpasswd", 404),
        ("/%2fetc/passwd", 404),
        ("/%2f", 404),
        ("//", 404),
        ("//etc/passwd", 404),
        ("/a//b", 404),
        ("/a//", 404),
        ("/.", 404),
        ("/./a", 404),
        ("/a/.", 404),
        ("/%2e/a", 404),
        ("/a%00.txt", 400),
        ("/a\0", 400),
        ("/a\\..\\b", 400),
        ("/..%5c..%5cetc", 400),
        ("/%0d%0aSet-Cookie:x", 400),
        ("/a%7f", 400),
        ("/%", 400),
        ("/%2", 400),
        ("/%zz", 400),
        ("/%+1", 400),
        ("/a#b", 400),
        ("/\u{20ac}", 400),
        ("*", 400),
        ("", 400),
        ("a", 400),
        ("etc/passwd", 400),
        ("file:///etc/passwd", 400),
        ("http:///etc/passwd", 400),
        ("http://h#x", 400),
        ("http://u@h/a", 400),
        ("http://u:p@h:80/a", 400),
        ("http://:80/a", 400),
        ("http://h:x/a", 400),
        ("http://?q", 400),
        ("http://[::1/a", 400),
        ("http:/h/a", 400),
        ("http://h//etc", 404),
        ("host:80", 400),
    ];
    for (target, status) in table {
        assert_eq!(file(target), Err(status), "{target:?}");
    }
}

#[test]
fn a_doubly_encoded_name_is_decoded_once() {
    assert_eq!(file("/%252e%252e").as_deref(), Ok("%2e%2e"));
}

#[test]
fn overlong_utf8_stays_what_it_is() {
    let mut name = Vec::new();
    resolve("/%c0%ae%c0%ae/x", &mut name).unwrap();
    assert_eq!(name, b"\xc0\xae\xc0\xae/x");
}

#[test]
fn the_query_is_kept_apart() {
    assert_eq!(split("/a?b=c"), Ok(("/a", "?b=c")));
    assert_eq!(split("/a?"), Ok(("/a", "?")));
    assert_eq!(split("http://h?q"), Ok(("/", "?q")));
}

#[test]
fn whatever_is_asked_for_the_invariant_holds() {
    let (mut state, mut name, mut accepted) = (0x2545_f491_4f6c_dd1d_u64, Vec::new(), 0);
    for _ in 0..200_000 {
        let mut target = String::from("/");
        for _ in 0..12 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            target.push_str(
                ["a", "/", ".", "%2e", "%2f", "%5c", "%00", "\\", "%", "?"][(state >> 33) as usize % 10],
            );
        }
        let Ok((path, _)) = split(&target) else { continue };
        if resolve(path, &mut name).is_ok() {
            accepted += 1;
            let whole = name.split(|&byte| byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."));
            assert!(whole && !name.iter().any(|&byte| byte.is_ascii_control() || byte == b'\\'), "{target}");
            assert_eq!(
                name.iter().filter(|&&byte| byte == b'/').count() + 1,
                path.matches('/').count(),
                "{target}"
            );
        }
    }
    assert!(accepted > 1000, "only {accepted} names were accepted: the test says little");
}
