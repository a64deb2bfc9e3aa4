import ArgumentParser

struct CompletionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "completion",
        abstract: "print a script that makes a shell complete commands and names",
        discussion: """
            For bash, zsh or fish. The Tab key then offers commands, options, and what your node \
            knows: conversations, people, devices, and numbers of polls, notes and the like. It \
            asks the running node, else looks into the home, and offers less if that takes too \
            long.

            Example:
              eval "$(parley completion bash)"         in ~/.bashrc
              source <(parley completion zsh)          in ~/.zshrc, below compinit
              parley completion fish | source          in ~/.config/fish/config.fish
            """)

    @Argument(help: "bash, zsh or fish")
    var shell: String

    func validate() throws {
        guard CompletionScript.shells.contains(shell) else {
            throw ValidationError("There is completion for bash, zsh and fish only.")
        }
    }

    func run() throws {
        guard let text = CompletionScript.text(for: shell) else { return }  // checked above
        World.current.write(text)
        try World.current.checkOutput()
    }
}
