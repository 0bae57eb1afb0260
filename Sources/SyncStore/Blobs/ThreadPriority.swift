import CStore

package enum ThreadPriority {
    /// Lowers the priority of the calling thread: it runs when other threads leave time, and goes on once they have had
    /// their turn.
    ///
    /// Bytes of attachments can wait. A user's change passes six threads on its way, and would wait at each for a slice
    /// of the scheduler's, 4 ms, while chunks are hashed.
    package static func letOthersRunFirst() { lanyard_let_others_run_first() }
}
