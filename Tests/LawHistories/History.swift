package import ReferenceModels

/// What happens to a few replicas of one value, as a list: it can be printed, cut shorter and run again.
///
/// Numbers that choose (a replica, a change, an index) are taken modulo what there is to choose from.
package struct History: Sendable {
    /// Decides what is left to chance when the history is over: in which orders everything is put together again.
    package var seed: UInt64
    package var replicas: Int
    package var steps: [Step]

    package init(seed: UInt64, replicas: Int, steps: [Step]) {
        self.seed = seed
        self.replicas = replicas
        self.steps = steps
    }
}

package enum Step: Equatable, Sendable {
    /// One change: what somebody does, one after the other, with nothing arriving in between.
    case edit(Int, Clock, [Intent])
    /// One change that a replica lacks and whose context it holds arrives; `twice`: each operation is applied again.
    case deliver(to: Int, pick: Int, twice: Bool)
    /// Every change that `from` holds arrives, in causal order.
    case catchUp(Int, from: Int)
    /// The whole state of `from` arrives.
    case merge(Int, from: Int)
    /// What `from` holds beyond what the receiver held `ago` steps of its own ago.
    case join(Int, from: Int, ago: Int)
    /// A whole state, or a delta for another replica, is put into the mail …
    case post(Int, for: Int?)
    /// … and arrives later, once, many times or never, at anybody who can take it.
    case take(Int, pick: Int)
    /// Somebody without manners writes an operation of somebody else as one of its own, whether it makes sense or not.
    case copy(Int, pick: Int)
}

/// What the stamp of a change is made from.
package enum Clock: Equatable, Sendable {
    /// Milliseconds since 1970, right or wrong.
    case wall(Int64)
    /// The stamp itself, whatever its author had seen: somebody did not follow the rules.
    case forged(UInt64)
}
