//! The process's memory (decisions 61 and 85).

use std::hint::black_box;
use std::thread;
use std::time::Duration;

/// The allocator: an answer consists of hundreds of allocations that each live for microseconds.
pub use mimalloc::MiMalloc as Allocator;

/// How often freed memory is returned to the system.
const RETURN_EVERY: Duration = Duration::from_secs(1);
/// The size of a block that the allocator takes from its arenas, and not from a page of small blocks.
const BLOCK_BYTES: usize = 1 << 20;

/// Starts a thread that frees a large block every second. The allocator returns freed memory to the system only when a
/// large block is freed: without this, a process that became idle would keep what its busiest moment needed.
pub fn return_freed_memory() {
    let name = "memory".to_owned();
    // Without the thread the process works the same, and keeps more.
    let _ = thread::Builder::new().name(name).spawn(|| {
        loop {
            thread::sleep(RETURN_EVERY);
            drop(black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
        }
    });
}
