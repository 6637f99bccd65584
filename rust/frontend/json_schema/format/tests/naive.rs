//! A matcher of expressions that follows their definition: the ends of all matches from a place.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::grammar::{Expr, GrammarBuilder};
use crate::index::ExprId;

type Ends = Rc<BTreeSet<usize>>;

/// Whether a text belongs to an expression.
pub(super) fn matches(builder: &GrammarBuilder, root: ExprId, text: &str) -> bool {
    let mut matcher = Matcher { builder, text, known: HashMap::new() };
    matcher.ends(root, 0).contains(&text.len())
}

struct Matcher<'a> {
    builder: &'a GrammarBuilder,
    text: &'a str,
    known: HashMap<(ExprId, usize), Ends>,
}

impl Matcher<'_> {
    fn ends(&mut self, id: ExprId, start: usize) -> Ends {
        if let Some(ends) = self.known.get(&(id, start)) {
            return Rc::clone(ends);
        }
        let rest = &self.text[start..];
        let ends = match self.builder.expr(id) {
            Expr::Literal(bytes) => {
                let found = rest.as_bytes().starts_with(bytes);
                found.then_some(start + bytes.len()).into_iter().collect()
            }
            Expr::Class(ranges) => {
                let first = rest.chars().next();
                let first =
                    first.filter(|c| ranges.iter().any(|range| (range.0..=range.1).contains(c)));
                first.map(|c| start + c.len_utf8()).into_iter().collect()
            }
            Expr::Seq(parts) => {
                let mut ends = BTreeSet::from([start]);
                for &part in parts.iter() {
                    ends = self.step(part, &ends);
                }
                ends
            }
            Expr::Alt(parts) => {
                parts.iter().flat_map(|&part| self.ends(part, start).as_ref().clone()).collect()
            }
            &Expr::Repeat { expr, min, max } => self.repeat(expr, min, max, start),
            Expr::And { all, none } => {
                let mut ends = self.ends(all[0], start).as_ref().clone();
                for &part in &all[1..] {
                    let others = self.ends(part, start);
                    ends.retain(|end| others.contains(end));
                }
                for &part in none.iter() {
                    let others = self.ends(part, start);
                    ends.retain(|end| !others.contains(end));
                }
                ends
            }
            other => unreachable!("formats have no {other:?}"),
        };
        let ends = Rc::new(ends);
        self.known.insert((id, start), Rc::clone(&ends));
        ends
    }

    fn step(&mut self, part: ExprId, starts: &BTreeSet<usize>) -> BTreeSet<usize> {
        starts.iter().flat_map(|&start| self.ends(part, start).as_ref().clone()).collect()
    }

    fn repeat(
        &mut self,
        part: ExprId,
        min: u32,
        max: Option<u32>,
        start: usize,
    ) -> BTreeSet<usize> {
        let mut now = BTreeSet::from([start]);
        for _ in 0..min {
            now = self.step(part, &now);
        }
        let mut all = now.clone();
        let mut count = min;
        while !now.is_empty() && max.is_none_or(|max| count < max) {
            now = self.step(part, &now);
            if max.is_none() {
                now.retain(|end| !all.contains(end));
            }
            all.extend(&now);
            count += 1;
        }
        all
    }
}
