//! Rows: kernels, prediction, scanning and completion.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::predict::{Advance, Predictions};
use super::productions::Productions;
use super::program::{Program, Sym};
use super::returns::{CalledSets, NOWHERE, ROOT, Returns};
use crate::index::{
    AwaitedId, ContextId, DotId, ExpectedId, IndexVec, LexemeId, NonterminalId, ReturnId,
    ReturnSetId, RowId, TokenTerminalId,
};
use crate::interner::SliceInterner;

/// The dot of the kernel item that says "the text is complete here".
const ACCEPTED: DotId = DotId(u32::MAX);

/// A dot and where its production returns to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Item {
    dot: DotId,
    returns: ReturnSetId,
}

const _: () = assert!(size_of::<Item>() == 8);

/// An Earley set.
#[derive(Clone, Debug)]
pub struct Row {
    /// The items of the kernel that call nonterminals.
    context: ContextId,
    /// Rows with the same terminals have the same id.
    pub expected: ExpectedId,
    /// The lexemes that may start here.
    pub lexemes: Arc<[LexemeId]>,
    /// The token terminals that may be scanned here.
    pub tokens: Arc<[TokenTerminalId]>,
    /// Whether the text may end here.
    pub accepts: bool,
}

/// The terminals that a row expects, by kind.
#[derive(Clone, Debug)]
struct Expected {
    lexemes: Arc<[LexemeId]>,
    tokens: Arc<[TokenTerminalId]>,
}

/// All rows met so far, and what is known of the steps between them.
#[derive(Clone, Debug)]
pub struct Rows {
    productions: Productions,
    sets: IndexVec<RowId, Row>,
    /// For each row its kernel: sorted, one item a dot. What follows by prediction is worked out
    /// where it is needed.
    kernels: SliceInterner<RowId, Item>,
    /// The items of kernels that call nonterminals. Return addresses name these and not the row:
    /// rows that differ in the terminals they wait for call under the same address.
    contexts: SliceInterner<ContextId, Item>,
    /// What stands behind the dots of kernels, and what rows with these expect.
    ///
    /// PERF: few of the rows that are new wait for something new. Collecting and sorting what they
    /// expect took 6 % of the instructions of masks of `grammars/c_subset.gbnf`.
    awaited: SliceInterner<AwaitedId, Sym>,
    expected_of: IndexVec<AwaitedId, ExpectedId>,
    /// Lists of terminals that many rows share.
    expected: SliceInterner<ExpectedId, Sym>,
    /// For each list its parts.
    expected_parts: IndexVec<ExpectedId, Expected>,
    predictions: Predictions,
    called: CalledSets,
    returns: Returns,
    /// For each address the items that go on when it is completed.
    completions: FxHashMap<ReturnId, Arc<[Item]>>,
    gotos: FxHashMap<(RowId, Sym), RowId>,
    unions: FxHashMap<(RowId, RowId), RowId>,
    bytes: usize,
    /// Room for the kernel of a row that is being found.
    room: Vec<Item>,
}

impl Rows {
    /// The row before any terminal is row 0.
    pub const START: RowId = RowId(0);

    /// The rows of a grammar, with nothing known but the first.
    pub fn new(program: Arc<Program>) -> Self {
        let mut rows = Self {
            productions: Productions::new(program),
            sets: IndexVec::new(),
            kernels: SliceInterner::default(),
            contexts: SliceInterner::default(),
            awaited: SliceInterner::default(),
            expected_of: IndexVec::new(),
            expected: SliceInterner::default(),
            expected_parts: IndexVec::new(),
            predictions: Predictions::default(),
            called: CalledSets::new(),
            returns: Returns::new(),
            completions: FxHashMap::default(),
            gotos: FxHashMap::default(),
            unions: FxHashMap::default(),
            bytes: 0,
            room: Vec::new(),
        };
        let root = rows.returns.root();
        let program = rows.productions.program();
        let mut kernel = Vec::new();
        kernel.extend(program.start().map(|dot| Item { dot, returns: root }));
        kernel.extend(program.accepts_empty().then_some(Item { dot: ACCEPTED, returns: NOWHERE }));
        rows.intern(&mut kernel);
        rows
    }

    /// A row.
    #[inline]
    pub fn row(&self, id: RowId) -> &Row {
        &self.sets[id]
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether there is no row: never.
    pub fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// The row after a terminal that `from` expects.
    pub fn goto(&mut self, from: RowId, terminal: Sym) -> RowId {
        if let Some(&row) = self.gotos.get(&(from, terminal)) {
            return row;
        }
        let context = self.sets[from].context;
        let mut kernel = std::mem::take(&mut self.room);
        kernel.clear();
        let mut completed: SmallVec<[ReturnSetId; 4]> = SmallVec::new();
        for index in 0..self.kernels.get(from).len() {
            let item = self.kernels.get(from)[index];
            match self.productions.symbol(item.dot) {
                Some(Sym::Nonterminal(called)) => {
                    let outer = self.outer(context, item, called);
                    let prediction =
                        self.predictions.of(&mut self.productions, &mut self.called, called);
                    for &advance in prediction.after(terminal) {
                        let returns = self.advance_returns(context, outer, advance);
                        match advance.dot {
                            Some(dot) => kernel.push(Item { dot, returns }),
                            None => completed.push(returns),
                        }
                    }
                }
                Some(symbol) if symbol == terminal => {
                    if self.productions.is_last(item.dot) {
                        completed.push(item.returns);
                    } else {
                        kernel.push(Item {
                            dot: self.productions.next(item.dot),
                            returns: item.returns,
                        });
                    }
                }
                _ => {}
            }
        }
        completed.sort_unstable();
        completed.dedup();
        let completed = match completed[..] {
            [] => NOWHERE,
            [one] => one,
            [one, other] => self.returns.union(&mut self.called, one, other),
            _ => self.returns.union_of(&mut self.called, &completed),
        };
        for index in 0..self.returns.set(completed).len() {
            let address = self.returns.set(completed)[index];
            kernel.extend_from_slice(&self.completion(address));
        }
        let row = self.intern(&mut kernel);
        self.room = kernel;
        self.gotos.insert((from, terminal), row);
        row
    }

    /// A row that goes on as either row does.
    ///
    /// Earley's algorithm has one set a position; rows that end at the same place are united so
    /// that their number does not grow with the number of ways to get there.
    pub fn union(&mut self, left: RowId, right: RowId) -> RowId {
        if left == right {
            return left;
        }
        let pair = (left.min(right), left.max(right));
        if let Some(&row) = self.unions.get(&pair) {
            return row;
        }
        let mut kernel = self.kernels.get(left).to_vec();
        kernel.extend_from_slice(self.kernels.get(right));
        let row = self.intern(&mut kernel);
        self.unions.insert(pair, row);
        row
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes
            + self.productions.memory_bytes()
            + self.sets.len() * size_of::<Row>()
            + self.kernels.memory_bytes()
            + self.contexts.memory_bytes()
            + self.awaited.memory_bytes()
            + self.expected_of.len() * 4
            + self.expected.memory_bytes()
            + self.predictions.memory_bytes()
            + self.called.memory_bytes()
            + self.returns.memory_bytes()
            + (self.completions.capacity() + self.gotos.capacity() + self.unions.capacity()) * 24
    }

    /// Where a call returns that an item of a context makes: a tail call where the item returns.
    fn outer(&mut self, context: ContextId, item: Item, called: NonterminalId) -> ReturnSetId {
        if self.productions.is_last(item.dot) {
            return item.returns;
        }
        let called = self.called.intern(&[called]);
        self.returns.here(context, called)
    }

    /// Where a predicted item returns, when the call that predicted it returns to `outer`.
    fn advance_returns(
        &mut self,
        context: ContextId,
        outer: ReturnSetId,
        advance: Advance,
    ) -> ReturnSetId {
        let here = self.returns.here(context, advance.called);
        let outer = if advance.inherits { outer } else { NOWHERE };
        self.returns.union(&mut self.called, here, outer)
    }

    /// The items that go on when an address is completed. No completion follows from them: what
    /// stands last in a production would have been a tail call.
    fn completion(&mut self, address: ReturnId) -> Arc<[Item]> {
        if let Some(known) = self.completions.get(&address) {
            return Arc::clone(known);
        }
        let mut items = Vec::new();
        if address == ROOT {
            items.push(Item { dot: ACCEPTED, returns: NOWHERE });
        } else {
            let (context, completed) = self.returns.address(address);
            let completed: Vec<NonterminalId> = self.called.members(completed).to_vec();
            for item in self.contexts.get(context).to_vec() {
                let Some(Sym::Nonterminal(called)) = self.productions.symbol(item.dot) else {
                    continue;
                };
                if !self.productions.is_last(item.dot) && completed.contains(&called) {
                    items
                        .push(Item { dot: self.productions.next(item.dot), returns: item.returns });
                }
                let outer = self.outer(context, item, called);
                let prediction =
                    self.predictions.of(&mut self.productions, &mut self.called, called);
                for &nonterminal in &completed {
                    for &advance in prediction.after(Sym::Nonterminal(nonterminal)) {
                        let Some(dot) = advance.dot else { continue };
                        let returns = self.advance_returns(context, outer, advance);
                        items.push(Item { dot, returns });
                    }
                }
            }
        }
        self.merge(&mut items);
        self.bytes += items.len() * size_of::<Item>() + 16;
        let items: Arc<[Item]> = items.into();
        self.completions.insert(address, Arc::clone(&items));
        items
    }

    /// Sorts items; those of one dot become one.
    fn merge(&mut self, items: &mut Vec<Item>) {
        items.sort_unstable();
        items.dedup();
        if items.windows(2).all(|pair| pair[0].dot != pair[1].dot) {
            return;
        }
        let merge = |group: &[Item]| {
            let returns = match group {
                [one] => one.returns,
                [one, other] => self.returns.union(&mut self.called, one.returns, other.returns),
                _ => {
                    let sets: Vec<ReturnSetId> = group.iter().map(|item| item.returns).collect();
                    self.returns.union_of(&mut self.called, &sets)
                }
            };
            Item { dot: group[0].dot, returns }
        };
        *items = items.chunk_by(|a, b| a.dot == b.dot).map(merge).collect();
    }

    fn intern(&mut self, kernel: &mut Vec<Item>) -> RowId {
        self.merge(kernel);
        let (id, new) = self.kernels.intern(kernel);
        if !new {
            return id;
        }
        let symbol = |item: &Item| self.productions.symbol(item.dot);
        let awaited: SmallVec<[Sym; 8]> = kernel.iter().filter_map(symbol).collect();
        let calls = |item: &&Item| matches!(symbol(item), Some(Sym::Nonterminal(_)));
        let calling: SmallVec<[Item; 8]> = kernel.iter().filter(calls).copied().collect();
        let context = self.contexts.intern(&calling).0;
        let expected = self.expected(&awaited);
        let Expected { lexemes, tokens } = self.expected_parts[expected].clone();
        let accepts = kernel.iter().any(|item| item.dot == ACCEPTED);
        self.sets.push(Row { context, expected, lexemes, tokens, accepts })
    }

    /// What rows expect that wait for some symbols.
    fn expected(&mut self, awaited: &[Sym]) -> ExpectedId {
        let (id, new) = self.awaited.intern(awaited);
        if !new {
            return self.expected_of[id];
        }
        let mut terminals: Vec<Sym> = Vec::new();
        for &symbol in awaited {
            match symbol {
                Sym::Nonterminal(called) => {
                    let prediction =
                        self.predictions.of(&mut self.productions, &mut self.called, called);
                    terminals.extend_from_slice(prediction.terminals());
                }
                terminal => terminals.push(terminal),
            }
        }
        terminals.sort_unstable();
        terminals.dedup();
        let (expected, new) = self.expected.intern(&terminals);
        if new {
            let lexemes = terminals.iter().filter_map(|symbol| match symbol {
                Sym::Lexeme(lexeme) => Some(*lexeme),
                Sym::Token(_) | Sym::Nonterminal(_) => None,
            });
            let tokens = terminals.iter().filter_map(|symbol| match symbol {
                Sym::Token(terminal) => Some(*terminal),
                Sym::Lexeme(_) | Sym::Nonterminal(_) => None,
            });
            let parts = Expected { lexemes: lexemes.collect(), tokens: tokens.collect() };
            self.expected_parts.push(parts);
            self.bytes += terminals.len() * 4 + 64;
        }
        self.expected_of.push(expected);
        expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn lexeme(id: u32) -> Sym {
        Sym::Lexeme(LexemeId(id))
    }

    const fn nonterminal(id: u32) -> Sym {
        Sym::Nonterminal(NonterminalId(id))
    }

    fn program(nonterminals: usize, productions: &[(u32, &[Sym])]) -> Arc<Program> {
        let mut program = Program::new(nonterminals, Some(NonterminalId(0)), false);
        for &(head, symbols) in productions {
            program.push(NonterminalId(head), symbols.iter().copied());
        }
        Arc::new(program)
    }

    fn scan_all(program: &Arc<Program>, terminals: &[u32]) -> (Rows, RowId) {
        let mut rows = Rows::new(Arc::clone(program));
        let row = terminals.iter().fold(Rows::START, |row, &id| rows.goto(row, lexeme(id)));
        (rows, row)
    }

    #[test]
    fn right_recursion_needs_three_rows() {
        let p = program(1, &[(0, &[lexeme(0), lexeme(1), nonterminal(0)]), (0, &[lexeme(0)])]);
        let (rows, row) = scan_all(&p, &[0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert!(rows.row(row).accepts);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn left_recursion_needs_three_rows() {
        let p = program(1, &[(0, &[nonterminal(0), lexeme(1), lexeme(0)]), (0, &[lexeme(0)])]);
        let (rows, row) = scan_all(&p, &[0, 1, 0, 1, 0, 1, 0, 1, 0]);
        assert!(rows.row(row).accepts);
        assert_eq!(rows.len(), 3);
    }

    #[test]
    fn nesting_makes_a_row_a_level_and_comes_back() {
        // S: "(" S ")" | x
        let p = program(1, &[(0, &[lexeme(1), nonterminal(0), lexeme(2)]), (0, &[lexeme(0)])]);
        let (rows, row) = scan_all(&p, &[1, 1, 0, 2]);
        assert!(!rows.row(row).accepts);
        assert_eq!(&*rows.row(row).lexemes, [LexemeId(2)]);
        let (rows, row) = scan_all(&p, &[1, 1, 0, 2, 2]);
        assert!(rows.row(row).accepts && rows.row(row).lexemes.is_empty());
    }

    #[test]
    fn unit_cycles_end() {
        let p = program(
            2,
            &[(0, &[nonterminal(1)]), (0, &[lexeme(0)]), (1, &[nonterminal(0)]), (1, &[lexeme(1)])],
        );
        let (rows, row) = scan_all(&p, &[1]);
        assert!(rows.row(row).accepts);
    }
}
