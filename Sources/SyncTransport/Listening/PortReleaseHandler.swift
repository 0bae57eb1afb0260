import Glibc
package import NIOCore

/// Frees the port of a listening socket in the moment in which the socket is closed.
///
/// A process that starts a program gives it a copy of each descriptor, which is closed once that program has begun. With such a copy
/// the port would stay taken a moment longer, also for the agent's own next listener.
package final class PortReleaseHandler: ChannelOutboundHandler, Sendable {
    package typealias OutboundIn = Never

    package init() {}

    package func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // One that is closed already has no port.
        _ = try? context.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            shutdown($0, Int32(SHUT_RDWR))
        }
        context.close(mode: mode, promise: promise)
    }
}
