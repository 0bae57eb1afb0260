/// The mean size of what is in the log, from its newest segments: an estimate where counting would read the log.
package struct LogMeans: Sendable, Equatable {
    package var changesPerOperation = 1.0
    package var bytesPerOperation = 200.0

    package init() {}
}
