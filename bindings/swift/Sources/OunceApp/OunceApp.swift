// Swift wrapper of libounce_app. Sessions and calls release their resources in deinit.
//
//     let session = try Session(path: "model.w8.onnx", options: .init(cache: cacheFolder))
//     let call = try session.call()
//     try call.withInput("pixel_values", as: Float.self) { pixels in … }
//     try call.run(nanoseconds: 50_000_000)
//     let logits = try call.output("logits", as: Float.self)
import COunceApp

public struct OunceError: Error, CustomStringConvertible {
    public let status: Int32
    public let description: String
}

private func check(_ status: Int32) throws {
    guard status != 0 else { return }
    throw OunceError(status: status, description: String(cString: ounce_app_error()))
}

/// Swift types that correspond to a tensor type.
public protocol Element {
    static var ounceType: Int32 { get }
}
extension Float: Element { public static var ounceType: Int32 { 1 } }
extension UInt8: Element { public static var ounceType: Int32 { 2 } }
extension Int8: Element { public static var ounceType: Int32 { 3 } }
extension UInt16: Element { public static var ounceType: Int32 { 4 } }
extension Int16: Element { public static var ounceType: Int32 { 5 } }
extension Int32: Element { public static var ounceType: Int32 { 6 } }
extension Int64: Element { public static var ounceType: Int32 { 7 } }
extension Double: Element { public static var ounceType: Int32 { 11 } }

public struct LoadOptions {
    public var library: String?
    public var threads: Int32
    public var cache: String?
    public var requiresOurs: Bool
    public var requiresContract: Bool
    public var digest: String?

    public init(library: String? = nil, threads: Int32 = 0, cache: String? = nil, requiresOurs: Bool = false,
                requiresContract: Bool = false, digest: String? = nil) {
        self.library = library
        self.threads = threads
        self.cache = cache
        self.requiresOurs = requiresOurs
        self.requiresContract = requiresContract
        self.digest = digest
    }

    fileprivate func withC<Result>(_ body: (UnsafePointer<ounce_app_options>) throws -> Result) rethrows -> Result {
        try withText(library) { library in
            try withText(cache) { cache in
                try withText(digest) { digest in
                    var options = ounce_app_options()
                    options.size = MemoryLayout<ounce_app_options>.size
                    options.library = library
                    options.threads = threads
                    options.cache = cache
                    options.requires_ours = requiresOurs ? 1 : 0
                    options.requires_contract = requiresContract ? 1 : 0
                    options.digest = digest
                    return try body(&options)
                }
            }
        }
    }
}

private func withText<Result>(_ text: String?, _ body: (UnsafePointer<CChar>?) throws -> Result) rethrows -> Result {
    guard let text = text else { return try body(nil) }
    return try text.withCString { try body($0) }
}

/// A loaded model. Thread-safe.
public final class Session: @unchecked Sendable {
    fileprivate let handle: OpaquePointer

    public init(path: String, options: LoadOptions = .init()) throws {
        var made: OpaquePointer?
        try options.withC { try check(ounce_app_open(path, $0, &made)) }
        handle = made!
    }

    /// The bytes may be released after loading.
    public init(bytes: UnsafeRawBufferPointer, options: LoadOptions = .init()) throws {
        var made: OpaquePointer?
        try options.withC { try check(ounce_app_open_memory(bytes.baseAddress, bytes.count, $0, &made)) }
        handle = made!
    }

    deinit { ounce_app_close(handle) }

    public func call(batch: Int64 = 1) throws -> Call {
        var options = ounce_app_call_options()
        options.size = MemoryLayout<ounce_app_call_options>.size
        options.batch = batch
        var made: OpaquePointer?
        try check(ounce_app_call_new(handle, &options, &made))
        return Call(made!)
    }
}

/// Inputs and outputs of a model, for one thread at a time. Stays valid after its session is released.
public final class Call {
    private let handle: OpaquePointer

    fileprivate init(_ handle: OpaquePointer) { self.handle = handle }
    deinit { ounce_app_call_free(handle) }

    /// Gives `body` the memory of an input. The buffer is valid only in `body`.
    public func withInput<T: Element, Result>(_ name: String? = nil, as type: T.Type,
                                              _ body: (UnsafeMutableBufferPointer<T>) throws -> Result) throws -> Result {
        var values: UnsafeMutableRawPointer?
        var bytes = 0
        try withText(name) { try check(ounce_app_call_input(handle, $0, T.ounceType, &values, &bytes)) }
        let count = bytes / MemoryLayout<T>.stride
        return try withExtendedLifetime(self) {
            try body(UnsafeMutableBufferPointer(start: values?.bindMemory(to: T.self, capacity: count), count: count))
        }
    }

    /// A copy of an output of the last run.
    public func output<T: Element>(_ name: String? = nil, as type: T.Type) throws -> [T] {
        var values: UnsafeRawPointer?
        var bytes = 0
        try withText(name) { try check(ounce_app_call_output(handle, $0, T.ounceType, &values, &bytes)) }
        let count = bytes / MemoryLayout<T>.stride
        return Array(UnsafeBufferPointer(start: values?.bindMemory(to: T.self, capacity: count), count: count))
    }

    /// Runs the model with a timeout in nanoseconds; negative: no timeout.
    public func run(nanoseconds: Int64 = -1) throws { try check(ounce_app_call_run(handle, nanoseconds)) }

    /// Cancels the current run. May be called from any thread.
    public func cancel() { ounce_app_call_cancel(handle) }
}
