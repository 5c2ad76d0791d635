//! Pages as Markdown.

use crate::page::{Block, Cell, Group, Line, Mood, Page, missed};
use std::fmt::Write;

/// A page as Markdown: the answer first, and nothing that only browsers have room for.
pub(crate) fn markdown(page: &Page) -> String {
    let answer = page.iter().find_map(|piece| {
        let Block::Answer(answer, line) = piece else { return None };
        Some((sign((*answer).into()), words(line)))
    });
    let Some((sign, answer)) = answer else {
        return page.iter().filter_map(block).collect::<Vec<_>>().join("\n");
    };
    let mut blocks = vec![format!("**{answer}**\n")];
    // What limits the answer follows it.
    let (limits, others): (Vec<&Block>, Vec<&Block>) =
        page.iter().partition(|piece| matches!(piece, Block::Line(line) if line.is_odd()));
    for piece in limits.into_iter().chain(others) {
        match piece {
            Block::Title(name, _) => blocks.insert(0, format!("### {sign} zoocheck: {}\n", plain(name))),
            piece => blocks.extend(block(piece)),
        }
    }
    blocks.join("\n")
}

fn block(piece: &Block) -> Option<String> {
    match piece {
        Block::Title(name, _) => Some(format!("## {}\n", plain(name))),
        Block::Line(line) => match &line.spans[..] {
            [(Mood::Strong, command)] => Some(fenced("sh", command)),
            _ => Some(format!("{}\n", words(line))),
        },
        Block::Table(_, groups) => {
            let tables: Vec<String> = groups.iter().filter_map(table).collect();
            (!tables.is_empty()).then(|| tables.join("\n"))
        }
        Block::Cases(cases, _) => {
            let missed: Vec<String> = missed(cases).into_iter().map(plain).collect();
            (!missed.is_empty()).then(|| format!("Never reached: {}\n", missed.join(", ")))
        }
        Block::Card(title, body) => {
            let body: Vec<String> = body.iter().filter_map(block).collect();
            Some(format!("**{}**\n\n{}", words(title), body.join("\n")))
        }
        Block::Steps(lines, _) | Block::Told(lines) => Some(fenced("", &lines.join("\n"))),
        Block::Command(command) => Some(fenced("sh", command)),
        Block::Facts(_)
        | Block::Blank
        | Block::Answer(..)
        | Block::Moments(_)
        | Block::Diagram(_)
        | Block::Herd(_)
        | Block::Aside(..) => None,
    }
}

fn words(line: &Line) -> String {
    line.spans.iter().map(|(mood, words)| span(*mood, words)).collect()
}

fn span(mood: Mood, words: &str) -> String {
    let is_code = mood == Mood::Strong && !words.contains('`');
    if is_code { format!("`{words}`") } else { plain(words) }
}

fn sign(mood: Mood) -> &'static str {
    match mood {
        Mood::Good => "✅",
        Mood::Bad => "❌",
        Mood::Plain | Mood::Strong | Mood::Odd => "⚠️",
    }
}

/// Of what is of interest only where it is broken, that.
fn table(group: &Group) -> Option<String> {
    let is_bad = |row: &&Vec<Cell>| !group.aside || row.iter().any(|cell| cell.mood == Mood::Bad);
    let rows: Vec<&Vec<Cell>> = group.rows.iter().filter(is_bad).collect();
    let mut out = format!("| {} |\n|", group.heads.join(" | "));
    for column in 0..group.heads.len() {
        out.push_str(if group.is_number(column) { "---:|" } else { "---|" });
    }
    for row in &rows {
        let cell = |cell: &Cell| match cell.mood {
            Mood::Plain | Mood::Strong => span(cell.mood, &cell.words),
            Mood::Good => format!("🟢 {}", plain(&cell.words)),
            Mood::Bad => format!("🔴 {}", plain(&cell.words)),
            Mood::Odd => format!("🟡 {}", plain(&cell.words)),
        };
        let _ = write!(out, "\n| {} |", row.iter().map(cell).collect::<Vec<_>>().join(" | "));
    }
    out.push('\n');
    group.notes.iter().for_each(|note| {
        let _ = write!(out, "\n{}\n", words(note));
    });
    (!rows.is_empty()).then_some(out)
}

/// A block of code, whatever is in it.
fn fenced(language: &str, code: &str) -> String {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}\n", code.trim_end())
}

/// Text that means nothing to Markdown, nor to the HTML in it; in one line.
fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '$' => out.extend(['\\', c]),
            // Nobody is to be called by a znode's name.
            '@' => out.push_str("&#64;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_text_means_anything_to_markdown() {
        assert_eq!(plain("/a|b\n<script>*x*`@you"), "/a\\|b &lt;script&gt;\\*x\\*\\`&#64;you");
        assert_eq!(fenced("sh", "a ``` b"), "````sh\na ``` b\n````\n");
    }
}
