//! Random small grammars and vocabularies, full of what engines get wrong.
//!
//! Grammars: recursion of every kind, cycles, nullable and unproductive symbols, ambiguity, counted
//! repetition, items in any order, terminals that overlap, intersections and automata, text ignored
//! between terminals, token terminals, characters
//! of one to four bytes and raw bytes. Vocabularies: tokens cut anywhere in the grammar's texts
//! (also inside characters), duplicates, tokens without bytes, special tokens that look like text,
//! several ends of sequence, logits wider than the vocabulary.

use std::fmt;
use std::sync::Arc;

use earmark::grammar::{
    Automaton, AutomatonState, Condition, Expr, Grammar, GrammarBuilder, Member, MemberOrder,
    Members, SymbolKind, TokenRef, TokenTerminal,
};
use earmark::index::{ExprId, SymbolId};
use earmark::span::Span;

use crate::choices::Choices;
use crate::reference::{Reference, Tokens};
use crate::regular::has_small_automata;

/// A grammar and a vocabulary.
pub(crate) struct World {
    pub(crate) grammar: Arc<Grammar>,
    pub(crate) tokens: Tokens,
    /// Whether the grammar has token terminals.
    pub(crate) has_token_terminals: bool,
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.grammar)?;
        for expr in self.grammar.exprs.iter() {
            if let Expr::Members(members) = expr {
                let Members { order, separator, marks, min, max, conditions, .. } = &**members;
                let separator = self.grammar.print_expr(*separator);
                write!(
                    f,
                    "({order:?} order, separator {separator}, {marks} marks, {min} to {max:?} of"
                )?;
                for Member { expr, once, marks, excludes } in &members.items {
                    let expr = self.grammar.print_expr(*expr);
                    write!(f, " [{expr} {once:?} {marks:?} {excludes:?}]")?;
                }
                writeln!(f, " if {conditions:?})")?;
            }
        }
        for symbol in self.grammar.symbols.iter().filter(|s| s.kind == SymbolKind::Terminal) {
            writeln!(f, "({} is a terminal)", symbol.name)?;
        }
        for (id, bytes) in self.tokens.bytes.iter().enumerate() {
            write!(f, "{id}:\"{}\" ", bytes.escape_ascii())?;
        }
        writeln!(
            f,
            "\neos {:?} special {:?} width {}",
            self.tokens.eos, self.tokens.special, self.tokens.width
        )
    }
}

/// A random grammar with a random vocabulary for it.
pub(crate) fn world(choices: &mut Choices) -> World {
    let (grammar, has_token_terminals) = random_grammar(choices);
    let tokens = vocabulary(choices, &grammar);
    World { grammar: Arc::new(grammar), tokens, has_token_terminals }
}

/// A random grammar that the oracle can read, and whether it has token terminals.
pub(crate) fn random_grammar(choices: &mut Choices) -> (Grammar, bool) {
    loop {
        let (grammar, has_token_terminals) = GrammarMaker::new(choices).grammar();
        if has_small_automata(&grammar) {
            return (grammar, has_token_terminals);
        }
    }
}

/// A random regular expression over few letters, full of intersections, and a grammar that has it.
pub(crate) fn random_regular(choices: &mut Choices) -> (Grammar, ExprId) {
    let mut maker = GrammarMaker::new(choices);
    maker.letters = vec!['a', 'b', 'é'];
    let expr = match maker.choices.below(4) {
        0 => maker.intersection(3),
        1 => maker.terminal_body(),
        2 => maker.counted(),
        _ => maker.terminal_expr(4),
    };
    let start = maker.builder.declare("start", SymbolKind::Terminal, Span::default());
    maker.builder.define(start, expr);
    (maker.builder.finish(start), expr)
}

const LETTERS: [char; 8] = ['a', 'b', 'c', 'é', 'è', '日', '😀', '"'];

struct GrammarMaker<'c> {
    choices: &'c mut Choices,
    builder: GrammarBuilder,
    letters: Vec<char>,
    rules: Vec<SymbolId>,
    terminals: Vec<SymbolId>,
    ignores: bool,
    token_terminals: bool,
    used_token_terminals: bool,
}

impl<'c> GrammarMaker<'c> {
    fn new(choices: &'c mut Choices) -> Self {
        let letters = (0..choices.between(1, 4)).map(|_| *choices.pick(&LETTERS)).collect();
        let ignores = choices.chance(25);
        let token_terminals = choices.chance(20);
        Self {
            choices,
            builder: GrammarBuilder::new(),
            letters,
            rules: vec![],
            terminals: vec![],
            ignores,
            token_terminals,
            used_token_terminals: false,
        }
    }

    fn grammar(mut self) -> (Grammar, bool) {
        let span = Span::default();
        for index in 0..self.choices.between(1, 4) {
            let rule = self.builder.declare(format!("r{index}"), SymbolKind::Rule, span);
            self.rules.push(rule);
        }
        let fewest = usize::from(self.ignores);
        for index in 0..self.choices.between(fewest, 3) {
            let body = self.terminal_body();
            let name = format!("T{index}");
            let terminal = self.builder.declare(name, SymbolKind::Terminal, span);
            self.builder.define(terminal, body);
            self.terminals.push(terminal);
        }
        for rule in self.rules.clone() {
            let body = self.rule_body(rule);
            self.builder.define(rule, body);
        }
        if self.ignores {
            for _ in 0..self.choices.between(1, 2) {
                let ignored = self.ignored();
                self.builder.ignore(ignored);
            }
        }
        let start = if self.choices.chance(3) { self.terminals.last().copied() } else { None };
        (self.builder.finish(start.unwrap_or(self.rules[0])), self.used_token_terminals)
    }

    /// A shape that is known to be hard, or anything.
    fn rule_body(&mut self, rule: SymbolId) -> ExprId {
        let again = self.builder.symbol(rule);
        match self.choices.below(13) {
            // A: A A | x
            6 => {
                let (pair, leaf) = (self.builder.seq(&[again, again]), self.rule_leaf());
                self.builder.alt(&[pair, leaf])
            }
            // A: A x | y
            7 => {
                let (tail, leaf) = (self.rule_expr(1), self.rule_leaf());
                let longer = self.builder.seq(&[again, tail]);
                self.builder.alt(&[longer, leaf])
            }
            // A: x A | y, or without the end: unproductive
            8 => {
                let (head, leaf) = (self.rule_expr(1), self.rule_leaf());
                let longer = self.builder.seq(&[head, again]);
                if self.choices.chance(10) { longer } else { self.builder.alt(&[longer, leaf]) }
            }
            // A: x A y | z
            9 => {
                let (head, tail, middle) = (self.rule_leaf(), self.rule_leaf(), self.rule_expr(1));
                let longer = self.builder.seq(&[head, again, tail]);
                self.builder.alt(&[longer, middle])
            }
            // A: x? A y | z, hidden left recursion
            10 => {
                let (head, tail, leaf) = (self.rule_leaf(), self.rule_leaf(), self.rule_leaf());
                let hidden = self.builder.repeat(head, 0, Some(1));
                let longer = self.builder.seq(&[hidden, again, tail]);
                self.builder.alt(&[longer, leaf])
            }
            // A: B | x, a cycle as soon as B does the same
            11 => {
                let other = *self.choices.pick(&self.rules);
                let (other, leaf) = (self.builder.symbol(other), self.rule_leaf());
                self.builder.alt(&[leaf, other])
            }
            // An object of objects
            12 => {
                let (members, leaf) = (self.members(2), self.rule_leaf());
                self.builder.alt(&[leaf, members])
            }
            _ => self.rule_expr(3),
        }
    }

    fn rule_expr(&mut self, depth: usize) -> ExprId {
        if depth == 0 {
            return self.rule_leaf();
        }
        match self.choices.below(11) {
            0..=2 => self.rule_leaf(),
            10 => self.members(depth - 1),
            3 | 4 => {
                let rule = *self.choices.pick(&self.rules);
                self.builder.symbol(rule)
            }
            5 | 6 => {
                let parts: Vec<ExprId> =
                    (0..self.choices.between(0, 3)).map(|_| self.rule_expr(depth - 1)).collect();
                self.builder.seq(&parts)
            }
            7 | 8 => {
                let fewest = usize::from(!self.choices.chance(5));
                let parts: Vec<ExprId> = (0..self.choices.between(fewest, 3))
                    .map(|_| self.rule_expr(depth - 1))
                    .collect();
                self.builder.alt(&parts)
            }
            _ => {
                let inner = self.rule_expr(depth - 1);
                self.repeated(inner, 3)
            }
        }
    }

    /// Members in either order, now and then so that no text is left.
    fn members(&mut self, depth: usize) -> ExprId {
        let marks = self.choices.below(4) as u32;
        let fewest = usize::from(!self.choices.chance(3));
        let count = self.choices.between(fewest, 4);
        let order = *self.choices.pick(&[MemberOrder::Any, MemberOrder::Given]);
        let mut alternatives = 0;
        let conditions = if order == MemberOrder::Given && self.choices.chance(30) {
            (0..self.choices.between(1, 2))
                .map(|_| {
                    let needs: Box<[Box<[u32]>]> = (0..self.choices.between(1, 3))
                        .map(|_| (0..4).filter(|_| self.choices.chance(25)).collect())
                        .collect();
                    alternatives += needs.len() as u32;
                    Condition { needs }
                })
                .collect()
        } else {
            Box::default()
        };
        let items = (0..count)
            .map(|_| {
                let expr = self.not_empty(depth);
                let once = (!self.choices.chance(25)).then(|| self.choices.below(count) as u32);
                let marks = (0..4).filter(|_| self.choices.chance(30)).collect();
                let most = if once.is_some() { alternatives } else { 0 };
                let excludes = (0..most).filter(|_| self.choices.chance(30)).collect();
                Member { expr, once, marks, excludes }
            })
            .collect();
        let separator = self.not_empty(0);
        let min = self.choices.below(4) as u32;
        let max = self.choices.chance(40).then(|| self.choices.between(min as usize, 4) as u32);
        let min = if self.choices.chance(70) { 0 } else { min };
        self.builder.members(Members { order, items, separator, marks, min, max, conditions })
    }

    /// An expression without the empty text.
    fn not_empty(&mut self, depth: usize) -> ExprId {
        let leaf = if self.choices.chance(70) {
            let text: String = (0..self.choices.between(1, 2))
                .map(|_| *self.choices.pick(&self.letters))
                .collect();
            self.builder.literal(text.as_bytes())
        } else {
            self.class()
        };
        match self.choices.below(4) {
            2 if depth > 0 => {
                let rest = self.rule_expr(depth);
                self.builder.seq(&[leaf, rest])
            }
            3 if depth > 0 => {
                let first = self.rule_expr(depth);
                self.builder.seq(&[first, leaf])
            }
            _ => leaf,
        }
    }

    /// With ignored text every leaf is a terminal symbol, as a front end makes it.
    fn rule_leaf(&mut self) -> ExprId {
        if self.token_terminals && self.choices.chance(30) {
            self.used_token_terminals = true;
            let token = match self.choices.below(4) {
                0 => TokenRef::Name("<|x|>".to_owned()),
                1 => TokenRef::Name("<|y|>".to_owned()),
                // Ids 0 and 1 are ordinary tokens, 2 and 3 special ones.
                _ => TokenRef::Id(self.choices.below(4) as u32),
            };
            let negated = self.choices.chance(25);
            return self.builder.token(TokenTerminal { token, negated });
        }
        if !self.terminals.is_empty() && (self.ignores || self.choices.chance(50)) {
            let terminal = *self.choices.pick(&self.terminals);
            return self.builder.symbol(terminal);
        }
        if self.choices.chance(10) { self.intersection(1) } else { self.leaf() }
    }

    fn terminal_body(&mut self) -> ExprId {
        match self.choices.below(10) {
            8 | 9 => self.intersection(2),
            // C{m,n} tail
            4 => {
                let (class, tail) = (self.class(), self.terminal_expr(1));
                let bound = *self.choices.pick(&[5, 5, 5, 36, 90]);
                let counted = self.repeated(class, bound);
                self.builder.seq(&[counted, tail])
            }
            // "…": anything but the quote, between quotes
            5 => {
                let quote = self.builder.literal(b"\"");
                let inner = self.builder.class(&all_but('"'));
                let inner = self.builder.repeat(inner, 0, None);
                self.builder.seq(&[quote, inner, quote])
            }
            // Words
            6 => {
                let words: Vec<ExprId> =
                    (0..self.choices.between(2, 6)).map(|_| self.literal()).collect();
                self.builder.alt(&words)
            }
            // C+
            7 => {
                let class = self.class();
                self.builder.repeat(class, 1, None)
            }
            _ => self.terminal_expr(3),
        }
    }

    fn terminal_expr(&mut self, depth: usize) -> ExprId {
        if depth == 0 {
            return self.leaf();
        }
        match self.choices.below(11) {
            0..=3 => self.leaf(),
            8 => self.intersection(depth - 1),
            9 => self.automaton(),
            4 => match self.terminals.last() {
                Some(_) => {
                    let terminal = *self.choices.pick(&self.terminals);
                    self.builder.symbol(terminal)
                }
                None => self.leaf(),
            },
            5 | 6 => {
                let parts: Vec<ExprId> = (0..self.choices.between(0, 3))
                    .map(|_| self.terminal_expr(depth - 1))
                    .collect();
                self.builder.seq(&parts)
            }
            7 => {
                let parts: Vec<ExprId> = (0..self.choices.between(1, 3))
                    .map(|_| self.terminal_expr(depth - 1))
                    .collect();
                self.builder.alt(&parts)
            }
            _ => {
                let inner = self.terminal_expr(depth - 1);
                self.repeated(inner, 4)
            }
        }
    }

    /// What schemas ask for: a text that is none of some words, a pattern of some length, patterns
    /// at once; or anything.
    fn intersection(&mut self, depth: usize) -> ExprId {
        let class = if self.choices.chance(50) {
            self.builder.class(&[('\0', char::MAX)])
        } else {
            self.class()
        };
        let many = self.builder.repeat(class, 0, None);
        match self.choices.below(5) {
            0 => {
                let words: Vec<ExprId> =
                    (0..self.choices.between(1, 4)).map(|_| self.literal()).collect();
                self.builder.and(&[many], &words)
            }
            // Only some lengths go together with the pattern.
            3 => {
                let (min, more) = (self.choices.below(2) as u32, self.choices.below(16) as u32);
                let length = self.builder.repeat(class, min, Some(min + more));
                let (unit, tail) = (self.literal(), self.leaf());
                let times = self.choices.between(1, 3) as u32;
                let unit = self.builder.repeat(unit, times, Some(times));
                let units = self.builder.repeat(unit, 0, None);
                let pattern = self.builder.seq(&[units, tail]);
                let pattern = if self.choices.chance(50) { pattern } else { units };
                self.builder.and(&[pattern, length], &[])
            }
            1 => {
                let (min, more) = (self.choices.below(3) as u32, self.choices.below(12) as u32);
                let length = self.builder.repeat(class, min, Some(min + more));
                let pattern = self.terminal_expr(depth + 1);
                let pattern =
                    if self.choices.chance(50) { self.unanchored(pattern) } else { pattern };
                self.builder.and(&[pattern, length], &[])
            }
            2 => {
                let pattern = self.terminal_expr(depth);
                let first = self.unanchored(pattern);
                let second = self.terminal_expr(depth + 1);
                let none: Vec<ExprId> =
                    (0..self.choices.below(2)).map(|_| self.terminal_expr(depth)).collect();
                self.builder.and(&[first, second], &none)
            }
            _ => {
                let all: Vec<ExprId> =
                    (0..self.choices.between(1, 3)).map(|_| self.terminal_expr(depth)).collect();
                let none: Vec<ExprId> =
                    (0..self.choices.below(3)).map(|_| self.terminal_expr(depth)).collect();
                self.builder.and(&all, &none)
            }
        }
    }

    /// Patterns with counts in them, of texts whose characters are counted, some of two letters.
    fn counted(&mut self) -> ExprId {
        let unit = match self.choices.below(3) {
            0 => self.builder.class(&[('\0', char::MAX)]),
            1 => self.class(),
            _ => {
                let plain = self.builder.class(&all_but('b'));
                let (escape, letter) =
                    (self.builder.literal(b"b"), self.builder.class(&[('a', 'b')]));
                let escaped = self.builder.seq(&[escape, letter]);
                self.builder.alt(&[plain, escaped])
            }
        };
        let mut all: Vec<ExprId> =
            (0..self.choices.between(1, 3)).map(|_| self.counted_pattern(unit)).collect();
        if self.choices.chance(80) {
            let (min, more) = (self.choices.below(12) as u32, self.choices.below(12) as u32);
            let max = if self.choices.chance(80) { Some(min + more) } else { None };
            all.push(self.builder.repeat(unit, min, max));
        }
        let none: Vec<ExprId> =
            (0..self.choices.below(3)).map(|_| self.counted_pattern(unit)).collect();
        let meet = self.builder.and(&all, &none);
        match self.choices.below(4) {
            0 => {
                let (before, after) = (self.leaf(), self.leaf());
                self.builder.seq(&[before, meet, after])
            }
            1 => self.builder.repeat(meet, 0, Some(2)),
            _ => meet,
        }
    }

    fn counted_pattern(&mut self, unit: ExprId) -> ExprId {
        let parts: Vec<ExprId> = (0..self.choices.between(1, 3))
            .map(|_| {
                let part = if self.choices.chance(40) { unit } else { self.leaf() };
                match self.choices.below(5) {
                    0 | 1 => self.builder.repeat(part, 0, None),
                    2 => part,
                    3 => {
                        let count = self.choices.between(1, 5) as u32;
                        self.builder.repeat(part, count, Some(count))
                    }
                    _ => {
                        let min = self.choices.below(3) as u32;
                        let max = min + self.choices.below(9) as u32;
                        self.builder.repeat(part, min, Some(max))
                    }
                }
            })
            .collect();
        self.builder.seq(&parts)
    }

    /// The expression anywhere in a text.
    fn unanchored(&mut self, expr: ExprId) -> ExprId {
        let any = self.builder.class(&[('\0', char::MAX)]);
        let any = self.builder.repeat(any, 0, None);
        self.builder.seq(&[any, expr, any])
    }

    /// An automaton of a few states over the bytes of the letters.
    fn automaton(&mut self) -> ExprId {
        let bytes: Vec<u8> = self.letters.iter().flat_map(|c| c.to_string().into_bytes()).collect();
        let count = self.choices.between(1, 4);
        let states: Vec<AutomatonState> = (0..count)
            .map(|_| {
                let accepts = self.choices.chance(40);
                let mut edges: Vec<(u8, u8, u32)> = (0..self.choices.between(0, 3))
                    .map(|_| {
                        let byte = *self.choices.pick(&bytes);
                        (byte, byte, self.choices.below(count) as u32)
                    })
                    .collect();
                edges.sort_unstable();
                edges.dedup_by_key(|edge| edge.0);
                AutomatonState { accepts, edges: edges.into() }
            })
            .collect();
        match Automaton::new(&states) {
            Some(automaton) => self.builder.automaton(automaton),
            None => self.leaf(),
        }
    }

    fn repeated(&mut self, expr: ExprId, bound: usize) -> ExprId {
        match self.choices.below(5) {
            0 => self.builder.repeat(expr, 0, None),
            1 => self.builder.repeat(expr, 1, None),
            2 => self.builder.repeat(expr, 0, Some(1)),
            3 => {
                let min = self.choices.below(bound) as u32;
                self.builder.repeat(expr, min, None)
            }
            _ => {
                let min = self.choices.below(bound);
                let max = self.choices.between(min, bound);
                self.builder.repeat(expr, min as u32, Some(max as u32))
            }
        }
    }

    fn leaf(&mut self) -> ExprId {
        match self.choices.below(8) {
            0..=3 => self.literal(),
            6 if self.choices.chance(20) => self.automaton(),
            7 if self.choices.chance(30) => {
                let ranges: &[&[(u8, u8)]] = &[
                    &[(b'a', b'b')],
                    &[(0x80, 0xBF)],
                    &[(0xC3, 0xC3), (0xE6, 0xF0)],
                    &[(0x00, 0xFF)],
                    &[(0x00, b'a'), (0xFF, 0xFF)],
                ];
                let ranges = *self.choices.pick(ranges);
                self.builder.bytes(ranges)
            }
            _ => self.class(),
        }
    }

    fn literal(&mut self) -> ExprId {
        let length = if self.choices.chance(6) { 0 } else { self.choices.between(1, 3) };
        let text: String = (0..length).map(|_| *self.choices.pick(&self.letters)).collect();
        self.builder.literal(text.as_bytes())
    }

    fn class(&mut self) -> ExprId {
        let letter = *self.choices.pick(&self.letters);
        let ranges = match self.choices.below(10) {
            0..=2 => vec![(letter, letter)],
            3 | 4 => {
                let mut both = [letter, *self.choices.pick(&self.letters)];
                both.sort_unstable();
                if both[0] == both[1] {
                    vec![(letter, letter)]
                } else if self.choices.chance(50) {
                    vec![(both[0], both[1])]
                } else {
                    vec![(both[0], both[0]), (both[1], both[1])]
                }
            }
            5 => vec![('a', 'z')],
            6 => vec![('\u{80}', '\u{7FF}')],
            7 => vec![('\u{800}', '\u{FFFF}'), ('\u{1F600}', '\u{1F64F}')],
            8 => vec![('\0', char::MAX)],
            _ => all_but(letter),
        };
        self.builder.class(&ranges)
    }

    fn ignored(&mut self) -> ExprId {
        match self.choices.below(5) {
            0 | 1 => self.builder.literal(b" "),
            2 => {
                let space = self.builder.class(&[('\t', '\n'), (' ', ' ')]);
                self.builder.repeat(space, 1, None)
            }
            // Like a comment; its text overlaps with terminals.
            3 => {
                let hash = self.builder.literal(b"#");
                let rest = self.builder.class(&all_but('\n'));
                let rest = self.builder.repeat(rest, 0, None);
                self.builder.seq(&[hash, rest])
            }
            _ => self.terminal_expr(2),
        }
    }
}

fn all_but(letter: char) -> Vec<(char, char)> {
    let code = u32::from(letter);
    let before = char::from_u32(code - 1).expect("no letter follows the surrogates");
    let after = char::from_u32(code + 1).expect("no letter precedes the surrogates");
    vec![('\0', before), (after, char::MAX)]
}

/// A vocabulary of texts that belong to the grammar, nearly belong to it, or don't.
fn vocabulary(choices: &mut Choices, grammar: &Grammar) -> Tokens {
    // The first four are the ones that token terminals name.
    let mut tokens = Tokens {
        bytes: vec![b"a".to_vec(), b"ab".to_vec(), b"<|x|>".to_vec(), b"<|y|>".to_vec()],
        eos: vec![],
        special: vec![2, 3],
        width: 0,
    };
    let texts = sample_texts(choices, grammar, &tokens);
    let joined = texts.concat();
    let add = |tokens: &mut Tokens, bytes: Vec<u8>| tokens.bytes.push(bytes);

    match choices.below(10) {
        0 => {}
        9 => (0..=255).for_each(|byte| add(&mut tokens, vec![byte])),
        _ => {
            let mut single: Vec<u8> = b"ab \"#\xC3\xA9\xF0".to_vec();
            single.extend(&joined);
            single.sort_unstable();
            single.dedup();
            for byte in single {
                add(&mut tokens, vec![byte]);
            }
        }
    }
    for _ in 0..choices.below(20) {
        // Any cut of a text, perhaps with an accident.
        let text = if texts.is_empty() { &joined } else { choices.pick(&texts) };
        let start = choices.below(text.len() + 1);
        let length = choices.below((text.len() - start).min(12) + 1);
        let mut bytes = text[start..start + length].to_vec();
        if choices.chance(25) {
            let other = *choices.pick(b"ab\"# \xC3\xA9\xE6\x97\xA5");
            let at = choices.below(bytes.len() + 1);
            bytes.insert(at, other);
        }
        add(&mut tokens, bytes);
    }
    for _ in 0..choices.below(5) {
        let letters: String = (0..choices.between(1, 5)).map(|_| *choices.pick(&LETTERS)).collect();
        let start = choices.below(letters.len());
        let end = choices.between(start, letters.len());
        add(&mut tokens, letters.as_bytes()[start..end].to_vec());
    }
    if choices.chance(20) {
        let length = choices.between(5, 50);
        let unit = choices.pick(&LETTERS).to_string();
        add(&mut tokens, unit.repeat(length).into_bytes());
    }
    for _ in 0..choices.below(3) {
        let twice = choices.pick(&tokens.bytes).clone();
        if !twice.starts_with(b"<|") {
            add(&mut tokens, twice);
        }
    }
    for _ in 0..choices.below(3) {
        add(&mut tokens, vec![]);
    }
    // Special tokens that look like text or have no bytes at all.
    for _ in 0..choices.below(3) {
        tokens.special.push(tokens.bytes.len() as u32);
        let bytes: &[u8] = choices.pick::<&[u8]>(&[b"", b"a", b"<|z|>", b"\xC3"]);
        add(&mut tokens, bytes.to_vec());
    }
    for _ in 0..choices.between(1, 3) {
        tokens.eos.push(tokens.bytes.len() as u32);
        let bytes: &[u8] = choices.pick::<&[u8]>(&[b"", b"</s>", b"a", b" "]);
        add(&mut tokens, bytes.to_vec());
    }
    tokens.width = tokens.bytes.len() + if choices.chance(50) { choices.below(70) } else { 0 };
    tokens
}

/// Walks through the grammar byte by byte.
fn sample_texts(choices: &mut Choices, grammar: &Grammar, tokens: &Tokens) -> Vec<Vec<u8>> {
    let Some(reference) = Reference::new(grammar, tokens) else { return vec![] };
    let mut texts = vec![];
    for _ in 0..choices.between(1, 3) {
        let mut chart = reference.begin();
        let mut text = vec![];
        for _ in 0..choices.between(1, 14) {
            let next = reference.next_bytes(&mut chart);
            let Some(likely) = (!next.is_empty()).then(|| {
                let likely: Vec<u8> =
                    next.iter().copied().filter(|byte| b"abc\"# \xC3\xA9".contains(byte)).collect();
                if likely.is_empty() { next } else { likely }
            }) else {
                break;
            };
            let byte = *choices.pick(&likely);
            reference.read_bytes(&mut chart, &[byte]);
            text.push(byte);
        }
        texts.push(text);
    }
    texts
}
