/// The reason why discovery does not run, in words for the person who can change it. The raw value is the stable code.
package enum DiscoveryTrouble: String, Sendable, Equatable, CaseIterable {
    case busMissing = "mdns_bus_missing"
    case daemonMissing = "mdns_daemon_missing"
    case registering = "mdns_registering"
    case accessDenied = "mdns_access_denied"
    case tooManyClients = "mdns_too_many_clients"
    case announcingRefused = "mdns_announcing_refused"
    case failed = "mdns_failed"

    /// The trouble in one sentence.
    package var message: String {
        switch self {
        case .busMissing: "the D-Bus system bus does not answer, so avahi-daemon cannot be reached"
        case .daemonMissing: "avahi-daemon is not running"
        case .registering: "avahi-daemon is still registering the name of this machine"
        case .accessDenied: "the D-Bus policy does not let this user talk to avahi-daemon"
        case .tooManyClients: "avahi-daemon accepts no more clients or records"
        case .announcingRefused: "avahi-daemon does not let programs announce services"
        case .failed: "avahi-daemon answered with an error"
        }
    }

    /// The next thing to do.
    package var hint: String {
        switch self {
        case .busMissing: "apt-get install dbus; systemctl start dbus"
        case .daemonMissing: "apt-get install avahi-daemon; systemctl start avahi-daemon"
        case .registering: "nothing to do: this takes about a second, longer if another machine has the same name"
        case .accessDenied: "see /usr/share/dbus-1/system.d/avahi-dbus.conf; add the user to the group netdev"
        case .tooManyClients: "raise clients-max in /etc/avahi/avahi-daemon.conf; systemctl restart avahi-daemon"
        case .announcingRefused:
            "set disable-publishing=no and disable-user-service-publishing=no in /etc/avahi/avahi-daemon.conf; "
                + "systemctl restart avahi-daemon"
        case .failed: "systemctl restart avahi-daemon; its log says more: journalctl -u avahi-daemon"
        }
    }
}
