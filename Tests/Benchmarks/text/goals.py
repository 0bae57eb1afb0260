"""The figures of the race in words, and what ours are meant to be."""
from dataclasses import dataclass

# In the order in which they are printed. Smaller is better in all of them.
TITLES = {
    "replay_each": "Replay, a commit after each edit",
    "replay_whole": "Replay, one commit at the end",
    "replay_typed": "Replay, nothing committed yet",
    "load": "Load encoded bytes and read the text",
    "first_edit": "First edit after loading and reading",
    "bytes": "Encoded size",
    "memory_replay": "Memory held after a replay",
    "memory_load": "Memory held after loading and reading",
    "delta_bytes": "Last 1,000 edits as one delta, size",
    "delta_make": "Last 1,000 edits as one delta, made",
    "delta_apply": "Last 1,000 edits as one delta, taken in",
    "delta_apply_read": "Last 1,000 edits as one delta, taken in and the text read",
    "live_p50": "One edit typed, committed, encoded, and taken in by another replica, p50",
    "live_p99": "One edit typed, committed, encoded, and taken in by another replica, p99",
    "live_bytes": "One edit as it is shipped",
    "edit_p50": "One edit typed and nothing else, p50",
    "edit_p99": "One edit typed and nothing else, p99",
    "shared_bytes": "Encoded size of what two wrote together",
    "shared_merge": "Whole shared history into an empty document, read",
    "shared_each": "Shared history transaction by transaction into an empty document, read",
    "shared_each_us": "Shared history, one transaction",
    "apart_make": "Two histories apart and exchanged: both deltas made",
    "apart_bytes": "Two histories apart and exchanged: both deltas, size",
    "apart_merge": "Two histories apart and exchanged: both taken in",
    "apart_read": "Two histories apart and exchanged: both taken in and both texts read",
    "apart_each": "One history written apart, taken in change by change",
    "apart_each_us": "One history written apart, one change",
    "branches": "Replicas that typed three letters each in one place, taken in one by one",
    "branches_us": "Replicas that typed three letters each in one place, one of them",
    "turns": "Two authors typing one letter each in turn, taken in one by one",
    "turns_us": "Two authors typing one letter each in turn, one letter",
}


@dataclass
class Goal:
    """At most `limit`; or at most `limit` × what `engine` needs."""
    figure: str
    case: str
    limit: float
    engine: str = None
    form: str = None


GOALS = [
    Goal("replay_typed", "automerge-paper", 3),
    Goal("replay_whole", "automerge-paper", 3),
    Goal("replay_each", "automerge-paper", 3),
    Goal("replay_each", "automerge-paper", 1 / 90, "Loro"),
    Goal("load", "automerge-paper", 0.4),
    Goal("first_edit", "automerge-paper", 3),
    Goal("bytes", "automerge-paper", 106_000),
    Goal("bytes", "automerge-paper", 0.82, "Automerge"),
    Goal("memory_replay", "automerge-paper", 2),
    Goal("memory_load", "automerge-paper", 2),
    Goal("delta_bytes", "automerge-paper", 700, form="change"),
    Goal("edit_p50", "automerge-paper", 2),
    Goal("live_p50", "automerge-paper", 2),
    Goal("shared_merge", "friendsforever", 0.8, form="delta"),
    Goal("shared_merge", "friendsforever", 1, "Yrs", form="delta"),
    Goal("shared_each_us", "friendsforever", 1.5),
    Goal("apart_merge", "rustcode + sveltecomponent", 5),
    Goal("apart_merge", "100,000 characters, 10,000 edits each", 50),
]
