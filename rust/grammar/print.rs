//! `Display` of a [`Grammar`]: one line a symbol, GBNF-like, for tests and bug reports.

use std::fmt::{self, Write};

use super::{Expr, Grammar, MemberOrder, TokenRef};
use crate::index::{ExprId, Id};

impl fmt::Display for Grammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, symbol) in self.symbols.iter_enumerated() {
            let mark = if id == self.start { "*" } else { "" };
            writeln!(f, "{mark}{} ::= {}", symbol.name, self.print_expr(symbol.body))?;
        }
        for &ignore in &self.ignore {
            writeln!(f, "%ignore {}", self.print_expr(ignore))?;
        }
        Ok(())
    }
}

impl Grammar {
    /// What `Display` writes, without the symbols that the start does not lead to.
    pub fn print_used(&self) -> String {
        let used = self.used_symbols();
        let lines = self.to_string();
        let kept = lines.lines().enumerate().filter(|(line, _)| used.get(*line) != Some(&false));
        kept.flat_map(|(_, line)| [line, "\n"]).collect()
    }

    /// Which symbols the start and what is ignored lead to.
    fn used_symbols(&self) -> Vec<bool> {
        let mut used = vec![false; self.symbols.len()];
        let mut seen = vec![false; self.exprs.len()];
        used[self.start.index()] = true;
        let mut open = vec![self.symbols[self.start].body];
        open.extend(&self.ignore);
        while let Some(id) = open.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            match &self.exprs[id] {
                Expr::Symbol(symbol) => {
                    used[symbol.index()] = true;
                    open.push(self.symbols[*symbol].body);
                }
                Expr::Seq(parts) | Expr::Alt(parts) => open.extend(parts.iter()),
                Expr::Repeat { expr, .. } => open.push(*expr),
                Expr::And { all, none } => open.extend(all.iter().chain(none.iter())),
                Expr::Members(members) => {
                    open.push(members.separator);
                    open.extend(members.items.iter().map(|item| item.expr));
                }
                Expr::Literal(_)
                | Expr::Class(_)
                | Expr::Bytes(_)
                | Expr::Token(_)
                | Expr::Automaton(_) => {}
            }
        }
        used
    }
}

/// Pieces still to be printed: an explicit stack, since nesting is the user's.
enum Piece {
    Expr(ExprId, bool),
    Text(String),
}

impl Grammar {
    /// One expression in the printer's notation.
    pub fn print_expr(&self, root: ExprId) -> String {
        let mut out = String::new();
        let mut stack = vec![Piece::Expr(root, false)];
        while let Some(piece) = stack.pop() {
            match piece {
                Piece::Text(text) => out.push_str(&text),
                Piece::Expr(id, grouped) => self.print_into(id, grouped, &mut out, &mut stack),
            }
        }
        out
    }

    fn print_into(&self, id: ExprId, grouped: bool, out: &mut String, stack: &mut Vec<Piece>) {
        match &self.exprs[id] {
            Expr::Literal(bytes) => out.push_str(&quote(bytes)),
            Expr::Class(ranges) => {
                out.push('[');
                for &(low, high) in ranges.iter() {
                    push_class_char(out, low);
                    if low != high {
                        out.push('-');
                        push_class_char(out, high);
                    }
                }
                out.push(']');
            }
            Expr::Bytes(ranges) => {
                out.push_str("(?-u:[");
                for &(low, high) in ranges.iter() {
                    push(out, format_args!("\\x{low:02X}-\\x{high:02X}"));
                }
                out.push_str("])");
            }
            Expr::Token(terminal) => {
                if terminal.negated {
                    out.push('!');
                }
                match &terminal.token {
                    TokenRef::Name(name) => out.push_str(name),
                    TokenRef::Id(id) => push(out, format_args!("<[{id}]>")),
                }
            }
            Expr::Symbol(symbol) => out.push_str(&self.symbols[*symbol].name),
            Expr::Seq(parts) => push_list(parts, " ", grouped, stack),
            Expr::Alt(parts) if parts.is_empty() => out.push_str("[]"),
            Expr::Alt(parts) => push_list(parts, " | ", grouped, stack),
            Expr::Repeat { expr, min, max } => {
                let suffix = match (min, max) {
                    (0, None) => "*".to_owned(),
                    (1, None) => "+".to_owned(),
                    (0, Some(1)) => "?".to_owned(),
                    (min, None) => format!("{{{min},}}"),
                    (min, Some(max)) if min == max => format!("{{{min}}}"),
                    (min, Some(max)) => format!("{{{min},{max}}}"),
                };
                stack.push(Piece::Text(suffix));
                stack.push(Piece::Expr(*expr, true));
            }
            Expr::And { all, none } => {
                stack.push(Piece::Text(")".to_owned()));
                for &part in none.iter().rev() {
                    stack.push(Piece::Expr(part, true));
                    stack.push(Piece::Text(" - ".to_owned()));
                }
                for (index, &part) in all.iter().enumerate().rev() {
                    stack.push(Piece::Expr(part, true));
                    if index > 0 {
                        stack.push(Piece::Text(" & ".to_owned()));
                    }
                }
                stack.push(Piece::Text("(".to_owned()));
            }
            Expr::Automaton(automaton) => {
                push(out, format_args!("<automaton of {} states>", automaton.states().len()));
            }
            Expr::Members(members) => {
                stack.push(Piece::Text("}".to_owned()));
                for (index, item) in members.items.iter().enumerate().rev() {
                    stack.push(Piece::Expr(item.expr, true));
                    if index > 0 {
                        stack.push(Piece::Text(" , ".to_owned()));
                    }
                }
                let order = match members.order {
                    MemberOrder::Any => "unordered{",
                    MemberOrder::Given => "ordered{",
                };
                stack.push(Piece::Text(order.to_owned()));
            }
        }
    }
}

/// Appends formatted text.
fn push(out: &mut String, text: fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _ = out.write_fmt(text);
}

fn push_list(parts: &[ExprId], separator: &str, grouped: bool, stack: &mut Vec<Piece>) {
    if grouped {
        stack.push(Piece::Text(")".to_owned()));
    }
    for (index, &part) in parts.iter().enumerate().rev() {
        stack.push(Piece::Expr(part, true));
        if index > 0 {
            stack.push(Piece::Text(separator.to_owned()));
        }
    }
    if grouped {
        stack.push(Piece::Text("(".to_owned()));
    }
}

/// Bytes as a quoted literal: text as it is, the rest escaped.
pub(crate) fn quote(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                '\r' => out.push_str("\\r"),
                '\t' => out.push_str("\\t"),
                c if c.is_control() => push(&mut out, format_args!("\\x{:02X}", c as u32)),
                c => out.push(c),
            }
        }
        for byte in chunk.invalid() {
            push(&mut out, format_args!("\\x{byte:02X}"));
        }
    }
    out.push('"');
    out
}

fn push_class_char(out: &mut String, c: char) {
    match c {
        '\\' | ']' | '[' | '-' | '^' => {
            out.push('\\');
            out.push(c);
        }
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() || c.is_whitespace() && c != ' ' => {
            push(out, format_args!("\\u{:04X}", c as u32));
        }
        c => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use crate::grammar::{GrammarBuilder, SymbolKind};
    use crate::span::Span;

    #[test]
    fn prints_what_was_built() {
        let mut b = GrammarBuilder::new();
        let root = b.declare("root", SymbolKind::Rule, Span::default());
        let literal = b.literal(b"a\n");
        let class = b.class(&[('0', '9'), ('é', 'é')]);
        let either = b.alt(&[literal, class]);
        let many = b.repeat(either, 2, Some(5));
        let again = b.symbol(root);
        let body = b.seq(&[many, again]);
        b.define(root, body);
        assert_eq!(b.finish(root).to_string(), "*root ::= (\"a\\n\" | [0-9é]){2,5} root\n");
    }
}
