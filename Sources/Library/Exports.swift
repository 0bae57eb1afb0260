// Errors, conflicts, attachments and positions are the control API's own types, and `Lanyard.client` is its client: an
// application imports one module.
@_exported public import ControlAPI
@_exported public import LanyardClient
