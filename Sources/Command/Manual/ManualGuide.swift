/// The guide for newcomers: parley(7).
enum ManualGuide {
    static let text = """
        Parley keeps your conversations on your own devices. A node holds them, works offline, \
        encrypts everything that leaves it, and ends up with the same messages as the nodes that \
        it meets.

        Make a node, and write the recovery code on paper: nothing else recovers your identity if \
        you lose all devices.

          parley init --name Ada
          parley run

        To have it run whenever you are logged in:

          parley service install

        Invite a friend, over a channel that others do not read. They accept the link, and you compare the \
        safety number by voice.

          parley invite
          parley accept LINK
          parley contact verify ben

        Talk:

          parley send ben "dinner at eight?"
          parley read ben
          parley follow

        You are the owner of a group that you create. Whoever is invited has to accept.

          parley group create trip ben cleo
          parley invitations accept trip

        Another device has its own keys: the old device shows a text, and the new one takes it.

          parley device link
          parley device accept-link TEXT

        Two nodes must reach each other at the same time, or use a relay that keeps sealed envelopes:

          parley relays add TEXT

        When something is not as expected, these say why:

          parley status
          parley why MESSAGE
          parley doctor

        The shell completes commands and names once it has read this:

          eval "$(parley completion bash)"

        Several nodes on one machine are homes with names, and --profile says which one is meant. Programs \
        talk to a running node in JSON-RPC over the socket in its home; `parley schema` describes every request.
        """
}
