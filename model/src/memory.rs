//! How much memory is in use.

/// Why a search gives up, if its process holds more than `most` bytes in memory. Where nobody can tell how much it holds, it
/// goes on.
pub fn run_out(most: Option<u64>) -> Option<String> {
    let most = most?;
    let held = memory_stats::memory_stats()?.physical_mem as u64;
    (held > most).then(|| format!("memory: {} MB", most / 1_000_000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_holds_more_than_it_may_has_run_out() {
        let held = memory_stats::memory_stats().expect("it can be told here").physical_mem as u64;
        assert_eq!(run_out(Some(1_000_000)), Some("memory: 1 MB".to_owned()), "{held} bytes are held");
        assert_eq!((run_out(Some(held * 1000)), run_out(None)), (None, None));
    }
}
