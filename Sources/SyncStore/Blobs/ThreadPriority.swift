import CStore

package enum ThreadPriority {
    /// From now on the calling thread gets what others leave, and runs on once they have had their turn.
    ///
    /// Bytes of attachments can wait; a change that somebody just made passes six threads on its way, and would wait at each
    /// for a slice of the scheduler's, 4 ms, while chunks are hashed.
    package static func letOthersRunFirst() { lanyard_let_others_run_first() }
}
