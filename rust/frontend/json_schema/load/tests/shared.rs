//! Many schemas: whole collections where they lie beside the repository, and broken texts.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::super::tree::{Json, Node, Tree};
use super::json::tree;
use super::{Loader, Options};
use crate::error::GrammarError;

fn shared(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    path.exists().then_some(path)
}

/// A node as JSON text.
fn text_of(tree: &Tree, node: Node) -> String {
    let quoted = |text: &str| {
        let mut out = String::from("\"");
        for c in text.chars() {
            match c {
                '"' | '\\' => out.extend(['\\', c]),
                '\0'..' ' => write!(out, "\\u{:04x}", c as u32).unwrap(),
                c => out.push(c),
            }
        }
        out + "\""
    };
    match tree.json(node) {
        Json::Null => "null".to_owned(),
        Json::Bool(value) => value.to_string(),
        Json::Number(text) => text.to_owned(),
        Json::String(text) => quoted(text),
        Json::Array => {
            let items: Vec<_> = tree.children(node).map(|item| text_of(tree, item)).collect();
            format!("[{}]", items.join(","))
        }
        Json::Object => {
            let members = tree.children(node);
            let members = members
                .map(|member| format!("{}:{}", quoted(tree.name(member)), text_of(tree, member)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
    }
}

fn walk(text: &str, options: &Options) -> Result<usize, GrammarError> {
    let mut members = 0;
    Loader::new(text, options)?.walk_all(&mut |_, _| members += 1)?;
    Ok(members)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut open = vec![folder.to_owned()];
    let mut found = vec![];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn the_official_suite_loads() {
    let Some(suite) = shared("json-schema-test-suite") else { return };
    let remotes = suite.join("remotes");
    let mut options = Options::default();
    for path in files(&remotes) {
        let uri =
            format!("http://localhost:1234/{}", path.strip_prefix(&remotes).unwrap().display());
        options.resources.push((uri, std::fs::read_to_string(path).unwrap()));
    }
    let mut schemas = 0;
    for path in files(&suite.join("draft2020-12")) {
        let tree = tree(&std::fs::read_to_string(&path).unwrap());
        for group in tree.children(Node::ROOT) {
            let text = text_of(&tree, tree.get(group, "schema").unwrap());
            if let Err(error) = walk(&text, &options) {
                let name = tree.string(tree.get(group, "description").unwrap()).unwrap();
                panic!("{}: {name}: {error}", path.display());
            }
            schemas += 1;
        }
    }
    assert!(schemas > 300);
}

#[test]
fn maskbench_loads() {
    let Some(path) = shared("maskbench/dev.jsonl.gz") else { return };
    let Ok(unpacked) = Command::new("gzip").arg("-dc").arg(path).output() else { return };
    let lines = String::from_utf8(unpacked.stdout).unwrap();
    let options = Options::default();
    let (mut broken, mut schemas) = (vec![], 0);
    for line in lines.lines() {
        let tree = tree(line);
        let text = text_of(&tree, tree.get(Node::ROOT, "schema").unwrap());
        if let Err(error) = walk(&text, &options) {
            let id = tree.string(tree.get(Node::ROOT, "id").unwrap()).unwrap();
            broken.push(format!("{id}: {error}"));
        }
        schemas += 1;
    }
    assert!(schemas > 2_000);
    assert!(broken.is_empty(), "{} broken:\n{}", broken.len(), broken.join("\n"));
}

/// Texts near schemas: whatever they are, they are read or refused.
#[test]
fn broken_texts_do_no_harm() {
    let sources = [
        include_str!("../metaschemas/2020-12/schema.json"),
        include_str!("../metaschemas/2019-09/applicator.json"),
        include_str!("../metaschemas/draft-04.json"),
        r##"{"$id": "http://x/é", "items": [{"$ref": "#/items/0"}, {"$dynamicRef": "#a"}],
            "$defs": {"x": {"$id": "y", "$dynamicAnchor": "a", "if": {}, "const": "\u00e9\ud83d\ude00"}},
            "minimum": -1.5e3, "exclusiveMinimum": true, "enum": [null, [1, {"a": 2}]]}"##,
    ];
    let options = Options::default();
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % below
    };
    let (mut taken, rounds) = (0, 4_000);
    for round in 0..rounds {
        let mut text: Vec<char> = sources[round % sources.len()].chars().collect();
        for _ in 0..=random(3) {
            let (from, to) = (random(text.len()), random(text.len()));
            match random(4) {
                0 => drop(text.drain(from..text.len().min(from + 1 + to % 3))),
                1 => text[from] = text[to],
                2 => text.insert(from, text[to]),
                _ => {
                    let piece: Vec<char> = text[from..text.len().min(from + 30)].to_vec();
                    text.splice(to..to, piece);
                }
            }
        }
        taken += usize::from(walk(&text.iter().collect::<String>(), &options).is_ok());
    }
    assert!(taken > rounds / 20 && taken < rounds / 2, "{taken}");
}
