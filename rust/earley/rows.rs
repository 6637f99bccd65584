//! Rows: kernels, prediction, scanning and completion.

use rustc_hash::{FxHashMap, FxHashSet};

use super::program::{Program, Sym};
use crate::index::{
    DotId, Id, IndexVec, LexemeId, NonterminalId, ReturnId, RowId, TokenTerminalId,
};

/// The return address of the start symbol: completing it accepts the text.
const ROOT: ReturnId = ReturnId(0);
/// The dot of the kernel item that says "the text is complete here".
const ACCEPTED: DotId = DotId(u32::MAX);

/// A dot and a return address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Item {
    dot: DotId,
    returns: ReturnId,
}

const _: () = assert!(size_of::<Item>() == 8);

/// An Earley set.
#[derive(Clone, Debug)]
pub struct Row {
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
    returns: IndexVec<ReturnId, (RowId, NonterminalId)>,
    by_return: FxHashMap<(RowId, NonterminalId), ReturnId>,
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
            returns: IndexVec::new(),
            by_return: FxHashMap::default(),
            gotos: FxHashMap::default(),
            unions: FxHashMap::default(),
            bytes: 0,
        };
        // No row calls the start symbol; the address only has to be different from all others.
        rows.returns.push((RowId(u32::MAX), NonterminalId(u32::MAX)));
        let mut kernel = Vec::new();
        kernel.extend(program.start().map(|dot| Item { dot, returns: ROOT }));
        kernel.extend(program.accepts_empty().then_some(Item { dot: ACCEPTED, returns: ROOT }));
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
        let mut returned = FxHashSet::default();
        for &(_, item) in self.sets[from].waiting_for(terminal) {
            let dot = program.next(item.dot);
            if program.after(dot).is_some() {
                kernel.push(Item { dot, returns: item.returns });
            } else if returned.insert(item.returns) {
                self.complete(program, item.returns, &mut kernel);
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
        self.bytes + self.returns.len() * 40 + (self.gotos.capacity() + self.unions.capacity()) * 24
    }

    /// Goes on where a nonterminal was called. It does not stand last there (a tail call would
    /// have passed its return address on), so no completion follows from this one.
    fn complete(&self, program: &Program, returns: ReturnId, kernel: &mut Vec<Item>) {
        if returns == ROOT {
            kernel.push(Item { dot: ACCEPTED, returns: ROOT });
            return;
        }
        let (row, nonterminal) = self.returns[returns];
        for &(_, item) in self.sets[row].waiting_for(Sym::Nonterminal(nonterminal)) {
            kernel.push(Item { dot: program.next(item.dot), returns: item.returns });
        }
    }

    fn intern(&mut self, program: &Program, mut kernel: Vec<Item>) -> RowId {
        kernel.sort_unstable();
        kernel.dedup();
        if let Some(&row) = self.by_kernel.get(&*kernel) {
            return row;
        }
        let kernel: Box<[Item]> = kernel.into();
        let row = self.close(program, kernel.clone());
        let id = self.sets.push(row);
        self.by_kernel.insert(kernel, id);
        id
    }

    /// Adds to a kernel all that follows by prediction. The row becomes the next one.
    fn close(&mut self, program: &Program, kernel: Box<[Item]>) -> Row {
        let id = RowId::new(self.sets.len());
        let mut waiting: Vec<(Sym, Item)> = Vec::new();
        let mut predicted: FxHashSet<(NonterminalId, ReturnId)> = FxHashSet::default();
        let mut open: Vec<(NonterminalId, ReturnId)> = Vec::new();
        let mut accepts = false;
        let mut add = |rows: &mut Self, item: Item, open: &mut Vec<(NonterminalId, ReturnId)>| {
            if item.dot == ACCEPTED {
                accepts = true;
                return;
            }
            let Some(symbol) = program.after(item.dot) else { return };
            let Sym::Nonterminal(nonterminal) = symbol else {
                waiting.push((symbol, item));
                return;
            };
            let last = program.after(program.next(item.dot)).is_none();
            let returns = if last {
                item.returns
            } else {
                waiting.push((symbol, item));
                rows.return_id(id, nonterminal)
            };
            if predicted.insert((nonterminal, returns)) {
                open.push((nonterminal, returns));
            }
        };
        for &item in &kernel {
            add(self, item, &mut open);
        }
        while let Some((nonterminal, returns)) = open.pop() {
            for &dot in program.starts(nonterminal) {
                add(self, Item { dot, returns }, &mut open);
            }
        }
        waiting.sort_unstable();
        waiting.dedup();
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

    fn return_id(&mut self, row: RowId, nonterminal: NonterminalId) -> ReturnId {
        *self
            .by_return
            .entry((row, nonterminal))
            .or_insert_with(|| self.returns.push((row, nonterminal)))
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
