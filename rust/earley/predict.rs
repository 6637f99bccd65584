//! Prediction, once for each nonterminal instead of once a row.
//!
//! When a row calls X, it predicts the productions of X, of the nonterminals that those start with,
//! and so on. What is predicted depends on X alone; only the return addresses depend on the row.
//! Of a predicted nonterminal B it is known beforehand
//!
//! - whether it *inherits* the call's own return addresses (X leads to B by tail calls alone), and
//! - which nonterminals of the same row it returns to (*called*: those predicted in the midst of a
//!   production, from which tail calls lead to B).
//!
//! PERF: computing this per row, a mask of `grammars/c_subset.gbnf` took 1,110 µs, now 570 (and less
//! with later changes).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::productions::Productions;
use super::program::{Program, Sym};
use super::returns::CalledSets;
use crate::index::{CalledId, DotId, NonterminalId};

/// An item that follows from a call when a symbol at the start of a predicted production is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance {
    /// The dot behind that symbol; `None` if the production is complete.
    pub(super) dot: Option<DotId>,
    /// What the calling row called that the production returns to.
    pub(super) called: CalledId,
    /// Whether the production also returns where the call itself returns.
    pub(super) inherits: bool,
}

/// What a call of one nonterminal predicts.
#[derive(Debug)]
pub(super) struct Prediction {
    /// The symbols that may come first, sorted: terminals, then nonterminals. A nonterminal that
    /// stands last is not among them: it is a tail call.
    symbols: Box<[Sym]>,
    /// For each symbol the end of its part of `advances`.
    ends: Box<[u32]>,
    /// The items that follow from each symbol.
    advances: Box<[Advance]>,
    /// How many of the symbols are terminals.
    terminals: usize,
}

impl Prediction {
    /// The terminals that may come first, sorted.
    pub(super) fn terminals(&self) -> &[Sym] {
        &self.symbols[..self.terminals]
    }

    /// The items that follow when `symbol` is read.
    pub(super) fn after(&self, symbol: Sym) -> &[Advance] {
        let Ok(at) = self.symbols.binary_search(&symbol) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.advances[start as usize..self.ends[at] as usize]
    }

    fn memory_bytes(&self) -> usize {
        128 + self.symbols.len() * (size_of::<Sym>() + 4)
            + self.advances.len() * size_of::<Advance>()
    }
}

/// The predictions met so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Predictions {
    known: FxHashMap<NonterminalId, Arc<Prediction>>,
    bytes: usize,
}

impl Predictions {
    /// What a call of a nonterminal predicts.
    pub(super) fn of(
        &mut self,
        productions: &mut Productions,
        sets: &mut CalledSets,
        nonterminal: NonterminalId,
    ) -> Arc<Prediction> {
        if let Some(known) = self.known.get(&nonterminal) {
            return Arc::clone(known);
        }
        let prediction = Arc::new(predict(productions, sets, nonterminal));
        self.bytes += prediction.memory_bytes();
        self.known.insert(nonterminal, Arc::clone(&prediction));
        prediction
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.known.capacity() * 16 + self.bytes
    }
}

/// Where the productions of a predicted nonterminal return to.
#[derive(Clone, Default)]
struct Flow {
    inherits: bool,
    /// Sorted.
    called: Vec<NonterminalId>,
}

impl Flow {
    /// Adds another flow; says whether anything was new.
    fn add(&mut self, other: &Self) -> bool {
        let mut changed = other.inherits && !self.inherits;
        self.inherits |= other.inherits;
        for &nonterminal in &other.called {
            if let Err(at) = self.called.binary_search(&nonterminal) {
                self.called.insert(at, nonterminal);
                changed = true;
            }
        }
        changed
    }
}

/// Where everything returns to that a call of a nonterminal predicts.
fn flows_from(
    productions: &mut Productions,
    nonterminal: NonterminalId,
) -> FxHashMap<NonterminalId, Flow> {
    let mut flows: FxHashMap<NonterminalId, Flow> = FxHashMap::default();
    flows.insert(nonterminal, Flow { inherits: true, called: Vec::new() });
    let mut changed = vec![nonterminal];
    while let Some(caller) = changed.pop() {
        let passed_on = flows[&caller].clone();
        productions.unfold(caller);
        for &dot in productions.starts(caller) {
            let Some(Sym::Nonterminal(called)) = productions.symbol(dot) else { continue };
            let new = !flows.contains_key(&called);
            let flow = flows.entry(called).or_default();
            let grown = if productions.is_last(dot) {
                flow.add(&passed_on)
            } else {
                flow.add(&Flow { inherits: false, called: vec![called] })
            };
            if new || grown {
                changed.push(called);
            }
        }
    }
    flows
}

/// How many return addresses the first row of a program has to tell apart, beyond one for each
/// nonterminal: the square of how deep rules nest at their left ends with something behind each. A
/// row's work grows with the cube of that depth.
pub fn left_nesting(program: &Arc<Program>) -> usize {
    let mut productions = Productions::new(Arc::clone(program));
    match program.start().and_then(|dot| program.symbol(dot)) {
        Some(Sym::Nonterminal(start)) => flows_from(&mut productions, start)
            .values()
            .map(|flow| flow.called.len().saturating_sub(1))
            .sum(),
        _ => 0,
    }
}

fn predict(
    productions: &mut Productions,
    sets: &mut CalledSets,
    nonterminal: NonterminalId,
) -> Prediction {
    let flows = flows_from(productions, nonterminal);
    let mut items: Vec<(Sym, Advance)> = Vec::new();
    for (&predicted, Flow { inherits, called }) in &flows {
        let called = sets.intern(called);
        for &dot in productions.starts(predicted) {
            let Some(symbol) = productions.symbol(dot) else { continue };
            let last = productions.is_last(dot);
            if last && matches!(symbol, Sym::Nonterminal(_)) {
                continue;
            }
            let dot = (!last).then(|| productions.next(dot));
            items.push((symbol, Advance { dot, called, inherits: *inherits }));
        }
    }
    items.sort_unstable_by_key(|&(symbol, _)| symbol);
    let groups = || items.chunk_by(|a, b| a.0 == b.0);
    let symbols: Box<[Sym]> = groups().map(|group| group[0].0).collect();
    let ends = groups()
        .scan(0, |end, group| {
            *end += group.len() as u32;
            Some(*end)
        })
        .collect();
    let terminals = symbols.partition_point(|symbol| !matches!(symbol, Sym::Nonterminal(_)));
    let advances = items.iter().map(|&(_, advance)| advance).collect();
    Prediction { symbols, ends, advances, terminals }
}
