import Logging
import NIOCore
import SyncTransport

// The address at which other devices reach this one: opened at the start, and moved while the agent runs.
extension Agent {
    private static let usualPortTaken = "port_in_use"
    private static let listensNowhere = "listener_unavailable"

    /// Listens at the address asked for; at the usual port where none was, or at any free one if that is taken. Runs on the loop.
    func listen() -> EventLoopFuture<Void> {
        let transport = running.loop.transport
        let asked = configuration.listen
        let place = Place(asked)
        let agent = self
        return transport.listen(host: place.host, port: place.port).flatMapError { error in
            guard asked == nil, case .portInUse? = error as? ListenError else {
                return agent.eventLoop.makeFailedFuture(error)
            }
            agent.loggers.transport.warning(
                "The usual port is taken; another one is used.",
                metadata: ["listen.port": "\(AgentConfiguration.defaultPort)"])
            agent.setStartWarnings([
                Warning(
                    code: Self.usualPortTaken,
                    message: "port \(AgentConfiguration.defaultPort) is taken; another one is used",
                    hint: "stop the other program, or choose a port with lanyardd --listen HOST:PORT")
            ])
            return agent.running.loop.transport.listen(host: nil, port: 0)
        }.map { address in agent.setListenPort(UInt16(clamping: address.port)) }
    }

    /// Listens at the address of another configuration, in place of that of the present one. Connections stay; if the port is another,
    /// `carryOut` tells the network and the peers.
    ///
    /// A caller that is cancelled does not stop it half-way.
    func moveListener(to wanted: AgentConfiguration) async throws -> ServerMove {
        let place = Place(wanted.listen)
        guard listenPort == 0 || wanted.listen != configuration.listen else { return .asBefore }
        if place == Place(configuration.listen), place.port == Int(listenPort) { return .asBefore }
        let moved = try await eventLoop.flatSubmit { [self] in
            running.loop.transport.moveListener(host: place.host, port: place.port)
                .map { Result<HostPort, ListenMoveError>.success($0) }
                .flatMapErrorThrowing { error in
                    guard let error = error as? ListenMoveError else { throw error }
                    return .failure(error)
                }
        }.get()
        switch moved {
        case .success(let address):
            setListenPort(UInt16(clamping: address.port))
            setStartWarnings([], inPlaceOf: [Self.usualPortTaken, Self.listensNowhere])
            loggers.transport.notice(
                "The agent listens at another address.", metadata: ["listen.address": "\(address)"])
            return .moved
        case .failure(let error):
            setListenPort(UInt16(clamping: error.goesOn?.port ?? 0))
            let message =
                error.reason.message
                + (error.goesOn.map { " The agent goes on at \($0)." } ?? " No device can connect to this one now.")
            let hint =
                (error.reason.code == Self.usualPortTaken ? "Stop the other program, or write" : "Write")
                + " another address into lanyardd.toml (listen = \"HOST:PORT\"); then: lanyard reload"
            loggers.transport.warning(
                "A port cannot be opened.",
                metadata: ["listen.address": "\(place.host ?? "*"):\(place.port)", "listen.option": "listen"])
            if error.goesOn == nil {
                setStartWarnings(
                    [Warning(code: Self.listensNowhere, message: message, hint: hint)],
                    inPlaceOf: [Self.usualPortTaken, Self.listensNowhere])
            }
            return .failed(message: message, hint: hint)
        }
    }

    /// An address as the transport takes it.
    private struct Place: Equatable {
        /// Nil: all addresses of both families.
        let host: String?
        /// 0: any that is free.
        let port: Int

        init(_ address: AgentConfiguration.ListenAddress?) {
            host = address.flatMap { $0.host.isEmpty ? nil : $0.host }
            port = Int(address?.port ?? AgentConfiguration.defaultPort)
        }
    }
}
