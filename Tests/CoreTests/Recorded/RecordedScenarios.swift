/// The conversations that are recorded of each version, by the names of their files.
enum RecordedScenarios {
    struct Session {
        let name: String
        let title: String
        let commands: [String]
    }

    static let sessions = [
        Session(
            name: "session-1-meet", title: "Two devices that wrote apart meet, write on, and one says goodbye.",
            commands: [
                "nodes 2", "put 1 milk whole", "put 2 bread rye", "emit 2 log 40", "pair 1 2", "put 1 milk skimmed",
                "emit 1 log 40", "delete 2 bread", "wait 20", "stop 2",
            ]),
        Session(
            name: "session-2-push-and-prune",
            title: "In a ring of three a change arrives twice, and one way is pruned.",
            commands: [
                "nodes 3", "pair 1 2", "pair 2 3", "connect 1 3", "put 1 milk whole", "put 1 milk skimmed",
                "put 3 bread rye", "wait 2", "stop 1",
            ]),
        Session(
            name: "session-3-catch-up", title: "A device that was away takes what it missed, a little at a time.",
            commands: [
                "nodes 3 small", "pair 1 2", "pair 1 3", "disconnect 3", "emit 1 log 600", "emit 1 log 600",
                "emit 1 log 600", "emit 1 log 600", "put 3 eggs six", "put 2 milk whole", "connect 1 3", "wait 5",
                "stop 3",
            ]),
        Session(
            name: "session-4-acknowledgements", title: "Acknowledgements, whole and as what moved since the last one.",
            commands: [
                "nodes 2", "pair 1 2", "put 1 milk whole", "wait 95", "put 2 milk oat", "wait 95", "disconnect 2",
                "put 1 bread rye", "connect 1 2", "wait 35", "stop 1",
            ]),
        Session(
            name: "session-5-state", title: "A newcomer takes as state what has been dropped as changes.",
            commands: [
                "nodes 2 compact", "pair 1 2", "put 1 milk whole", "put 1 milk skimmed", "emit 1 log 40", "wait 90",
                "compact 1", "add", "pair 1 3", "put 1 bread rye", "wait 5", "stop 1",
            ]),
        Session(
            name: "session-6-presence", title: "Presence, and the word that a bulk connection is wanted.",
            commands: [
                "nodes 2", "pair 1 2", "present 1 here", "present 2 there", "wait 6", "present 1", "bulk 1 2",
                "bulk 2 1", "wait 2", "stop 2",
            ]),
    ]
}
