/// The form of a JSON value, as the type that decodes it reads it.
indirect enum ValueForm: Equatable, Sendable {
    /// A member of an object.
    struct Member: Equatable, Sendable {
        var name: String
        var form: ValueForm
        /// False of a member that may be left out or null.
        var isRequired: Bool
    }

    case text
    case truth
    case number
    /// A number without a fraction; from 0 where it is unsigned.
    case integer(isSigned: Bool)
    /// One of these texts.
    case choice([String])
    case list(of: ValueForm)
    /// An object whose members are named by data.
    case map(of: ValueForm)
    /// An object, with the name of its type.
    case object(String, [Member])
    /// One of these forms.
    case either([ValueForm])
}

extension ValueForm {
    /// The members of an object; none of anything else.
    var members: [Member] {
        if case .object(_, let members) = self { members } else { [] }
    }
}
