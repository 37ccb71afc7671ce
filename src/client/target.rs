//! Which endpoint is meant, and the token for it.

/// A token, and where it is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// For the one who has given it.
    pub source: &'static str,
}

impl Token {
    /// The token to use: what is written in the command counts more than the environment. An error if no endpoint can have it.
    pub fn choose(option: Option<String>, in_address: Option<String>) -> Result<Option<Self>, String> {
        let variable = std::env::var_os("LAMPREY_TOKEN").map(|text| text.to_string_lossy().into_owned());
        let all =
            [(option, "--token"), (in_address, "the address"), (variable, "the variable LAMPREY_TOKEN")];
        let given = all.into_iter().filter_map(|(text, source)| Some(Self { text: text?, source }));
        let token = given.filter(|token| !token.text.is_empty()).take(1).next();
        let is_possible = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        match &token {
            Some(Self { text, source }) if !text.bytes().all(is_possible) => {
                // The token itself is not told: it may be right but for a line's end.
                Err(format!(
                    "the token in {source} has characters that no token has: they are A-Z, a-z, 0-9, - . _ ~"
                ))
            }
            _ => Ok(token),
        }
    }
}

/// HOST:PORT and the token of an address as people write it.
pub fn parse(target: &str) -> Result<(String, Option<String>), String> {
    let invalid = || format!("`{target}` is no endpoint: write HOST:PORT, or the number of a process");
    let rest = target.strip_prefix("http://").unwrap_or(target);
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (address, query) = rest.split_at(end);
    let (host, port) = address.rsplit_once(':').ok_or_else(invalid)?;
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_host) || port.parse::<u16>().is_err() {
        return Err(invalid());
    }
    // What stands behind `#` is the page's own: the view that is open.
    let query = query.split('#').next().unwrap_or_default();
    let parameters = query.split_once('?').map_or("", |(_, parameters)| parameters).split('&');
    let token = parameters.filter_map(|one| one.strip_prefix("token=")).next();
    Ok((address.to_owned(), token.map(str::to_owned)))
}

#[cfg(test)]
mod tests {
    use super::{Token, parse};

    #[test]
    fn addresses_are_taken_as_people_write_them() {
        for (text, address, token) in [
            ("127.0.0.1:80", "127.0.0.1:80", None),
            ("[::1]:80", "[::1]:80", None),
            ("localhost:1", "localhost:1", None),
            ("http://127.0.0.1:80/", "127.0.0.1:80", None),
            ("http://a-b.c:80/?token=x.y", "a-b.c:80", Some("x.y")),
            ("a:80?a=b&token=x", "a:80", Some("x")),
            ("http://a:80/?token=x#threads?search=y", "a:80", Some("x")),
            ("http://a:80/#threads?token=y", "a:80", None),
        ] {
            assert_eq!(parse(text), Ok((address.to_owned(), token.map(str::to_owned))), "{text}");
        }
        for text in
            ["", "host", ":80", "host:", "host:99999", "https://host:1", "a b:1", "http://:1", "x@y:1", "-1"]
        {
            assert!(parse(text).unwrap_err().contains(&format!("`{text}`")), "{text}");
        }
    }

    #[test]
    fn an_option_counts_more_than_the_address() {
        let token = |text: &str| Some(text.to_owned());
        assert_eq!(Token::choose(token("a"), token("b")).unwrap().unwrap().source, "--token");
        let in_address = Token::choose(None, token("b")).unwrap().unwrap();
        assert_eq!((&*in_address.text, in_address.source), ("b", "the address"));
        let error = Token::choose(token("secret\n"), None).unwrap_err();
        assert!(error.contains("--token") && !error.contains("secret"), "{error}");
    }
}
