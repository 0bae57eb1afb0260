/// Every scalar that was ever inserted, by number. Pages hold one, two or four bytes a scalar, whatever their widest needs:
/// a letter costs a byte, and one emoji in a book widens 4,096 scalars, not the book.
///
/// Hot file; see `Column`.
struct ScalarArena: ~Copyable {
    static let pageShift = 12
    static let pageCount = 1 << pageShift
    private static let mask = pageCount - 1

    private struct Page: BitwiseCopyable {
        var base: UnsafeMutableRawPointer
        /// log2 of the bytes of a scalar.
        var shift: UInt8
        /// True if only ASCII scalars were ever stored.
        var isASCII: Bool
    }

    private var pages = Column<Page>()
    private(set) var count = 0
    private(set) var isASCII = true

    init() {}

    init(copying other: borrowing ScalarArena) {
        pages = Column(copying: other.pages)
        for index in 0..<pages.count {
            let page = pages[index]
            let bytes = Self.pageCount << Int(page.shift)
            let base = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 8)
            base.copyMemory(from: page.base, byteCount: bytes)
            pages[index].base = base
        }
        count = other.count
        isASCII = other.isASCII
    }

    deinit { for index in 0..<pages.count { pages[index].base.deallocate() } }

    @inline(__always)
    subscript(number: Int) -> UInt32 {
        assert(number >= 0 && number < count)
        let page = pages[number >> Self.pageShift]
        let index = number & Self.mask
        switch page.shift {
        case 0: return UInt32(page.base.load(fromByteOffset: index, as: UInt8.self))
        case 1: return UInt32(page.base.load(fromByteOffset: index << 1, as: UInt16.self))
        case _: return page.base.load(fromByteOffset: index << 2, as: UInt32.self)
        }
    }

    @inline(__always)
    mutating func append(ascii byte: UInt8) {
        let index = count & Self.mask
        if index == 0 { addPage() }
        let page = pages[pages.count - 1]
        if page.shift == 0 {
            page.base.storeBytes(of: byte, toByteOffset: index, as: UInt8.self)
        } else {
            store(UInt32(byte), at: index)
        }
        count += 1
    }

    /// The address where the next ASCII scalars may be written, and how many fit; none where a scalar takes more than a byte.
    var room: (UnsafeMutablePointer<UInt8>?, Int) {
        let index = count & Self.mask
        guard index > 0, let page = pages.last, page.shift == 0 else { return (nil, 0) }
        return (page.base.assumingMemoryBound(to: UInt8.self) + index, Self.pageCount - index)
    }

    /// Takes in what was written to `room`.
    mutating func append(written: Int) { count += written }

    mutating func append(_ scalar: UInt32) {
        if scalar < 0x80 { return append(ascii: UInt8(scalar)) }
        let index = count & Self.mask
        if index == 0 { addPage() }
        isASCII = false
        pages[pages.count - 1].isASCII = false
        widen(to: scalar < 0x100 ? 0 : scalar < 0x1_0000 ? 1 : 2, used: index)
        store(scalar, at: index)
        count += 1
    }

    mutating func append(ascii bytes: UnsafeBufferPointer<UInt8>) {
        var rest = bytes[...]
        while let first = rest.first {
            let index = count & Self.mask
            if index == 0 { addPage() }
            let page = pages[pages.count - 1]
            guard page.shift == 0 else {
                append(ascii: first)
                rest = rest.dropFirst()
                continue
            }
            let part = min(rest.count, Self.pageCount - index)
            page.base.advanced(by: index).copyMemory(
                from: UnsafeRawPointer(bytes.baseAddress! + rest.startIndex), byteCount: part)
            count += part
            rest = rest.dropFirst(part)
        }
    }

    /// Appends scalars whose text is not here: they were deleted before they arrived.
    mutating func append(blanks: Int) {
        var rest = blanks
        while rest > 0 {
            let index = count & Self.mask
            if index == 0 { addPage() }
            let part = min(rest, Self.pageCount - index)
            let page = pages[pages.count - 1]
            page.base.advanced(by: index << Int(page.shift)).initializeMemory(
                as: UInt8.self, repeating: 0, count: part << Int(page.shift))
            count += part
            rest -= part
        }
    }

    /// Gives a scalar that was blank its value.
    mutating func fill(_ number: Int, with scalar: UInt32) {
        let page = number >> Self.pageShift
        if scalar >= 0x80 {
            isASCII = false
            pages[page].isASCII = false
            let last = page == pages.count - 1
            widen(
                to: scalar < 0x100 ? 0 : scalar < 0x1_0000 ? 1 : 2,
                used: last ? (count - 1) & Self.mask + 1 : Self.pageCount, page: page)
        }
        store(scalar, at: number & Self.mask, page: page)
    }

    /// Gives scalars that were blank their values, all ASCII.
    mutating func fill(_ number: Int, with bytes: UnsafeBufferPointer<UInt8>) {
        var (number, rest) = (number, bytes[...])
        while let first = rest.first {
            let index = number & Self.mask
            let page = pages[number >> Self.pageShift]
            var part = 1
            if page.shift == 0 {
                part = min(rest.count, Self.pageCount - index)
                page.base.advanced(by: index).copyMemory(
                    from: UnsafeRawPointer(bytes.baseAddress! + rest.startIndex), byteCount: part)
            } else {
                store(UInt32(first), at: index, page: number >> Self.pageShift)
            }
            number += part
            rest = rest.dropFirst(part)
        }
    }

    private func store(_ scalar: UInt32, at index: Int) { store(scalar, at: index, page: pages.count - 1) }

    private func store(_ scalar: UInt32, at index: Int, page: Int) {
        let page = pages[page]
        switch page.shift {
        case 0: page.base.storeBytes(of: UInt8(truncatingIfNeeded: scalar), toByteOffset: index, as: UInt8.self)
        case 1: page.base.storeBytes(of: UInt16(truncatingIfNeeded: scalar), toByteOffset: index << 1, as: UInt16.self)
        case _: page.base.storeBytes(of: scalar, toByteOffset: index << 2, as: UInt32.self)
        }
    }

    @inline(never)
    private mutating func addPage() {
        pages.append(
            Page(base: .allocate(byteCount: Self.pageCount, alignment: 8), shift: 0, isASCII: true))
    }

    private mutating func widen(to shift: UInt8, used: Int) { widen(to: shift, used: used, page: pages.count - 1) }

    private mutating func widen(to shift: UInt8, used: Int, page number: Int) {
        let page = pages[number]
        guard page.shift < shift else { return }
        let wide = UnsafeMutableRawPointer.allocate(byteCount: Self.pageCount << Int(shift), alignment: 8)
        pages[number].base = wide
        pages[number].shift = shift
        for index in 0..<used {
            switch page.shift {
            case 0: store(UInt32(page.base.load(fromByteOffset: index, as: UInt8.self)), at: index, page: number)
            case _: store(UInt32(page.base.load(fromByteOffset: index << 1, as: UInt16.self)), at: index, page: number)
            }
        }
        page.base.deallocate()
    }
}

extension ScalarArena {
    /// Appends the UTF-8 of `count` scalars from `number` on; `output` has room for it.
    @inline(__always)
    func write(_ number: Int, _ count: Int, to output: inout UnsafeMutablePointer<UInt8>) {
        var number = number
        var rest = count
        while rest > 0 {
            let page = pages[number >> Self.pageShift]
            let index = number & Self.mask
            let part = min(rest, Self.pageCount - index)
            if page.isASCII {
                UnsafeMutableRawPointer(output).copyMemory(from: page.base + index, byteCount: part)
                output += part
            } else {
                for offset in 0..<part { Self.write(self[number + offset], to: &output) }
            }
            number += part
            rest -= part
        }
    }

    /// `count` scalars from `number` on.
    func string(_ number: Int, _ count: Int) -> String {
        String(unsafeUninitializedCapacity: count + Int(excess(number, count).utf8)) { buffer in
            guard var end = buffer.baseAddress else { return 0 }
            write(number, count, to: &end)
            return end - buffer.baseAddress!
        }
    }

    /// Appends the UTF-8 of `count` scalars from `number` on.
    func append(_ number: Int, _ count: Int, to output: inout [UInt8]) {
        let room = count + Int(excess(number, count).utf8)
        output += [UInt8](unsafeUninitializedCapacity: room) { buffer, written in
            guard var end = buffer.baseAddress else { return }
            write(number, count, to: &end)
            written = end - buffer.baseAddress!
        }
    }

    private static func write(_ scalar: UInt32, to output: inout UnsafeMutablePointer<UInt8>) {
        func put(_ bits: UInt32) {
            output.pointee = UInt8(truncatingIfNeeded: bits)
            output += 1
        }
        switch scalar {
        case 0..<0x80: put(scalar)
        case 0x80..<0x800:
            put(0xc0 | scalar >> 6)
            put(0x80 | scalar & 0x3f)
        case 0x800..<0x1_0000:
            put(0xe0 | scalar >> 12)
            put(0x80 | scalar >> 6 & 0x3f)
            put(0x80 | scalar & 0x3f)
        case _:
            put(0xf0 | scalar >> 18)
            put(0x80 | scalar >> 12 & 0x3f)
            put(0x80 | scalar >> 6 & 0x3f)
            put(0x80 | scalar & 0x3f)
        }
    }

    /// Returns how many UTF-8 and UTF-16 code units these scalars take, less one for each scalar.
    func excess(_ number: Int, _ count: Int) -> UnicodeExcess {
        var excess = UnicodeExcess()
        guard !isASCII else { return excess }
        var number = number
        var rest = count
        while rest > 0 {
            let part = min(rest, Self.pageCount - number & Self.mask)
            if !pages[number >> Self.pageShift].isASCII {
                for offset in 0..<part { excess.add(self[number + offset]) }
            }
            number += part
            rest -= part
        }
        return excess
    }
}

/// The number of code units that some scalars take beyond one each.
struct UnicodeExcess: BitwiseCopyable, Equatable {
    var utf8: Int32 = 0
    var utf16: Int32 = 0

    @inline(__always)
    mutating func add(_ scalar: UInt32) {
        guard scalar >= 0x80 else { return }
        utf8 += scalar < 0x800 ? 1 : scalar < 0x1_0000 ? 2 : 3
        if scalar >= 0x1_0000 { utf16 += 1 }
    }

    var isZero: Bool { utf8 == 0 && utf16 == 0 }

    static prefix func - (excess: Self) -> Self { Self(utf8: -excess.utf8, utf16: -excess.utf16) }
    static func += (left: inout Self, right: Self) {
        left.utf8 += right.utf8
        left.utf16 += right.utf16
    }
}
