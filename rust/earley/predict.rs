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
    /// The terminals that may come first, sorted.
    pub(super) terminals: Box<[Sym]>,
    /// For each symbol the items that follow from it. A nonterminal that stands last is no key: it
    /// is a tail call.
    advances: FxHashMap<Sym, Vec<Advance>>,
    /// How many items there are in all.
    items: usize,
}

impl Prediction {
    /// The items that follow when `symbol` is read.
    pub(super) fn after(&self, symbol: Sym) -> &[Advance] {
        self.advances.get(&symbol).map_or(&[], |advances| advances)
    }
}

/// The predictions met so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Predictions {
    known: FxHashMap<NonterminalId, Arc<Prediction>>,
    items: usize,
}

impl Predictions {
    /// What a call of a nonterminal predicts.
    pub(super) fn of(
        &mut self,
        program: &Program,
        sets: &mut CalledSets,
        nonterminal: NonterminalId,
    ) -> Arc<Prediction> {
        if let Some(known) = self.known.get(&nonterminal) {
            return Arc::clone(known);
        }
        let prediction = Arc::new(predict(program, sets, nonterminal));
        self.items += prediction.items;
        self.known.insert(nonterminal, Arc::clone(&prediction));
        prediction
    }

    pub(super) fn memory_bytes(&self) -> usize {
        self.known.len() * 128 + self.items * (size_of::<Advance>() + 24)
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
fn flows_from(program: &Program, nonterminal: NonterminalId) -> FxHashMap<NonterminalId, Flow> {
    let mut flows: FxHashMap<NonterminalId, Flow> = FxHashMap::default();
    flows.insert(nonterminal, Flow { inherits: true, called: Vec::new() });
    let mut changed = vec![nonterminal];
    while let Some(caller) = changed.pop() {
        let passed_on = flows[&caller].clone();
        for &dot in program.starts(caller) {
            let Some(Sym::Nonterminal(called)) = program.after(dot) else { continue };
            let new = !flows.contains_key(&called);
            let flow = flows.entry(called).or_default();
            let grown = if program.is_last(dot) {
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

/// How many return addresses a call of a nonterminal predicts beyond one for each nonterminal: the
/// square of how deep rules nest at their left ends with something behind each. A row's work grows
/// with the cube of that depth.
pub(super) fn left_nesting(program: &Program, nonterminal: NonterminalId) -> usize {
    flows_from(program, nonterminal).values().map(|flow| flow.called.len().saturating_sub(1)).sum()
}

fn predict(program: &Program, sets: &mut CalledSets, nonterminal: NonterminalId) -> Prediction {
    let flows = flows_from(program, nonterminal);
    let mut advances: FxHashMap<Sym, Vec<Advance>> = FxHashMap::default();
    let mut items = 0;
    for (&predicted, Flow { inherits, called }) in &flows {
        let called = sets.intern(called);
        for &dot in program.starts(predicted) {
            let Some(symbol) = program.after(dot) else { continue };
            let last = program.is_last(dot);
            if last && matches!(symbol, Sym::Nonterminal(_)) {
                continue;
            }
            let dot = (!last).then(|| program.next(dot));
            advances.entry(symbol).or_default().push(Advance { dot, called, inherits: *inherits });
            items += 1;
        }
    }
    let is_terminal = |symbol: &&Sym| !matches!(symbol, Sym::Nonterminal(_));
    let mut terminals: Vec<Sym> = advances.keys().filter(is_terminal).copied().collect();
    terminals.sort_unstable();
    Prediction { terminals: terminals.into(), advances, items }
}
