//! Reads a pattern: text → expressions where it has no assertions, nodes where it has some.
//!
//! The grammar is that of ECMA-262 with the flag `u`, and that of its Annex B where `u` forbids
//! something. Open groups are an explicit stack.

mod class;
mod cursor;
mod escape;
mod groups;
mod property;

use cursor::Cursor;
use escape::Escape;
use groups::Groups;

use super::algebra::Algebra;
use super::error::PatternError;
use super::nodes::{Kind, Look, Nodes, Piece};

/// A pattern.
pub(super) struct Parsed {
    pub(super) root: Piece,
    pub(super) nodes: Nodes,
    /// The first part that can't be enforced; the rest of the pattern is right, too.
    pub(super) refused: Option<PatternError>,
}

/// Reads a pattern.
pub(super) fn parse(pattern: &str, algebra: &mut Algebra<'_>) -> Result<Parsed, PatternError> {
    let mut parser = Parser {
        cursor: Cursor { pattern, at: 0 },
        algebra,
        nodes: Nodes::default(),
        groups: None,
        refused: None,
        text: String::new(),
        items: Vec::new(),
        branches: Vec::new(),
        open: Vec::new(),
    };
    let root = parser.pattern()?;
    Ok(Parsed { root, nodes: parser.nodes, refused: parser.refused })
}

/// All but line breaks.
const DOT: &[(char, char)] =
    &[('\0', '\t'), ('\u{B}', '\u{C}'), ('\u{E}', '\u{2027}'), ('\u{202A}', char::MAX)];

struct Parser<'p, 'a, 'b> {
    cursor: Cursor<'p>,
    algebra: &'a mut Algebra<'b>,
    nodes: Nodes,
    /// Found when a backreference asks for them.
    groups: Option<Groups<'p>>,
    refused: Option<PatternError>,
    /// Characters that stand for themselves, before they become an item.
    text: String,
    /// The parts of the current alternatives of all open groups, one group after the other.
    items: Vec<Piece>,
    /// The alternatives of all open groups, likewise.
    branches: Vec<Piece>,
    open: Vec<Open>,
}

/// A group that has not been closed.
struct Open {
    at: usize,
    look: Option<(bool, bool)>,
    /// Where its parts begin.
    items: usize,
    branches: usize,
    /// Where its current alternative begins in the pattern.
    branch_at: usize,
}

impl Parser<'_, '_, '_> {
    fn pattern(&mut self) -> Result<Piece, PatternError> {
        self.open.push(Open { at: 0, look: None, items: 0, branches: 0, branch_at: 0 });
        loop {
            let mut at = self.cursor.at;
            let Some(next) = self.cursor.next() else { break };
            let piece = match next {
                '(' => {
                    self.open_group(at)?;
                    continue;
                }
                '|' => {
                    self.end_branch();
                    continue;
                }
                ')' => {
                    let (opened, piece, repeatable) = self.close_group(at)?;
                    if !repeatable {
                        self.items.push(piece);
                        continue;
                    }
                    at = opened;
                    piece
                }
                '^' | '$' => {
                    let kind = if next == '^' { Kind::Start } else { Kind::End };
                    self.assertion(at, kind);
                    continue;
                }
                '.' => Piece::Plain(self.algebra.class(DOT)),
                '[' => {
                    let ranges = class::class(&mut self.cursor, at, &mut self.groups)?;
                    Piece::Plain(self.algebra.class(&ranges))
                }
                '\\' => match escape::escape(&mut self.cursor, at, false, &mut self.groups)? {
                    Escape::Char(code) => match char::from_u32(code) {
                        Some(char) => {
                            self.char(at, char)?;
                            continue;
                        }
                        // A lone surrogate.
                        None => Piece::Plain(self.algebra.none),
                    },
                    Escape::Class(ranges) => Piece::Plain(self.algebra.class(&ranges)),
                    Escape::Boundary { negated } => {
                        self.assertion(at, Kind::Boundary { negated });
                        continue;
                    }
                    Escape::Reference => {
                        let text = &self.cursor.pattern[at..self.cursor.at];
                        self.refuse(PatternError::unsupported(
                            at,
                            format!("backreference `{text}` is not supported"),
                            "write the possible texts as alternatives",
                        ));
                        Piece::Plain(self.algebra.empty)
                    }
                },
                '*' | '+' | '?' => return Err(self.nothing_to_repeat(at, next)),
                '{' if self.braces()?.is_some() => return Err(self.nothing_to_repeat(at, next)),
                _ => {
                    self.char(at, next)?;
                    continue;
                }
            };
            self.flush();
            let piece = self.quantified(at, piece)?;
            self.items.push(piece);
        }
        if self.open.len() > 1
            && let Some(open) = self.open.last()
        {
            return Err(PatternError::syntax(
                open.at,
                "unterminated group",
                r"close it with `)`, or write `\(` for a parenthesis",
            ));
        }
        self.end_branch();
        Ok(self.alternatives(0, 0))
    }

    /// Makes the characters so far an item.
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.items.push(Piece::Plain(self.algebra.literal(&self.text)));
            self.text.clear();
        }
    }

    /// A character that stands for itself.
    fn char(&mut self, at: usize, char: char) -> Result<(), PatternError> {
        if !matches!(self.cursor.peek(), Some('*' | '+' | '?' | '{')) {
            self.text.push(char);
            return Ok(());
        }
        self.flush();
        let literal = self.algebra.literal(char.encode_utf8(&mut [0; 4]));
        let piece = self.quantified(at, Piece::Plain(literal))?;
        self.items.push(piece);
        Ok(())
    }

    fn assertion(&mut self, at: usize, kind: Kind) {
        self.flush();
        let piece = self.nodes.push(at, kind, self.algebra);
        self.items.push(piece);
    }

    fn open_group(&mut self, at: usize) -> Result<(), PatternError> {
        self.flush();
        let cursor = &mut self.cursor;
        let mut look = None;
        if cursor.eat("?") {
            if cursor.eat("=") {
                look = Some((false, false));
            } else if cursor.eat("!") {
                look = Some((false, true));
            } else if cursor.eat("<=") {
                look = Some((true, false));
            } else if cursor.eat("<!") {
                look = Some((true, true));
            } else if cursor.eat("<") {
                name(cursor, at)?;
            } else if let Some(flags) = flags(cursor.rest()) {
                cursor.at += flags.len() + 1;
                if !flags.is_empty() {
                    self.refuse(PatternError::unsupported(
                        at,
                        format!("flags in a pattern are not supported: `(?{flags}:`"),
                        FLAGS_HINT,
                    ));
                }
            } else {
                return Err(foreign_group(cursor.rest(), at));
            }
        }
        let (items, branches) = (self.items.len(), self.branches.len());
        self.open.push(Open { at, look, items, branches, branch_at: self.cursor.at });
        Ok(())
    }

    /// Ends an alternative of the innermost group.
    fn end_branch(&mut self) {
        self.flush();
        // The pattern itself is never closed.
        if let Some(open) = self.open.last_mut() {
            let branch = self.nodes.seq(open.branch_at, &self.items[open.items..], self.algebra);
            self.items.truncate(open.items);
            open.branch_at = self.cursor.at;
            self.branches.push(branch);
        }
    }

    /// The alternatives from a place on, as one piece.
    fn alternatives(&mut self, at: usize, from: usize) -> Piece {
        let piece = match self.branches[from..] {
            [one] => one,
            ref several => self.nodes.alt(at, several, self.algebra),
        };
        self.branches.truncate(from);
        piece
    }

    /// Where the group begins that a `)` closes, the group, and whether it may be repeated: lookbehind
    /// may not.
    fn close_group(&mut self, at: usize) -> Result<(usize, Piece, bool), PatternError> {
        self.end_branch();
        let open = match self.open.pop() {
            Some(open) if !self.open.is_empty() => open,
            _ => {
                return Err(PatternError::syntax(
                    at,
                    "`)` without a `(`",
                    r"remove it, or write `\)` for a parenthesis",
                ));
            }
        };
        let piece = self.alternatives(open.at, open.branches);
        let Some((behind, negated)) = open.look else { return Ok((open.at, piece, true)) };
        let look = Kind::Look(Look { piece, behind, negated });
        Ok((open.at, self.nodes.push(open.at, look, self.algebra), !behind))
    }

    /// A piece with the quantifier behind it, if there is one.
    fn quantified(&mut self, at: usize, piece: Piece) -> Result<Piece, PatternError> {
        let place = self.cursor.at;
        let bounds = match self.cursor.next() {
            Some('*') => Some((0, None)),
            Some('+') => Some((1, None)),
            Some('?') => Some((0, Some(1))),
            Some('{') => self.braces()?,
            _ => None,
        };
        let Some(bounds) = bounds else {
            // Annex B: a brace that is none of these is a character, the next.
            self.cursor.at = place;
            return Ok(piece);
        };
        self.cursor.eat("?");
        Ok(self.nodes.repeat(at, piece, bounds, self.algebra))
    }

    /// Reads the rest of `{2}`, `{2,}` or `{2,5}`; nothing, if it is none of these.
    fn braces(&mut self) -> Result<Option<(u32, Option<u32>)>, PatternError> {
        let start = self.cursor.at;
        let mut ahead = self.cursor;
        let bounds = ahead.number(10, usize::MAX).and_then(|min| {
            let max = if ahead.eat(",") { ahead.number(10, usize::MAX) } else { Some(min) };
            ahead.eat("}").then_some((min, max))
        });
        let Some((min, max)) = bounds else { return Ok(None) };
        if max.is_some_and(|max| max < min) {
            return Err(PatternError::syntax(
                start,
                "reversed bounds of a repetition",
                "write the lower bound first, as in `{2,5}`",
            ));
        }
        self.cursor = ahead;
        let largest = max.unwrap_or(min);
        if largest > u64::from(u32::MAX) {
            self.refuse(PatternError::unsupported(
                start,
                format!("repetition count {largest} is too large, the limit is {}", u32::MAX),
                "leave the upper bound out, as in `{2,}`, for any number",
            ));
            return Ok(Some((0, None)));
        }
        Ok(Some((min as u32, max.map(|max| max as u32))))
    }

    fn nothing_to_repeat(&self, at: usize, operator: char) -> PatternError {
        let before = &self.cursor.pattern[..at];
        let possessive = operator == '+' && before.ends_with(['*', '+', '?', '}']);
        let hint = if possessive {
            "possessive quantifiers are not part of ECMA-262; leave the last `+` out".to_owned()
        } else {
            format!("put what is repeated before it, or write `\\{operator}` for the character")
        };
        PatternError::syntax(at, format!("nothing to repeat before `{operator}`"), hint)
    }

    /// Notes what can't be enforced, and goes on looking for syntax errors.
    fn refuse(&mut self, error: PatternError) {
        self.refused.get_or_insert(error);
    }
}

/// Reads the name of a group and its `>`.
fn name(cursor: &mut Cursor<'_>, at: usize) -> Result<(), PatternError> {
    let name = cursor.rest().split_once('>').map(|(name, _)| name);
    // Names may have escapes such as `\u0061`.
    let is_name = |name: &str| {
        let part = |c: char| c.is_alphanumeric() || "$_\\{}\u{200C}\u{200D}".contains(c);
        name.chars().all(part) && name.starts_with(|c: char| part(c) && !c.is_numeric())
    };
    match name {
        Some(name) if is_name(name) => {
            cursor.at += name.len() + 1;
            Ok(())
        }
        _ => Err(PatternError::syntax(
            at,
            "invalid name of a group",
            "write `(?<name>…)` with letters, digits and `_`, or `(?:…)`",
        )),
    }
}

/// The flags of `(?:`, which has none, or `(?i:` and the like in newer editions of the standard.
fn flags(rest: &str) -> Option<&str> {
    let (flags, _) = rest.split_once(':')?;
    let (on, off) = flags.split_once('-').unwrap_or((flags, ""));
    let known = |c: char| "ims".contains(c) && flags.matches(c).count() == 1;
    (flags != "-" && on.chars().chain(off.chars()).all(known)).then_some(flags)
}

/// The error for `(?` with something behind it that ECMA-262 doesn't know.
fn foreign_group(rest: &str, at: usize) -> PatternError {
    let flags = rest.find(|c: char| !c.is_ascii_alphabetic() && c != '-').unwrap_or(rest.len());
    let (message, hint) = match rest.chars().next() {
        None => ("unterminated group", r"close it with `)`, or write `\(` for a parenthesis"),
        Some('P') if rest.starts_with("P<") => {
            ("`(?P<` is not part of ECMA-262", "write `(?<name>…)` for a named group, or `(?:…)`")
        }
        Some('P') => (
            "`(?P` is not part of ECMA-262",
            r"write `(?:…)` for a group; backreferences and recursion can't be enforced",
        ),
        Some('>') => ("atomic groups are not part of ECMA-262", "write `(?:…)`"),
        Some('#') => ("comments are not part of ECMA-262", "leave the comment out"),
        Some('(') => ("conditionals are not part of ECMA-262", "write each case as an alternative"),
        Some('|') => ("`(?|` is not part of ECMA-262", "write `(?:…)`"),
        Some(_) if flags > 0 && rest[flags..].starts_with(')') => {
            return PatternError::syntax(
                at,
                format!("`(?{})` is not part of ECMA-262: a pattern has no flags", &rest[..flags]),
                FLAGS_HINT,
            );
        }
        Some(_) => {
            ("unknown kind of group", r"write `(?:…)` for a group, or `\(` for a parenthesis")
        }
    };
    PatternError::syntax(at, message, hint)
}

const FLAGS_HINT: &str = "write both cases of letters, as in `[Aa]`, and `[^]` for any character, \
                          line breaks included";
