/// The script that a shell reads once, so that it asks the program at each press of Tab.
///
/// The parser's own scripts are not used: that of bash evaluates its input, so that a conversation
/// named `$(…)` would run a command, and they cannot say what a name means.
enum CompletionScript {
    /// Shells that there is one for.
    static let shells = ["bash", "zsh", "fish"]

    /// The word by which a script calls the program.
    static let call = "__complete"

    static func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    /// What the program answers is never evaluated: lines are read as they are.
    private static let bash = #"""
        # bash completion for parley; in ~/.bashrc: eval "$(parley completion bash)"
        _parley() {
            local line="${COMP_LINE:0:COMP_POINT}" kind="" word
            local program="${1/#\~/$HOME}"
            COMPREPLY=()
            {
                IFS= read -r kind
                while IFS= read -r word; do COMPREPLY+=("$word"); done
            } < <("$program" __complete bash "$line" "$2" 2>/dev/null </dev/null)
            case "$kind" in
            files | folders)
                local action=-f
                [[ $kind = folders ]] && action=-d
                compopt -o filenames 2>/dev/null
                while IFS= read -r word; do COMPREPLY+=("$word"); done \
                    < <(compgen "$action" -- "$2")
                ;;
            part) compopt -o nospace 2>/dev/null ;;
            esac
        }
        complete -F _parley parley
        """#

    private static let zsh = #"""
        #compdef parley
        # zsh completion for parley; in ~/.zshrc, below compinit: source <(parley completion zsh)
        _parley() {
            local -a before answer found shown
            local word
            before=("${(@Q)words[1,CURRENT-1]}")
            answer=("${(@f)$("${(Q)words[1]/#\~/$HOME}" __complete zsh "${(Q)PREFIX}" "${before[@]}" \
                2>/dev/null </dev/null)}")
            case "${answer[1]}" in
            files) _files ;;
            folders) _files -/ ;;
            *)
                for word in "${answer[@]:1}"; do
                    found+=("${word%%$'\t'*}")
                    shown+=("${word/$'\t'/  -- }")
                done
                (( ${#found} )) && compadd -U -l -d shown -a found
                ;;
            esac
        }
        if [[ "${funcstack[1]}" = _parley ]]; then _parley "$@"; else compdef _parley parley; fi
        """#

    private static let fish = #"""
        # fish completion for parley; in ~/.config/fish/config.fish: parley completion fish | source
        function __parley_complete
            set -l before (commandline -opc)
            set -l program (string replace -r '^~' -- $HOME $before[1])
            set -l answer ($program __complete fish (commandline -ct | string collect) $before \
                2>/dev/null </dev/null)
            switch "$answer[1]"
                case files
                    __fish_complete_path (commandline -ct)
                case folders
                    __fish_complete_directories (commandline -ct) ''
                case '*'
                    test (count $answer) -gt 1; and printf '%s\n' $answer[2..]
            end
        end
        complete -c parley -e
        complete -c parley -k -f -a '(__parley_complete)'
        """#
}
