public import ControlAPI
public import Observation

/// The objects of a query as an observable model: views and tasks that read it are told when it changes.
///
/// ```swift
/// @MainActor let todos = LiveList(home.query(Todo.self).sorted(by: \.title))
/// ```
@Observable @MainActor public final class LiveList<Object: LanyardObject> {
    /// The objects as they are now.
    public private(set) var objects: [Object] = []
    /// True once the first result is here.
    public private(set) var isLoaded = false
    /// The error that ended the query; nil while it goes on.
    public private(set) var error: ControlError?
    @ObservationIgnored private var task: Task<Void, Never>?

    /// Follows the query for as long as this is there.
    public init(_ query: Query<Object>) {
        task = Task { [weak self] in
            do {
                for try await objects in query.live() {
                    guard let self else { return }
                    self.objects = objects
                    isLoaded = true
                }
            } catch let error as ControlError { self?.error = error } catch { self?.error = .unexpected(error) }
        }
    }

    isolated deinit { task?.cancel() }
}
