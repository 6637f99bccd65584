//! Work on the items of a slice, spread over threads.
//!
//! Takes items and what to do with each; when it returns, all is done and no thread is left: the
//! threads live as long as the call, so that there is no pool that a forked process could wait for.
//! Knows nothing of what the items are.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{Builder, available_parallelism, scope};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// How many threads this machine lets the process run at once.
pub fn cores() -> usize {
    // Asking takes as long as filling masks does: it reads files.
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}

/// How long the caller works alone. Most calls are done by then. A thread takes 40 µs to start and
/// end on an idle machine, but on a busy one the caller waits until it has had its turn.
///
/// PERF: 64 tokens to accept, all steps known, two threads: 184 µs of CPU a call when threads
/// were started at once, 80 µs on one. 256 known masks on two busy cores: 3.7 ms on the clock when
/// a thread was started after 0.25 ms, 0.7 ms without.
const ALONE: Duration = Duration::from_micros(500);

/// Calls `work` for each item, on at most `threads` threads, the caller's among them.
///
/// Other threads are started if the caller alone is not done soon.
///
/// Items that lie together are mostly worked on by one thread, so that rows of one grammar, which
/// learn the same, seldom wait for each other. Shares get smaller towards the end, so that no
/// thread has much left when the others are done.
///
/// # Panics
/// If `work` does, with what it says; the other threads finish the items first.
pub fn spread<T: Send>(items: &mut [T], threads: usize, work: impl Fn(&mut T) + Sync) {
    let start = Instant::now();
    let mut done = 0;
    while done < items.len() && (threads <= 1 || start.elapsed() < ALONE) {
        work(&mut items[done]);
        done += 1;
    }
    let items = &mut items[done..];
    let threads = threads.min(items.len());
    if threads == 0 {
        return;
    }
    let rest = Mutex::new(items);
    let worker = || {
        loop {
            let mut left = rest.lock();
            let share = left.len().div_ceil(2 * threads);
            let (mine, others) = std::mem::take(&mut *left).split_at_mut(share);
            *left = others;
            drop(left);
            if mine.is_empty() {
                return;
            }
            mine.iter_mut().for_each(&work);
        }
    };
    scope(|scope| {
        // Where no more threads can be had, those there are do it all.
        let started: Vec<_> =
            (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, worker).ok()).collect();
        worker();
        for thread in started {
            if let Err(panic) = thread.join() {
                resume_unwind(panic);
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::thread::{current, sleep};

    use super::*;

    #[test]
    fn every_item_is_worked_on_once() {
        for threads in [0, 1, 2, 3, 64] {
            for count in [0, 1, 2, 3, 100] {
                let mut items: Vec<usize> = (0..count).collect();
                spread(&mut items, threads, |item| {
                    // With some, the caller is not done alone.
                    if *item % 3 == 0 {
                        sleep(ALONE / 3);
                    }
                    *item += 1000;
                });
                let expected: Vec<usize> = (1000..1000 + count).collect();
                assert_eq!(items, expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn threads_help_with_what_takes_long() {
        for threads in [1, 2] {
            let mut ids = vec![None; 100];
            spread(&mut ids, threads, |id| {
                sleep(10 * ALONE);
                *id = Some(current().id());
            });
            let used: HashSet<_> = ids.into_iter().flatten().collect();
            assert_eq!(used.len(), threads);
        }
    }

    #[test]
    fn a_panic_says_what_it_said_and_the_other_threads_go_on() {
        for threads in [1, 2, 4] {
            let mut items: Vec<usize> = (0..100).collect();
            let result = catch_unwind(AssertUnwindSafe(|| {
                spread(&mut items, threads, |item| {
                    assert_ne!(*item, 99, "the last one");
                    sleep(ALONE / 10);
                    *item += 1000;
                });
            }));
            let panic = result.unwrap_err();
            let text = panic.downcast_ref::<String>().unwrap();
            assert!(text.contains("the last one"), "{text}");
            assert!(items[..90].iter().all(|item| *item >= 1000));
        }
    }
}
