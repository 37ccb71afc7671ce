//! The pages in `site/` are those that are made, their links lead somewhere, and what they say is so.

use super::*;
use std::collections::{HashMap, HashSet};

/// The values of an attribute in a page.
fn values<'a>(page: &'a str, attribute: &'a str) -> impl Iterator<Item = &'a str> {
    page.split(attribute).skip(1).filter_map(|rest| rest.strip_prefix("=\"")?.split('"').next())
}

#[test]
fn the_pages_are_up_to_date() {
    let (root, mut made) = (root(), HashSet::new());
    for (path, text) in files(&root).unwrap() {
        let there = fs::read_to_string(root.join("site").join(&path)).unwrap_or_default();
        assert!(there == text, "site/{path} is out of date: `cargo run -p site` makes it anew");
        made.insert(path);
    }
    for (path, picture) in pictures(&root).unwrap() {
        let there = fs::read(root.join("site").join(&path)).unwrap_or_default();
        assert!(there == picture, "site/{path} is out of date: `cargo run -p site` makes it anew");
        made.insert(path);
    }
    for entry in fs::read_dir(root.join("site/guide")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(made.contains(&format!("guide/{name}")), "site/guide/{name} is of no chapter");
    }
}

#[test]
fn links_and_anchors_lead_somewhere_within_the_site() {
    let root = root();
    let files: HashMap<_, _> = files(&root).unwrap().into_iter().collect();
    let mut count = 0;
    for (path, page) in files.iter().filter(|(path, _)| path.ends_with(".html")) {
        for link in values(page, " href").chain(values(page, " src")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let name = match file.strip_prefix('/') {
                Some(name) if name.is_empty() || name.ends_with('/') => format!("{name}index.html"),
                Some(name) => name.to_owned(),
                None => path.clone(),
            };
            assert!(file.is_empty() || file.starts_with('/'), "site/{path} needs {link}, which is outside");
            assert!(
                root.join("site").join(&name).is_file(),
                "site/{path} links to {link}, which is not there"
            );
            if !anchor.is_empty() {
                assert!(values(&files[&name], " id").any(|id| id == anchor), "site/{path}: no anchor {link}");
            }
            count += 1;
        }
        assert!(!page.contains("<script"), "site/{path} needs no scripts");
        let ids: Vec<_> = values(page, " id").collect();
        assert_eq!(
            ids.len(),
            ids.iter().collect::<HashSet<_>>().len(),
            "site/{path}: an anchor is there twice"
        );
    }
    assert!(count > 500, "only {count} links were found");
}

/// Where a page of Markdown names a file of the tree, the file is there.
#[test]
fn files_that_the_front_page_names_are_there() {
    let root = root();
    let front = fs::read_to_string(root.join("docs/front.md")).unwrap();
    let named: Vec<_> =
        front.split('`').skip(1).step_by(2).filter(|name| name.starts_with("bench/")).collect();
    assert_eq!(named.len(), 2, "{named:?}");
    for name in named {
        assert!(root.join(name).exists(), "{name}");
    }
    // Its compiler is the one that the workspace asks for, its licence that of the workspace.
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let value = |key: &str| {
        let line = manifest.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('"').nth(1).unwrap().to_owned()
    };
    assert!(front.contains(&format!("({} or later)", value("rust-version"))));
    assert!(page::front(&front).contains(&value("license").replace("OR", "or")));
}

/// The figures of the picture are among those of the runs that it is drawn from.
#[test]
fn the_figures_of_the_picture_were_measured() {
    let root = root();
    let mut measured = HashSet::new();
    for run in ["2026-11-21", "2026-11-21-parasites", "2026-11-21-events"] {
        let lines = fs::read_to_string(root.join(format!("bench/results/{run}.json"))).unwrap();
        for line in lines.lines().map(|line| line.replace(' ', "")) {
            let min = line
                .split("\"min\":")
                .nth(1)
                .and_then(|rest| rest.split([',', '}']).next()?.parse::<f64>().ok());
            if let Some(min) = min.filter(|_| line.contains("\"workers\":1,")) {
                measured.extend([format!("{min:.1}"), format!("{min:.0}")]);
            }
        }
    }
    let picture = fs::read_to_string(root.join("docs/speed.svg")).unwrap();
    let texts = picture.split("</text>").filter_map(|part| Some(part.rsplit_once('>')?.1));
    let figures: Vec<_> = texts.filter(|text| text.parse::<f64>().is_ok()).collect();
    assert_eq!(figures.len(), 18, "six operations of three: {figures:?}");
    for figure in figures {
        assert!(measured.contains(figure), "nobody has measured {figure}");
    }
}

#[test]
fn chapters_are_rendered_with_anchors_and_without_hidden_lines() {
    let text = "# A `b` & c?\n\n[x](hosts.md#y-z) [z](../../no.md) [w](https://far)\n\n## Two\n## Two\n\n\
                ```rust,no_run\n# hidden();\n#[derive(Debug)]\nlet a = 1 < 2;\n```\n";
    let rendered = render::render(text);
    let html = &rendered.html;
    assert!(html.contains("<h1 id=\"a-b--c\">A <code>b</code> &amp; c?</h1>"), "{html}");
    assert!(html.contains("<a href=\"/guide/hosts.html#y-z\">x</a> z w"), "{html}");
    assert!(html.contains("id=\"two\"") && html.contains("id=\"two-1\""), "{html}");
    assert!(html.contains("#[derive(Debug)]\nlet a = 1 &lt; 2;") && !html.contains("hidden"), "{html}");
    assert_eq!(rendered.sections.len(), 2);
}
