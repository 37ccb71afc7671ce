//! The table of variances: `rejected/variance.txt`.

/// A line of the table: a type, one of its parameters, and how the type varies in it.
#[derive(Debug)]
pub struct Row {
    file: &'static str,
    name: &'static str,
    /// More than one for a private type.
    parameter: &'static str,
    variance: &'static str,
    /// The type with `'x`, or `FN`, in the parameter.
    probed: &'static str,
}

/// All lines.
pub fn rows() -> Vec<Row> {
    let lines = include_str!("../../rejected/variance.txt").lines();
    lines.filter(|line| !line.starts_with('#') && !line.is_empty()).map(row).collect()
}

fn row(line: &'static str) -> Row {
    let parts: Vec<_> = line.split('|').map(str::trim).collect();
    let part = |at: usize| parts.get(at).copied().unwrap_or_default();
    let row = Row { file: part(0), name: part(1), parameter: part(2), variance: part(3), probed: part(4) };
    let needs_reason = !matches!(row.variance, "invariant" | "private");
    assert_eq!(needs_reason, !part(5).is_empty(), "a type that varies says why it may: {line}");
    row
}

impl Row {
    /// `file: Type.parameter`, for each.
    pub fn parameters(&self) -> Vec<String> {
        self.parameter.split(", ").map(|one| format!("{}: {}.{one}", self.file, self.name)).collect()
    }

    /// Private types cannot be named; and some parameters are of types without lifetimes.
    pub fn is_probed(&self) -> bool {
        !matches!(self.variance, "private" | "unnamed")
    }

    /// Whether the two probes must be rejected.
    pub fn rejects(&self) -> [bool; 2] {
        match self.variance {
            "invariant" => [true, true],
            "covariant" => [false, true],
            "contravariant" => [true, false],
            other => panic!("{other} is no variance"),
        }
    }

    /// Two functions, without their names: the type's lifetime becomes shorter; it becomes longer. `FN` is for types that must be `'static`.
    pub fn probes(&self) -> [String; 2] {
        let (long, short) = match self.probed.contains("FN") {
            true => (
                self.probed.replace("FN", "for<'r> fn(&'r u8)"),
                self.probed.replace("FN", "fn(&'static u8)"),
            ),
            false => (self.probed.replace("'x", "'static"), self.probed.replace("'x", "'a")),
        };
        [(&long, &short), (&short, &long)].map(|(from, to)| format!("<'a, 'b>(v: {from}) -> {to} {{ v }}"))
    }
}
