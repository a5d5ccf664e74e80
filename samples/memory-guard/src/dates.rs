//! Dates as days, by the proleptic Gregorian calendar.

/// The day of a date such as `2026-05-03` or `2026-05-03T10:00:00Z`, counted from 1970-01-01; `None` when it is no date.
pub fn day(text: &str) -> Option<i64> {
    let date = text.get(..10)?;
    if !matches!(text.as_bytes().get(10), None | Some(b'T' | b't' | b' ')) {
        return None;
    }
    let mut parts = date.split('-');
    let mut number = |length: usize| -> Option<i64> {
        let part = parts.next()?;
        if part.len() != length || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        part.parse().ok()
    };
    let (year, month, day) = (number(4)?, number(2)?, number(2)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, if leap { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = usize::try_from(month - 1).ok().and_then(|index| lengths.get(index))?;
    if !(1..=*length).contains(&day) {
        return None;
    }
    let before: i64 = lengths.iter().take(usize::try_from(month - 1).ok()?).sum();
    let years = year - 1;
    let since_zero = years * 365 + years / 4 - years / 100 + years / 400 + before + day;
    Some(since_zero - 719_163)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_are_counted() {
        assert_eq!(day("1970-01-01"), Some(0));
        assert_eq!(day("2000-03-01"), Some(11_017));
        assert_eq!(day("2024-02-29T23:59:59Z"), Some(19_782));
        for text in ["2023-02-29", "2026-13-01", "2026-1-01", "26-01-01", "", "2026-01-01x", "2026-00-10", "абвгдежз-и"] {
            assert_eq!(day(text), None, "{text}");
        }
    }
}
