import EndsModel

// Runs the models of membership and of ends from a shell.
//
//     ends-model roles compare < FILE      the verdicts of another model, one history a line
//     ends-model roles random [N] [SEED]   N histories of up to 12 devices
//     ends-model roles every [N] [FROM] [wide]
//                                          every history of up to N free facts behind two adds, in all orders of delivery;
//                                          FROM: the first free fact is this letter or a later one
//     ends-model roles finality            every interleaving of a revocation's way through small meshes
//     ends-model roles founding [N]        N meetings of foundings
//     ends-model roles plants [N]          each planted bug must be found
//     ends-model roles agent VERB …        random, every and plants by the simpler law that the agent follows
//     ends-model histories random [N] [SEED]
//                                          N histories of 2 to 12 devices with forks, retirements and disks put back
//     ends-model histories every [LIMIT]   few moves of 2 to 4 devices in every order, up to so many states each
//     ends-model histories plants [N]      each planted bug must be found
//     ends-model histories show SEED       the moves of one of them, and what breaks
var arguments = Array(CommandLine.arguments.dropFirst())
let model = arguments.isEmpty ? "" : arguments.removeFirst()
let isSound: Bool
switch model {
case "roles": isSound = RolesProbe(arguments).run()
case "histories": isSound = HistoriesProbe(arguments).run()
case _:
    print("ends-model histories random [N] [SEED]|every [LIMIT]|plants [N]|show SEED")
    print("ends-model roles [agent] compare|random [N] [SEED]|every [N] [FROM] [wide]|finality|founding [N]|plants [N]")
    isSound = false
}
if !isSound { stop() }
