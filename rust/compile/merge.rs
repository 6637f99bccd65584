//! Makes one production of those that differ in one short lexeme.
//!
//! `A → x "+" y | x "-" y` becomes `A → x ("+" | "-") y`: whichever was read, the same row follows.
//! Lexemes that repeat something stay apart, since their splits are shared with other grammars
//! under their own name.

use rustc_hash::FxHashMap;

use super::bnf::{Bnf, BnfLexeme, Symbols};
use super::layout::LexemeName;
use crate::earley::Sym;
use crate::index::{LexemeId, NonterminalId, RegexId};
use crate::lexer::RegexSet;

/// The symbols before and behind a lexeme.
type Rest = (Symbols, Symbols);

/// Longer productions are not looked at.
const MAX_SYMBOLS: usize = 8;

pub(super) fn merge_alternatives(bnf: &mut Bnf, regexes: &mut RegexSet) {
    let mut merged: FxHashMap<RegexId, LexemeId> = FxHashMap::default();
    for id in bnf.productions.ids() {
        if bnf.productions[id].len() < 2 {
            continue;
        }
        let longest = bnf.productions[id].iter().map(Symbols::len).max().unwrap_or(0);
        for position in 0..longest.min(MAX_SYMBOLS) {
            merge_at(bnf, regexes, &mut merged, id, position);
        }
    }
}

/// Merges the productions of a nonterminal that differ only at `position`.
fn merge_at(
    bnf: &mut Bnf,
    regexes: &mut RegexSet,
    merged: &mut FxHashMap<RegexId, LexemeId>,
    id: NonterminalId,
    position: usize,
) {
    // Productions by what is before and behind the lexeme.
    let mut groups: FxHashMap<Rest, Vec<(usize, RegexId)>> = FxHashMap::default();
    for (index, symbols) in bnf.productions[id].iter().enumerate() {
        if let Some(&Sym::Lexeme(lexeme)) = symbols.get(position)
            && symbols.len() <= MAX_SYMBOLS
            && regexes.is_finite(bnf.lexemes[lexeme].regex)
        {
            let rest = (
                Symbols::from_slice(&symbols[..position]),
                Symbols::from_slice(&symbols[position + 1..]),
            );
            let regex = bnf.lexemes[lexeme].regex;
            groups.entry(rest).or_default().push((index, regex));
        }
    }
    let mut gone = Vec::new();
    for group in groups.into_values().filter(|group| group.len() > 1) {
        let (indexes, parts): (Vec<usize>, Vec<RegexId>) = group.into_iter().unzip();
        let regex = regexes.or(&parts);
        let lexeme = *merged
            .entry(regex)
            .or_insert_with(|| bnf.lexemes.push(BnfLexeme { regex, name: LexemeName::None }));
        bnf.productions[id][indexes[0]][position] = Sym::Lexeme(lexeme);
        gone.extend_from_slice(&indexes[1..]);
    }
    gone.sort_unstable();
    let mut index = 0;
    bnf.productions[id].retain(|_| {
        index += 1;
        gone.binary_search(&(index - 1)).is_err()
    });
}

#[cfg(test)]
mod tests {
    use super::super::bnf::tests::{parse, print};
    use super::*;

    #[test]
    fn alternatives_that_differ_in_one_lexeme_become_one() {
        let mut bnf = parse("0: 0 a 1 | 0 b 1 | 0 c 1 | a | b 1\n1: a | b | c");
        let mut regexes = RegexSet::default();
        for (index, lexeme) in (b'a'..=b'c').zip(0..) {
            bnf.lexemes[LexemeId(lexeme)].regex = regexes.literal(&[index]);
        }
        merge_alternatives(&mut bnf, &mut regexes);
        // The new lexeme has no name.
        assert_eq!(print(&bnf), "0: 0  1 | a | b 1\n1: \n");
    }
}
