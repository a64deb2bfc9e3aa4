import Foundation

/// A path from the root of the file system on, without `.` and `..`: a relative one begins at the folder that one
/// is in. `URL.standardized` would drop what leads above that.
func wholePath(_ path: String) -> String {
    let here = FileManager.default.currentDirectoryPath
    return ((path.hasPrefix("/") ? path : "\(here)/\(path)") as NSString).standardizingPath
}

/// The same of a file or a folder that a person names for the node, which may run in another folder: `~` is theirs,
/// and a folder ends with `/`.
func absolutePath(_ path: String) -> String {
    let expanded = (path as NSString).expandingTildeInPath
    guard !expanded.hasPrefix("/") else { return expanded }
    let isFolder = expanded.hasSuffix("/") || expanded == "."
    let whole = wholePath(expanded)
    return isFolder && !whole.hasSuffix("/") ? whole + "/" : whole
}
