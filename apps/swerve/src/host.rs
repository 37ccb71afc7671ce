//! A host with its port, as in the field `Host` and in an absolute target (RFC 9110, 4.2 and 7.2).

/// Whether `value` is a host and perhaps a port. The host may be empty, and has no user before it.
pub(crate) fn is_host(value: &[u8]) -> bool {
    let (is_host, port) = match value {
        [b'[', rest @ ..] => match rest.iter().position(|&byte| byte == b']') {
            Some(end) => (end > 0 && are(&rest[..end], b":.%-_~"), &rest[end + 1..]),
            None => return false,
        },
        _ => {
            let end = value.iter().position(|&byte| byte == b':').unwrap_or(value.len());
            (are(&value[..end], b"-._~!$&'()*+,;=%"), &value[end..])
        }
    };
    is_host && (port.is_empty() || (port[0] == b':' && port[1..].iter().all(u8::is_ascii_digit)))
}

/// Whether all bytes are letters, digits, or among `others`.
fn are(bytes: &[u8], others: &[u8]) -> bool {
    bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || others.contains(byte))
}

#[cfg(test)]
mod tests {
    use super::is_host;

    #[test]
    fn hosts() {
        for host in ["", "h", "h:", "h:80", "127.0.0.1:8080", "my_host.local", "[::1]", "[::1]:80", "a%20b"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in ["[fe80::1%25eth0]", "[v1.x:y]", "xn--bcher-kva.example", ":80"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn what_is_none() {
        for host in
            ["a b", "a/b", "a:b", "a:80:80", "u@h", "u:p@h", "[::1", "[]", "[::1]x", "::1", "a\"b", "a<b"]
        {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
        assert!(!is_host(b"\xc3\xbc") && !is_host(b"a\0") && !is_host(b"a\tb") && !is_host(b"h#x"));
    }
}
