//! The layout of charts, without a browser.

#[path = "../../../web/src/chart/geometry.rs"]
mod geometry;

use geometry::{
    Scale, band, extent, format_fixed, length, parse_number, path, round_places, runs, shade,
    stack_parts,
};

fn near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-9
}

#[test]
fn numbers_are_read_and_written_as_documents_write_them() {
    let read = |text: &str, number: f64| {
        assert!(
            parse_number(text).is_some_and(|found| near(found, number)),
            "{text}: {:?}",
            parse_number(text)
        );
    };
    read("0", 0.0);
    read("-0.25", -0.25);
    read("1234567.000001", 1_234_567.000_001);
    for text in ["", "-", ".5", "1e5", "1,000", "none", "0x1", "12a", "--1"] {
        assert_eq!(parse_number(text), None, "{text}");
    }
    for (number, decimals, text) in [
        (0.0, 1, "0.0"),
        (-0.04, 1, "0.0"),
        (-0.05, 1, "-0.1"),
        (12.345, 2, "12.35"),
        (12.0, 0, "12"),
        (0.000_1, 3, "0.000"),
        (f64::INFINITY, 1, "922337203685477580.7"),
    ] {
        assert_eq!(format_fixed(number, decimals), text);
    }
    assert_eq!(length(-7.25), "-7.3");
}

#[test]
fn an_axis_begins_and_ends_at_round_values() {
    for (low, high) in [(0.13, 9.7), (99.2, 100.4), (-3.0, 12.0), (5.0, 5.0), (1e6, 3.3e7)] {
        let scale = Scale::with_round_ends((low, high), (230.0, 12.0), 5);
        let ticks = scale.ticks(5);
        assert!(ticks.len() >= 3 && ticks.len() <= 8, "{low} to {high}: {ticks:?}");
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        assert!(first <= low && high <= last, "{low} to {high} lies within {ticks:?}");
        assert!(near(scale.at(first), 230.0) && near(scale.at(last), 12.0), "{ticks:?}");
    }
    let zero = Scale::with_round_ends((-0.1, 0.1), (0.0, 1.0), 4).ticks(4);
    assert!(zero.contains(&0.0), "zero is written as such: {zero:?}");
}

#[test]
fn lines_break_where_a_value_is_missing_and_bands_with_them() {
    let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((3.0, 0.5))];
    assert_eq!(path(points.into_iter()), "M0.0 1.0L1.0 2.0M3.0 0.5");
    assert_eq!(runs(&[true, true, false, true]), [(0, 1), (3, 3)]);
    let pairs = [Some(((0.0, 1.0), 4.0)), Some(((1.0, 2.0), 5.0)), None];
    assert_eq!(band(&pairs), "M0.0 1.0L1.0 2.0L1.0 5.0L0.0 4.0Z");
    assert_eq!(band(&[None]), "");
    assert_eq!(extent([2.0, f64::NAN, -1.0].into_iter()), Some((-1.0, 2.0)));
    assert_eq!(extent(std::iter::empty()), None);
}

#[test]
fn parts_below_zero_are_drawn_to_the_left_of_it() {
    let drawn = |parts: &[f64]| {
        let (places, zero) = stack_parts(parts, 400.0);
        let part = |(start, wide): (f64, f64)| format!("{}+{}", length(start), length(wide));
        (places.into_iter().map(part).collect::<Vec<_>>().join(" "), length(zero))
    };
    let told = |places: &str, zero: &str| (places.to_owned(), zero.to_owned());
    assert_eq!(drawn(&[-1.0, 0.5, 2.5]), told("0.0+100.0 100.0+50.0 150.0+250.0", "100.0"));
    assert_eq!(drawn(&[-1.0, -3.0]), told("300.0+100.0 0.0+300.0", "400.0"));
    assert_eq!(drawn(&[0.0, 0.0]), told("0.0+0.0 0.0+0.0", "0.0"));
}

#[test]
fn each_shade_is_of_as_many_values() {
    let all = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 700.0, 8_000.0];
    let shades: Vec<u8> = all.map(|one| shade(one, &all, 4)).into();
    assert_eq!(shades, [0, 0, 1, 1, 2, 2, 3, 3]);
    let alike = [7.0; 5];
    assert_eq!(shade(7.0, &alike, 4), 0, "one value is one shade");
    let shades: Vec<u8> =
        [1.0, 1.0, 1.0, 2.0].map(|one| shade(one, &[1.0, 1.0, 1.0, 2.0], 4)).into();
    assert_eq!(shades, [0, 0, 0, 3], "equals are of one shade");
    assert_eq!(shade(1.0, &[], 4), 0);
}

#[test]
fn what_is_written_below_an_axis_is_round() {
    let round = |places: Vec<String>, most: usize| {
        let found = round_places(&places, most);
        for (index, words) in &found {
            let here = &places[*index];
            assert!(
                here.starts_with(words) || here.contains(&format!(" {words} ")),
                "{here}: {words}"
            );
        }
        found.into_iter().map(|(_, words)| words).collect::<Vec<_>>()
    };
    let sizes = ["$1,000", "$1,250", "$8,000", "$10,000", "$12,500", "$100,000", "$125,000"];
    let sizes = || sizes.map(str::to_owned).to_vec();
    assert_eq!(round(sizes(), 7), ["$1,000", "$10,000", "$100,000"]);
    assert_eq!(round(sizes(), 2), ["$1,000", "$100,000"]);
    let time = |minutes: u32| {
        let (day, minutes) = (18 + minutes / 1_440, minutes % 1_440);
        format!("2026-11-{day} {:02}:{:02} UTC", minutes / 60, minutes % 60)
    };
    let every = |step: u32, count: u32| (0..count).map(|at| time(1_025 + at * step)).collect();
    // A day of slots, a week of hours that does not start on the hour, and a few days.
    assert_eq!(round(every(5, 288), 7), ["18:00", "2026-11-19", "06:00", "12:00"]);
    let hours = |count: u32| {
        let mut hours = vec![time(1_025)];
        hours.extend((0..count).map(|at| time(1_080 + at * 60)));
        hours
    };
    let days = round(hours(167), 7);
    assert_eq!(days.len(), 7);
    assert_eq!((days[0].as_str(), days[6].as_str()), ("2026-11-19", "2026-11-25"));
    assert_eq!(round(hours(167), 3).len(), 3);
    // If no round time falls into the range, the axis has no labels.
    assert_eq!(round(every(5, 6), 7), Vec::<String>::new());
    assert_eq!(round(vec!["first".to_owned(), "last".to_owned()], 7), Vec::<String>::new());
}
