//! The oracle: a textbook Earley recogniser over bytes, written to be obviously right.
//!
//! Takes the grammar IR and the vocabulary as plain lists and answers, for any history, which
//! tokens may come next. It shares no code with the engine beyond the IR's types: no lexer, no
//! trie, no sharing, no cache. Every expression becomes a nonterminal, every terminal symbol is
//! inlined as ordinary productions, so "a terminal may end wherever it matches" needs no rule of
//! its own: it is what a context-free grammar means.
//!
//! A token can be read in two ways, as its bytes or as one symbol of a token terminal, so the
//! input is a small lattice: byte edges from one position to the next, and token edges from a
//! token's first position to its last.
//!
//! Papers: Earley, "An efficient context-free parsing algorithm", 1970; Aycock & Horspool,
//! "Practical Earley parsing", 2002 (nullable symbols).

use std::collections::{BTreeSet, HashMap, HashSet};

use earmark::grammar::{Expr, Grammar, MemberOrder, Members, SymbolKind, TokenRef, TokenTerminal};
use earmark::index::{ExprId, Id, SymbolId};

use crate::regular::Machine;

/// A vocabulary as plain lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tokens {
    /// The bytes of every token by id.
    pub(crate) bytes: Vec<Vec<u8>>,
    /// End-of-sequence ids.
    pub(crate) eos: Vec<u32>,
    /// Special ids, end of sequence excepted.
    pub(crate) special: Vec<u32>,
    /// The width of the logits.
    pub(crate) width: usize,
}

impl Tokens {
    /// All ids that a token terminal stands for. A name is the special tokens' with these bytes,
    /// or, where there is none, the ordinary ones'; "any token but" leaves out the ends of sequence.
    pub(crate) fn bind(&self, terminal: &TokenTerminal) -> BTreeSet<u32> {
        let named: BTreeSet<u32> = match &terminal.token {
            TokenRef::Id(id) => [*id].into(),
            TokenRef::Name(name) => {
                let all = self.ids().filter(|&id| self.bytes[id as usize] == name.as_bytes());
                let (special, ordinary): (Vec<u32>, Vec<u32>) =
                    all.partition(|&id| self.is_special(id));
                if special.is_empty() { ordinary } else { special }.into_iter().collect()
            }
        };
        if terminal.negated {
            let others = self.ids().filter(|id| !named.contains(id) && !self.eos.contains(id));
            others
                .filter(|&id| self.is_special(id) || !self.bytes[id as usize].is_empty())
                .collect()
        } else {
            named
        }
    }

    fn ids(&self) -> impl Iterator<Item = u32> {
        0..u32::try_from(self.bytes.len()).unwrap()
    }

    fn is_special(&self, id: u32) -> bool {
        self.special.contains(&id) || self.eos.contains(&id)
    }
}

/// A grammar as productions over bytes, characters and tokens.
pub(crate) struct Reference<'a> {
    tokens: &'a Tokens,
    productions: Vec<Production>,
    /// The productions of every nonterminal.
    of: Vec<Vec<usize>>,
    nullable: Vec<bool>,
    start: usize,
}

#[derive(Clone)]
struct Production {
    left: usize,
    right: Vec<Symbol>,
}

#[derive(Clone)]
enum Symbol {
    Nonterminal(usize),
    /// One byte of the ranges.
    Byte(Vec<(u8, u8)>),
    /// One character of the ranges, as UTF-8.
    Char(Vec<(u32, u32)>),
    /// One of these tokens.
    Token(BTreeSet<u32>),
}

/// A place in a production, the position where the production began, and what has been read of
/// the character at the place.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Item {
    production: usize,
    dot: usize,
    origin: usize,
    read: Vec<u8>,
}

/// One Earley set.
#[derive(Clone, Default)]
struct Set {
    items: Vec<Item>,
    known: HashSet<Item>,
}

impl Set {
    fn add(&mut self, item: Item) {
        if self.known.insert(item.clone()) {
            self.items.push(item);
        }
    }
}

/// The Earley sets of a history; position 0 is the beginning.
#[derive(Clone)]
pub(crate) struct Chart {
    sets: Vec<Set>,
}

impl<'a> Reference<'a> {
    /// `None` if no text at all belongs to the grammar.
    pub(crate) fn new(grammar: &Grammar, tokens: &'a Tokens) -> Option<Self> {
        Translation::new(grammar, tokens).finish(tokens)
    }

    /// The chart before anything was read.
    pub(crate) fn begin(&self) -> Chart {
        let mut set = Set::default();
        self.predict(&mut set, self.start, 0);
        let mut chart = Chart { sets: vec![] };
        self.close(&mut chart, set);
        chart
    }

    /// Reads bytes that belong to no token. The chart keeps what was read if it is dead.
    pub(crate) fn read_bytes(&self, chart: &mut Chart, bytes: &[u8]) {
        for &byte in bytes {
            let next = self.scan_byte(chart.sets.last().unwrap(), byte);
            self.close(chart, next);
        }
    }

    /// Reads a token, as a token terminal asks for it and, if it is text, as its bytes.
    pub(crate) fn read_token(&self, chart: &mut Chart, id: u32) {
        let mut last = self.scan_token(chart.sets.last().unwrap(), id);
        if !self.tokens.is_special(id)
            && let Some((end, inner)) = self.tokens.bytes[id as usize].split_last()
        {
            self.read_bytes(chart, inner);
            for item in self.scan_byte(chart.sets.last().unwrap(), *end).items {
                last.add(item);
            }
        }
        self.close(chart, last);
    }

    /// Whether some text goes on from here (or ends here).
    #[expect(clippy::unused_self, reason = "reads as a question to the grammar")]
    pub(crate) fn is_alive(&self, chart: &Chart) -> bool {
        !chart.sets.last().unwrap().items.is_empty()
    }

    /// Whether what was read is a text.
    pub(crate) fn is_text(&self, chart: &Chart) -> bool {
        chart.sets.last().unwrap().items.iter().any(|item| {
            let production = &self.productions[item.production];
            production.left == self.start
                && item.origin == 0
                && item.dot == production.right.len()
                && item.read.is_empty()
        })
    }

    /// The ids that may come next, by trying each.
    pub(crate) fn mask(&self, chart: &mut Chart) -> BTreeSet<u32> {
        let length = chart.sets.len();
        let mut allowed = BTreeSet::new();
        for id in self.tokens.ids() {
            let ends = self.tokens.eos.contains(&id) && self.is_text(chart);
            self.read_token(chart, id);
            if ends || self.is_alive(chart) {
                allowed.insert(id);
            }
            chart.sets.truncate(length);
        }
        allowed
    }

    /// The bytes that may come next, by trying each.
    pub(crate) fn next_bytes(&self, chart: &mut Chart) -> Vec<u8> {
        let last = chart.sets.last().unwrap();
        (0..=u8::MAX).filter(|&byte| !self.scan_byte(last, byte).items.is_empty()).collect()
    }

    /// Whether a token terminal may be scanned here.
    pub(crate) fn expects_token(&self, chart: &Chart) -> bool {
        chart.sets.last().unwrap().items.iter().any(|item| {
            matches!(
                self.productions[item.production].right.get(item.dot),
                Some(Symbol::Token(ids)) if !ids.is_empty()
            )
        })
    }

    fn scan_byte(&self, set: &Set, byte: u8) -> Set {
        let mut next = Set::default();
        for item in &set.items {
            match self.productions[item.production].right.get(item.dot) {
                Some(Symbol::Byte(ranges))
                    if ranges.iter().any(|&(low, high)| low <= byte && byte <= high) =>
                {
                    next.add(Item { dot: item.dot + 1, ..item.clone() });
                }
                Some(Symbol::Char(ranges)) => {
                    let mut read = item.read.clone();
                    read.push(byte);
                    match utf8(&read, ranges) {
                        Utf8::Whole => {
                            next.add(Item { dot: item.dot + 1, read: vec![], ..item.clone() });
                        }
                        Utf8::Part => next.add(Item { read, ..item.clone() }),
                        Utf8::No => {}
                    }
                }
                _ => {}
            }
        }
        next
    }

    fn scan_token(&self, set: &Set, id: u32) -> Set {
        let mut next = Set::default();
        for item in &set.items {
            if let Some(Symbol::Token(ids)) = self.productions[item.production].right.get(item.dot)
                && ids.contains(&id)
            {
                next.add(Item { dot: item.dot + 1, ..item.clone() });
            }
        }
        next
    }

    fn predict(&self, set: &mut Set, nonterminal: usize, at: usize) {
        for &production in &self.of[nonterminal] {
            set.add(Item { production, dot: 0, origin: at, read: vec![] });
        }
    }

    /// Predicts and completes until nothing is new, then appends the set.
    fn close(&self, chart: &mut Chart, mut set: Set) {
        let at = chart.sets.len();
        let mut done = 0;
        while done < set.items.len() {
            let item = set.items[done].clone();
            done += 1;
            let production = &self.productions[item.production];
            match production.right.get(item.dot) {
                Some(&Symbol::Nonterminal(next)) => {
                    self.predict(&mut set, next, at);
                    // A nullable symbol is passed at once: its completion in this very set may
                    // come before the item that waits for it.
                    if self.nullable[next] {
                        set.add(Item { dot: item.dot + 1, ..item });
                    }
                }
                Some(_) => {}
                None => {
                    let origin = if item.origin == at { &set } else { &chart.sets[item.origin] };
                    let waiting: Vec<Item> = origin
                        .items
                        .iter()
                        .filter(|waiting| {
                            matches!(
                                self.productions[waiting.production].right.get(waiting.dot),
                                Some(&Symbol::Nonterminal(next)) if next == production.left
                            )
                        })
                        .cloned()
                        .collect();
                    for waiting in waiting {
                        set.add(Item { dot: waiting.dot + 1, ..waiting });
                    }
                }
            }
        }
        chart.sets.push(set);
    }
}

enum Utf8 {
    Whole,
    Part,
    No,
}

/// Whether bytes are a character of the ranges, or the beginning of one.
///
/// The characters that begin with given bytes are one range of code points: fill up with the
/// smallest and with the largest continuation bytes.
fn utf8(read: &[u8], ranges: &[(u32, u32)]) -> Utf8 {
    let length = match read[0] {
        0x00..=0x7F => 1,
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        _ => return Utf8::No,
    };
    if read.len() > length || read[1..].iter().any(|byte| byte & 0xC0 != 0x80) {
        return Utf8::No;
    }
    let decode = |fill: u32| {
        let lead = u32::from(read[0]) & [0x7F, 0x1F, 0x0F, 0x07][length - 1];
        (1..length).fold(lead, |code, at| {
            code << 6 | read.get(at).map_or(fill, |&byte| u32::from(byte) & 0x3F)
        })
    };
    // No overlong forms, nothing past the last code point.
    let low = decode(0).max([0, 0x80, 0x800, 0x1_0000][length - 1]);
    let high = decode(0x3F).min(0x10_FFFF);
    let hit = ranges.iter().any(|&(from, to)| {
        let (low, high) = (low.max(from), high.min(to));
        // Surrogates are not characters.
        low <= high && !(0xD800 <= low && high <= 0xDFFF)
    });
    match (hit, read.len() == length) {
        (false, _) => Utf8::No,
        (true, true) => Utf8::Whole,
        (true, false) => Utf8::Part,
    }
}

/// Where an expression stands: `ignore` applies between terminals of rules, never inside one.
#[derive(Clone, Copy)]
enum Place {
    Rule,
    Terminal,
}

struct Translation<'g> {
    grammar: &'g Grammar,
    tokens: &'g Tokens,
    productions: Vec<Production>,
    count: usize,
    /// What may follow a terminal of a rule.
    ignore: Option<usize>,
    start: usize,
}

impl<'g> Translation<'g> {
    fn new(grammar: &'g Grammar, tokens: &'g Tokens) -> Self {
        let mut this = Self {
            grammar,
            tokens,
            productions: vec![],
            // Each expression at both places, and each symbol.
            count: 2 * grammar.exprs.len() + grammar.symbols.len(),
            ignore: None,
            start: 0,
        };
        if !grammar.ignore.is_empty() {
            let ignore = this.fresh();
            this.rule(ignore, vec![]);
            for &expr in &grammar.ignore {
                let one = this.expr(Place::Terminal, expr);
                this.rule(ignore, vec![Symbol::Nonterminal(ignore), one]);
            }
            this.ignore = Some(ignore);
        }
        for expr in (0..grammar.exprs.len()).map(ExprId::new) {
            for place in [Place::Rule, Place::Terminal] {
                this.translate(place, expr);
            }
        }
        for (id, symbol) in grammar.symbols.iter_enumerated() {
            let place = match symbol.kind {
                SymbolKind::Rule => Place::Rule,
                SymbolKind::Terminal => Place::Terminal,
            };
            let body = this.expr(place, symbol.body);
            let left = this.symbol(id);
            this.rule(left, vec![body]);
        }
        this.start = this.fresh();
        let mut right: Vec<Symbol> = this.ignore.map(Symbol::Nonterminal).into_iter().collect();
        let start = this.symbol(grammar.start);
        right.push(Symbol::Nonterminal(start));
        if grammar.symbols[grammar.start].kind == SymbolKind::Terminal {
            right.extend(this.ignore.map(Symbol::Nonterminal));
        }
        this.rule(this.start, right);
        this
    }

    fn translate(&mut self, place: Place, id: ExprId) {
        let Symbol::Nonterminal(left) = self.expr(place, id) else { unreachable!() };
        match &self.grammar.exprs[id] {
            Expr::Literal(bytes) if bytes.is_empty() => self.rule(left, vec![]),
            Expr::Literal(bytes) => {
                let right = bytes.iter().map(|&byte| Symbol::Byte(vec![(byte, byte)])).collect();
                self.terminal(place, left, right);
            }
            Expr::Class(ranges) => {
                let ranges = ranges.iter().map(|&(low, high)| (low.into(), high.into())).collect();
                self.terminal(place, left, vec![Symbol::Char(ranges)]);
            }
            Expr::Bytes(ranges) => {
                self.terminal(place, left, vec![Symbol::Byte(ranges.to_vec())]);
            }
            Expr::Token(terminal) => {
                let ids = self.tokens.bind(terminal);
                self.terminal(place, left, vec![Symbol::Token(ids)]);
            }
            &Expr::Symbol(symbol) => {
                let right = vec![Symbol::Nonterminal(self.symbol(symbol))];
                match self.grammar.symbols[symbol].kind {
                    SymbolKind::Rule => self.rule(left, right),
                    SymbolKind::Terminal => self.terminal(place, left, right),
                }
            }
            Expr::Seq(parts) => {
                let right = parts.iter().map(|&part| self.expr(place, part)).collect();
                self.rule(left, right);
            }
            Expr::Alt(parts) => {
                for &part in parts.iter() {
                    let right = vec![self.expr(place, part)];
                    self.rule(left, right);
                }
            }
            &Expr::Repeat { expr, min, max } => {
                let one = self.expr(place, expr);
                // From the last repetition to the first: each is the one before and what follows.
                let mut rest = self.fresh();
                self.rule(rest, vec![]);
                match max {
                    None => self.rule(rest, vec![one.clone(), Symbol::Nonterminal(rest)]),
                    Some(max) => {
                        for _ in min..max {
                            let longer = self.fresh();
                            self.rule(longer, vec![]);
                            self.rule(longer, vec![one.clone(), Symbol::Nonterminal(rest)]);
                            rest = longer;
                        }
                    }
                }
                for _ in 0..min {
                    let longer = self.fresh();
                    self.rule(longer, vec![one.clone(), Symbol::Nonterminal(rest)]);
                    rest = longer;
                }
                self.rule(left, vec![Symbol::Nonterminal(rest)]);
            }
            Expr::And { .. } | Expr::Automaton(_) => {
                let machine = Machine::new(self.grammar, id).expect("few states");
                let states: Vec<usize> = machine.accepts.iter().map(|_| self.fresh()).collect();
                for (state, row) in machine.next.iter().enumerate() {
                    if machine.accepts[state] {
                        self.rule(states[state], vec![]);
                    }
                    for (byte, &next) in (0..=u8::MAX).zip(row) {
                        if machine.alive[next] {
                            let byte = Symbol::Byte(vec![(byte, byte)]);
                            self.rule(states[state], vec![byte, Symbol::Nonterminal(states[next])]);
                        }
                    }
                }
                let start = Symbol::Nonterminal(states[Machine::START]);
                self.terminal(place, left, vec![start]);
            }
            Expr::Members(members) => self.members(place, left, members),
        }
    }

    /// What may follow each set of items with each number of items, dead ends and all.
    fn members(&mut self, place: Place, left: usize, members: &Members) {
        let Members { order, items, separator, marks, min, max, conditions } = members;
        // Members without a number come last.
        let number = |item: usize| items[item].once.unwrap_or(u32::MAX);
        // More items than this make no difference.
        let enough = max.unwrap_or(*min).max(1);
        let mut known = HashMap::from([((BTreeSet::new(), 0), left)]);
        let mut open = vec![(BTreeSet::new(), 0)];
        while let Some((before, count)) = open.pop() {
            let left = known[&(before.clone(), count)];
            let is_set =
                |mark| before.iter().any(|&item: &usize| items[item].marks.contains(&mark));
            let holds = |needs: &[u32], number: u32| {
                let excluded = before.iter().any(|&item| items[item].excludes.contains(&number));
                let is_there =
                    |once: &u32| before.iter().any(|&item| items[item].once == Some(*once));
                !excluded && needs.iter().all(is_there)
            };
            let mut numbers = 0..;
            let hold = conditions.iter().all(|condition| {
                let numbered = condition.needs.iter().zip(numbers.by_ref());
                numbered.filter(|(needs, number)| holds(needs, *number)).count() > 0
            });
            let counts = count >= *min && max.is_none_or(|max| count <= max);
            if counts && hold && (0..*marks).all(is_set) {
                self.rule(left, vec![]);
            }
            for (index, item) in items.iter().enumerate() {
                let twice = |&other: &usize| item.once.is_some() && items[other].once == item.once;
                let later = |&other: &usize| number(other) > number(index);
                let early = *order == MemberOrder::Given && before.iter().any(later);
                if before.iter().any(twice) || early || max.is_some_and(|max| count >= max) {
                    continue;
                }
                let mut after = before.clone();
                after.insert(index);
                let after = (after, (count + 1).min(enough));
                let rest = *known.entry(after.clone()).or_insert_with(|| {
                    open.push(after);
                    self.fresh()
                });
                let mut right = vec![self.expr(place, item.expr), Symbol::Nonterminal(rest)];
                if count > 0 {
                    right.insert(0, self.expr(place, *separator));
                }
                self.rule(left, right);
            }
        }
    }

    /// A terminal of a rule is followed by what is ignored; inside terminals nothing is.
    fn terminal(&mut self, place: Place, left: usize, mut right: Vec<Symbol>) {
        if matches!(place, Place::Rule) {
            right.extend(self.ignore.map(Symbol::Nonterminal));
        }
        self.rule(left, right);
    }

    fn rule(&mut self, left: usize, right: Vec<Symbol>) {
        self.productions.push(Production { left, right });
    }

    #[expect(clippy::unused_self, reason = "the numbering of nonterminals is the translation's")]
    fn expr(&self, place: Place, id: ExprId) -> Symbol {
        Symbol::Nonterminal(2 * id.index() + place as usize)
    }

    fn symbol(&self, id: SymbolId) -> usize {
        2 * self.grammar.exprs.len() + id.index()
    }

    fn fresh(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    /// Keeps the productions that some text follows from, by the naive fixpoint.
    fn finish(self, tokens: &Tokens) -> Option<Reference<'_>> {
        let productive = self.fixpoint(|symbol| match symbol {
            Symbol::Nonterminal(_) => false,
            Symbol::Byte(ranges) => !ranges.is_empty(),
            Symbol::Char(ranges) => !ranges.is_empty(),
            Symbol::Token(ids) => !ids.is_empty(),
        });
        let nullable = self.fixpoint(|_| false);
        if !productive[self.start] {
            return None;
        }
        let mut of = vec![vec![]; self.count];
        let mut productions = vec![];
        for production in self.productions {
            let useful = production.right.iter().all(|symbol| match symbol {
                &Symbol::Nonterminal(symbol) => productive[symbol],
                Symbol::Byte(ranges) => !ranges.is_empty(),
                Symbol::Char(ranges) => !ranges.is_empty(),
                Symbol::Token(ids) => !ids.is_empty(),
            });
            if useful {
                of[production.left].push(productions.len());
                productions.push(production);
            }
        }
        Some(Reference { tokens, productions, of, nullable, start: self.start })
    }

    /// The nonterminals with a production of which every part is good.
    fn fixpoint(&self, leaf: impl Fn(&Symbol) -> bool) -> Vec<bool> {
        let mut good = vec![false; self.count];
        loop {
            let mut changed = false;
            for production in &self.productions {
                let all = production.right.iter().all(|symbol| match symbol {
                    &Symbol::Nonterminal(symbol) => good[symbol],
                    other => leaf(other),
                });
                if all && !good[production.left] {
                    good[production.left] = true;
                    changed = true;
                }
            }
            if !changed {
                return good;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use earmark::grammar::GrammarBuilder;
    use earmark::span::Span;

    use super::*;

    fn reads(grammar: &Grammar, text: &[u8]) -> (bool, bool) {
        let tokens = Tokens::default();
        let reference = Reference::new(grammar, &tokens).unwrap();
        let mut chart = reference.begin();
        reference.read_bytes(&mut chart, text);
        (reference.is_alive(&chart), reference.is_text(&chart))
    }

    #[test]
    fn ambiguous_nullable_recursion() {
        let mut b = GrammarBuilder::new();
        let root = b.declare("root", SymbolKind::Rule, Span::default());
        let again = b.symbol(root);
        let (open, close) = (b.literal(b"("), b.literal(b")"));
        let (pair, nested, empty) =
            (b.seq(&[again, again]), b.seq(&[open, again, close]), b.empty());
        let body = b.alt(&[empty, pair, nested]);
        b.define(root, body);
        let grammar = b.finish(root);
        assert_eq!(reads(&grammar, b""), (true, true));
        assert_eq!(reads(&grammar, b"(()())()"), (true, true));
        assert_eq!(reads(&grammar, b"(()"), (true, false));
        assert_eq!(reads(&grammar, b"())"), (false, false));
    }

    #[test]
    fn characters_agree_with_the_standard_library() {
        let ranges = [('b', 'é'), ('\u{D000}', '\u{E001}'), ('\u{FFFE}', '\u{10010}')];
        let numbers = ranges.map(|(low, high)| (u32::from(low), u32::from(high)));
        let mut parts = HashSet::new();
        for c in '\0'..=char::MAX {
            if ranges.iter().any(|&(low, high)| low <= c && c <= high) {
                let mut buffer = [0; 4];
                let bytes = c.encode_utf8(&mut buffer).as_bytes();
                assert!(matches!(utf8(bytes, &numbers), Utf8::Whole));
                parts.extend((1..bytes.len()).map(|length| bytes[..length].to_vec()));
            }
        }
        for first in 0..=255 {
            assert_eq!(
                matches!(utf8(&[first], &numbers), Utf8::Part),
                parts.contains(&[first][..])
            );
            for second in 0..=255 {
                let found = matches!(utf8(&[first, second], &numbers), Utf8::Part);
                assert_eq!(found, parts.contains(&[first, second][..]));
            }
        }
    }
}
