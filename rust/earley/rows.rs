//! Rows: kernels, prediction, scanning and completion.

use rustc_hash::FxHashMap;

use super::program::{Program, Sym};
use super::returns::Returns;
use crate::index::{
    DotId, Id, IndexVec, LexemeId, NonterminalId, ReturnId, ReturnSetId, RowId, TokenTerminalId,
};

/// The return address of the start symbol: completing it accepts the text.
const ROOT: ReturnId = ReturnId(0);
/// The dot of the kernel item that says "the text is complete here".
const ACCEPTED: DotId = DotId(u32::MAX);
/// The empty set of return addresses.
const NOWHERE: ReturnSetId = ReturnSetId(0);

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
    /// Sorted; one item a dot.
    kernel: Box<[Item]>,
    /// The items by the symbol behind their dot, for the symbols that need to be found here:
    /// terminals, and nonterminals that do not stand last.
    waiting: Box<[(Sym, Item)]>,
    /// The lexemes that may start here.
    pub lexemes: Box<[LexemeId]>,
    /// The token terminals that may be scanned here.
    pub tokens: Box<[TokenTerminalId]>,
    /// Whether the text may end here.
    pub accepts: bool,
}

/// All rows met so far, and what is known of the steps between them.
#[derive(Clone, Debug)]
pub struct Rows {
    sets: IndexVec<RowId, Row>,
    by_kernel: FxHashMap<Box<[Item]>, RowId>,
    returns: Returns,
    gotos: FxHashMap<(RowId, Sym), RowId>,
    unions: FxHashMap<(RowId, RowId), RowId>,
    bytes: usize,
}

impl Rows {
    /// The row before any terminal is row 0.
    pub const START: RowId = RowId(0);

    /// The rows of a grammar, with nothing known but the first.
    pub fn new(program: &Program) -> Self {
        let mut rows = Self {
            sets: IndexVec::new(),
            by_kernel: FxHashMap::default(),
            returns: Returns::new(),
            gotos: FxHashMap::default(),
            unions: FxHashMap::default(),
            bytes: 0,
        };
        let root = rows.returns.only(ROOT);
        let mut kernel = Vec::new();
        kernel.extend(program.start().map(|dot| Item { dot, returns: root }));
        kernel.extend(program.accepts_empty().then_some(Item { dot: ACCEPTED, returns: NOWHERE }));
        rows.intern(program, kernel);
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
    pub fn goto(&mut self, program: &Program, from: RowId, terminal: Sym) -> RowId {
        if let Some(&row) = self.gotos.get(&(from, terminal)) {
            return row;
        }
        let mut kernel = Vec::new();
        let mut completed = NOWHERE;
        for &(_, item) in self.sets[from].waiting_for(terminal) {
            if program.is_last(item.dot) {
                completed = self.returns.union(completed, item.returns);
            } else {
                kernel.push(Item { dot: program.next(item.dot), returns: item.returns });
            }
        }
        // Going on where the completed productions were called. None stands last there (a tail
        // call would have passed its return addresses on), so no completion follows from these.
        for &address in self.returns.set(completed) {
            if address == ROOT {
                kernel.push(Item { dot: ACCEPTED, returns: NOWHERE });
                continue;
            }
            let (row, nonterminal) = self.returns.address(address);
            for &(_, item) in self.sets[row].waiting_for(Sym::Nonterminal(nonterminal)) {
                kernel.push(Item { dot: program.next(item.dot), returns: item.returns });
            }
        }
        let row = self.intern(program, kernel);
        self.gotos.insert((from, terminal), row);
        row
    }

    /// A row that goes on as either row does.
    ///
    /// Earley's algorithm has one set a position; rows that end at the same place are united so
    /// that their number does not grow with the number of ways to get there.
    pub fn union(&mut self, program: &Program, left: RowId, right: RowId) -> RowId {
        if left == right {
            return left;
        }
        let pair = (left.min(right), left.max(right));
        if let Some(&row) = self.unions.get(&pair) {
            return row;
        }
        let mut kernel = self.sets[left].kernel.to_vec();
        kernel.extend_from_slice(&self.sets[right].kernel);
        let row = self.intern(program, kernel);
        self.unions.insert(pair, row);
        row
    }

    /// Bytes of memory held.
    pub fn memory_bytes(&self) -> usize {
        self.bytes
            + self.returns.memory_bytes()
            + (self.gotos.capacity() + self.unions.capacity()) * 24
    }

    /// The row of a kernel; items of one dot become one.
    fn intern(&mut self, program: &Program, mut kernel: Vec<Item>) -> RowId {
        kernel.sort_unstable();
        let mut merged: Vec<Item> = Vec::with_capacity(kernel.len());
        for item in kernel {
            match merged.last_mut() {
                Some(last) if last.dot == item.dot => {
                    last.returns = self.returns.union(last.returns, item.returns);
                }
                _ => merged.push(item),
            }
        }
        if let Some(&row) = self.by_kernel.get(&*merged) {
            return row;
        }
        let kernel: Box<[Item]> = merged.into();
        let row = self.close(program, kernel.clone());
        let id = self.sets.push(row);
        self.by_kernel.insert(kernel, id);
        id
    }

    /// Adds to a kernel all that follows by prediction. The row becomes the next one.
    fn close(&mut self, program: &Program, kernel: Box<[Item]>) -> Row {
        let id = RowId::new(self.sets.len());
        let mut waiting: Vec<(Sym, Item)> = Vec::new();
        let mut calls = Calls::default();
        let mut accepts = false;
        for &item in &kernel {
            if item.dot == ACCEPTED {
                accepts = true;
                continue;
            }
            let Some(symbol) = program.after(item.dot) else { continue };
            match symbol {
                Sym::Nonterminal(called) if program.is_last(item.dot) => {
                    calls.add(called, item.returns, &mut self.returns);
                    continue;
                }
                Sym::Nonterminal(called) => {
                    let here = self.returns.here(id, called);
                    calls.add(called, here, &mut self.returns);
                }
                Sym::Lexeme(_) | Sym::Token(_) => {}
            }
            waiting.push((symbol, item));
        }
        while let Some(caller) = calls.changed.pop() {
            let returns = calls.returns[&caller];
            for &dot in program.starts(caller) {
                if let Some(Sym::Nonterminal(called)) = program.after(dot) {
                    let passed =
                        if program.is_last(dot) { returns } else { self.returns.here(id, called) };
                    calls.add(called, passed, &mut self.returns);
                }
            }
        }
        for (&caller, &returns) in &calls.returns {
            for &dot in program.starts(caller) {
                let Some(symbol) = program.after(dot) else { continue };
                if !(program.is_last(dot) && matches!(symbol, Sym::Nonterminal(_))) {
                    waiting.push((symbol, Item { dot, returns }));
                }
            }
        }
        waiting.sort_unstable();
        let mut lexemes = Vec::new();
        let mut tokens = Vec::new();
        for group in waiting.chunk_by(|a, b| a.0 == b.0) {
            match group[0].0 {
                Sym::Lexeme(lexeme) => lexemes.push(lexeme),
                Sym::Token(terminal) => tokens.push(terminal),
                Sym::Nonterminal(_) => {}
            }
        }
        self.bytes += size_of::<Row>()
            + kernel.len() * 2 * size_of::<Item>()
            + waiting.len() * size_of::<(Sym, Item)>()
            + lexemes.len() * 4
            + 64;
        Row {
            kernel,
            waiting: waiting.into(),
            lexemes: lexemes.into(),
            tokens: tokens.into(),
            accepts,
        }
    }
}

/// The nonterminals predicted in a row, and where their productions return to.
#[derive(Default)]
struct Calls {
    returns: FxHashMap<NonterminalId, ReturnSetId>,
    /// Those whose return addresses have become more and must be passed on.
    changed: Vec<NonterminalId>,
}

impl Calls {
    fn add(&mut self, called: NonterminalId, more: ReturnSetId, returns: &mut Returns) {
        let known = self.returns.entry(called).or_insert(NOWHERE);
        let union = returns.union(*known, more);
        if union != *known {
            *known = union;
            self.changed.push(called);
        }
    }
}

impl Row {
    /// The items whose dot stands before a symbol.
    fn waiting_for(&self, symbol: Sym) -> &[(Sym, Item)] {
        let start = self.waiting.partition_point(|&(other, _)| other < symbol);
        let end = start + self.waiting[start..].partition_point(|&(other, _)| other == symbol);
        &self.waiting[start..end]
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

    fn program(nonterminals: usize, productions: &[(u32, &[Sym])]) -> Program {
        let mut program = Program::new(nonterminals, Some(NonterminalId(0)), false);
        for &(head, symbols) in productions {
            program.push(NonterminalId(head), symbols);
        }
        program
    }

    fn scan_all(program: &Program, terminals: &[u32]) -> (Rows, RowId) {
        let mut rows = Rows::new(program);
        let row =
            terminals.iter().fold(Rows::START, |row, &id| rows.goto(program, row, lexeme(id)));
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
