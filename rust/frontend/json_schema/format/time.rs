//! Dates and times of RFC 3339, and durations of its appendix A.
//!
//! February has 29 days in leap years alone (the year 0000 is one), and a second is numbered 60
//! only at 23:59 UTC. `T` and `Z` may be small, as section 5.6 allows; the designators of durations
//! are capital letters, as ISO 8601 wants them.

use super::pen::Pen;
use crate::index::ExprId;

/// `full-date`.
pub(super) fn date(p: &Pen<'_>) -> ExprId {
    let day = |last: ExprId| p.alt(&[p.seq(&[p.text("0"), p.digits(1, 9)]), last]);
    let (tens, digit) = (p.digits(1, 2), p.digit());
    let until_28 =
        day(p.alt(&[p.seq(&[p.text("1"), digit]), p.seq(&[p.text("2"), p.digits(0, 8)])]));
    let until_30 = day(p.alt(&[p.seq(&[tens, digit]), p.text("30")]));
    let until_31 = day(p.alt(&[p.seq(&[tens, digit]), p.seq(&[p.text("3"), p.digits(0, 1)])]));
    let long = p.class(&[('1', '1'), ('3', '3'), ('5', '5'), ('7', '8')]);
    let short = p.class(&[('4', '4'), ('6', '6'), ('9', '9')]);
    let ends = p.class(&[('0', '0'), ('2', '2')]);
    let months = p.alt(&[
        p.seq(&[
            p.text("0"),
            p.alt(&[
                p.seq(&[long, p.text("-"), until_31]),
                p.seq(&[short, p.text("-"), until_30]),
                p.seq(&[p.text("2-"), until_28]),
            ]),
        ]),
        p.seq(&[
            p.text("1"),
            p.alt(&[p.seq(&[ends, p.text("-"), until_31]), p.seq(&[p.text("1-"), until_30])]),
        ]),
    ]);
    p.alt(&[
        p.seq(&[p.times(digit, 4, 4), p.text("-"), months]),
        p.seq(&[leap_year(p), p.text("-02-29")]),
    ])
}

/// A year that 4 divides, and 400 if it ends a century.
fn leap_year(p: &Pen<'_>) -> ExprId {
    let fours = p.class(&[('0', '0'), ('4', '4'), ('8', '8')]);
    let twos = p.class(&[('2', '2'), ('6', '6')]);
    let even = p.class(&[('2', '2'), ('4', '4'), ('6', '6'), ('8', '8')]);
    let odd = p.class(&[('1', '1'), ('3', '3'), ('5', '5'), ('7', '7'), ('9', '9')]);
    // Two digits, not both 0, that are divisible by 4.
    let late = p.alt(&[
        p.seq(&[p.text("0"), p.class(&[('4', '4'), ('8', '8')])]),
        p.seq(&[even, fours]),
        p.seq(&[odd, twos]),
    ]);
    p.alt(&[
        p.seq(&[p.times(p.digit(), 2, 2), late]),
        p.seq(&[p.alt(&[late, p.text("00")]), p.text("00")]),
    ])
}

/// `full-time`.
pub(super) fn time(p: &Pen<'_>) -> ExprId {
    let clock = Clock::new(p);
    let zone = p.alt(&[
        p.letter('z'),
        p.seq(&[p.class(&[('+', '+'), ('-', '-')]), clock.hour, p.text(":"), clock.minute]),
    ]);
    let usual = p.seq(&[
        clock.hour,
        p.text(":"),
        clock.minute,
        p.text(":"),
        clock.minute,
        clock.fraction,
        zone,
    ]);
    let leap_in_utc = p.seq(&[p.text("23:59:60"), clock.fraction, p.letter('z')]);
    p.alt(&[usual, leap_in_utc, leap_elsewhere(p, &clock)])
}

/// `date-time`.
pub(super) fn date_time(p: &Pen<'_>) -> ExprId {
    p.seq(&[date(p), p.letter('t'), time(p)])
}

/// Parts of times.
struct Clock {
    /// 00 to 23.
    hour: ExprId,
    /// 00 to 59.
    minute: ExprId,
    /// The fraction of a second, if any.
    fraction: ExprId,
}

impl Clock {
    fn new(p: &Pen<'_>) -> Self {
        let digit = p.digit();
        Self {
            hour: p.alt(&[p.seq(&[p.digits(0, 1), digit]), p.seq(&[p.text("2"), p.digits(0, 3)])]),
            minute: p.seq(&[p.digits(0, 5), digit]),
            fraction: p.opt(p.seq(&[p.text("."), p.plus(digit)])),
        }
    }
}

/// A leap second where the clock is not UTC's: `hh:mm:60±HH:MM` with hh:mm ∓ HH:MM = 23:59.
///
/// For `-` that is hh + HH = 23 and mm + MM = 59, which holds digit by digit for the minutes. For
/// `+` the offset is one minute more than hh:mm. So three relations say it, of hours, tens of
/// minutes and minutes, each over the whole text: 24 + 6 + 10 alternatives, not 2 · 1,440.
fn leap_elsewhere(p: &Pen<'_>, clock: &Clock) -> ExprId {
    let (colon, digit) = (p.text(":"), p.digit());
    let two = |value: u8| p.text(&format!("{value:02}"));
    let west = p.seq(&[p.text(":60"), clock.fraction, p.text("-")]);
    let east = p.seq(&[p.text(":60"), clock.fraction, p.text("+")]);
    let any_minute = p.seq(&[clock.minute, west]);
    let before_59 = p.seq(&[
        p.alt(&[p.seq(&[p.digits(0, 4), digit]), p.seq(&[p.text("5"), p.digits(0, 8)])]),
        east,
    ]);
    let at_59 = p.seq(&[p.text("59"), east]);
    let hours: Vec<ExprId> = (0..24)
        .map(|hour| {
            p.seq(&[
                two(hour),
                colon,
                p.alt(&[
                    p.seq(&[any_minute, two(23 - hour)]),
                    p.seq(&[before_59, two(hour)]),
                    p.seq(&[at_59, two((hour + 1) % 24)]),
                ]),
            ])
        })
        .collect();
    let hours = p.seq(&[p.alt(&hours), colon, clock.minute]);

    let west = p.seq(&[west, clock.hour, colon]);
    let east = p.seq(&[east, clock.hour, colon]);
    let one = |value: u8| p.digits(value, value);
    let tens: Vec<ExprId> = (0..6)
        .map(|tens| {
            p.seq(&[
                one(tens),
                p.alt(&[
                    p.seq(&[digit, west, one(5 - tens)]),
                    p.seq(&[p.digits(0, 8), east, one(tens)]),
                    p.seq(&[p.text("9"), east, one((tens + 1) % 6)]),
                ]),
            ])
        })
        .collect();
    let tens = p.seq(&[clock.hour, colon, p.alt(&tens), digit]);

    let ten = p.digits(0, 5);
    let (west, east) = (p.seq(&[west, ten]), p.seq(&[east, ten]));
    let ones: Vec<ExprId> = (0..10)
        .map(|ones| {
            p.seq(&[
                one(ones),
                p.alt(&[p.seq(&[west, one(9 - ones)]), p.seq(&[east, one((ones + 1) % 10)])]),
            ])
        })
        .collect();
    let ones = p.seq(&[clock.hour, colon, ten, p.alt(&ones)]);

    p.and(&[hours, tens, ones], &[])
}

/// `duration`: units in order, none left out between two others, weeks alone.
pub(super) fn duration(p: &Pen<'_>) -> ExprId {
    let number = p.plus(p.digit());
    let then = |unit: &str, rest: ExprId| p.seq(&[p.text(unit), p.opt(rest)]);
    let second = p.seq(&[number, p.text("S")]);
    let minutes = then("M", second);
    let hours = then("H", p.seq(&[number, minutes]));
    let time = p.seq(&[p.text("T"), number, p.alt(&[hours, minutes, p.text("S")])]);

    let months = then("M", p.seq(&[number, p.text("D")]));
    let years = then("Y", p.seq(&[number, months]));
    let date = p.seq(&[p.alt(&[years, months, p.text("D")]), p.opt(time)]);
    let dates_and_weeks = p.seq(&[number, p.alt(&[date, p.text("W")])]);
    p.seq(&[p.text("P"), p.alt(&[dates_and_weeks, time])])
}
