import ArgumentParser
import ParleyLocalAPI

struct Schema: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "print what programs can request of a node, as OpenRPC",
        discussion: """
            Every method of the socket in a node's home: what it is for, its parameters, its \
            result, and an example, in OpenRPC 1.3. It is made from the declarations with which \
            the node itself reads requests. No node is needed.

            Example:
              parley schema > parley.openrpc.json
            """)

    @OptionGroup var output: OutputOptions

    func run() throws {
        let description = try APIDescription()
        try Output.show(description, json: output.json, as: description.text())
    }
}
