import Glibc

/// No more runs of a figure after this: the same as in the peers' half of the race.
private let budgetMilliseconds = 20_000.0

/// A figure as a line of JSON: one value per run. `form`: which encoding it is about.
func say(_ figure: String, _ values: [Double], _ unit: String, form: String? = nil) {
    let form = form.map { #", "form": "\#($0)""# } ?? ""
    print(#"{"figure": "\#(figure)", "unit": "\#(unit)"\#(form), "values": \#(values)}"#)
}

/// Byte for byte: Swift calls strings equal that are only written differently.
func expect(_ text: String, is end: String, _ what: String) throws {
    guard text.utf8.elementsEqual(end.utf8) else { throw RaceFault(description: "\(what): another text than recorded") }
}

func monotonicMilliseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
}

func milliseconds<Failure: Error>(_ work: () throws(Failure) -> Void) throws(Failure) -> Double {
    let begun = monotonicMilliseconds()
    try work()
    return monotonicMilliseconds() - begun
}

/// What each run gives; fewer than `runs` of them when they take long.
func repeated<Value>(_ runs: Int, _ run: () throws -> Value) rethrows -> [Value] {
    var values: [Value] = []
    let begun = monotonicMilliseconds()
    while values.count < runs, values.isEmpty || monotonicMilliseconds() - begun < budgetMilliseconds {
        values.append(try run())
    }
    return values
}

func percentile(_ values: [Double], _ share: Double) -> Double {
    let values = values.sorted()
    return values[min(values.count - 1, Int(share / 100 * Double(values.count)))]
}

/// Memory in use: free heap goes back first. `smaps_rollup` counts pages; `status` may be off by some hundred KiB.
func residentKiB() throws -> Double {
    returnFreeHeap()
    guard let file = fopen("/proc/self/smaps_rollup", "r") else { throw RaceFault(description: "no smaps_rollup") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    while fgets(&line, Int32(line.count), file) != nil {
        let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        let words = String(decoding: text, as: UTF8.self).split(separator: " ")
        if words.count > 1, words[0] == "Rss:", let kib = Double(words[1]) { return kib }
    }
    throw RaceFault(description: "smaps_rollup does not say Rss")
}

/// malloc_trim(3) is glibc's own and not in the headers Swift imports.
private func returnFreeHeap() {
    guard let symbol = dlsym(nil, "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: (@convention(c) (Int) -> CInt).self)(0)
}
