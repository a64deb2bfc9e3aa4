extension Folding {
    /// Each group is a letter and those that are the letter with marks on it: what Unicode's
    /// canonical decomposition leaves of them once nonspacing marks are gone. Lower case only.
    /// Hangul is left out, since it decomposes by arithmetic, and so are compatibility ideographs.
    static let letters = """
        aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ bḃḅḇ cçćĉċčḉ dďḋḍḏḑḓ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ fḟ \
        gĝğġģǧǵḡ hĥȟḣḥḧḩḫẖ iìíîïĩīĭįǐȉȋḭḯỉị jĵǰ kķǩḱḳḵ lĺļľḷḹḻḽ mḿṁṃ nñńņňǹṅṇṉṋ \
        oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ pṕṗ rŕŗřȑȓṙṛṝṟ sśŝşšșṡṣṥṧṩ tţťțṫṭṯṱẗ \
        uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự vṽṿ wŵẁẃẅẇẉẘ xẋẍ yýÿŷȳẏẙỳỵỷỹ zźżžẑẓẕ æǣǽ øǿ ſẛ ʒǯ ʹʹ \
        αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ ιΐίϊἰἱἲἳἴἵἶἷὶίιῐῑῒΐῖῗ \
        οόὀὁὂὃὄὅὸό ρῤῥ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ аӑӓ гѓ еѐёӗ жӂӝ зӟ \
        ийѝӣӥ кќ оӧ уўӯӱӳ чӵ ыӹ эӭ ії ѵѷ әӛ өӫ \u{5d0}\u{fb2e}\u{fb2f}\u{fb30} \
        \u{5d1}\u{fb31}\u{fb4c} \u{5d2}\u{fb32} \u{5d3}\u{fb33} \u{5d4}\u{fb34} \
        \u{5d5}\u{fb35}\u{fb4b} \u{5d6}\u{fb36} \u{5d8}\u{fb38} \u{5d9}\u{fb1d}\u{fb39} \
        \u{5da}\u{fb3a} \u{5db}\u{fb3b}\u{fb4d} \u{5dc}\u{fb3c} \u{5de}\u{fb3e} \
        \u{5e0}\u{fb40} \u{5e1}\u{fb41} \u{5e3}\u{fb43} \u{5e4}\u{fb44}\u{fb4e} \
        \u{5e6}\u{fb46} \u{5e7}\u{fb47} \u{5e8}\u{fb48} \
        \u{5e9}\u{fb2a}\u{fb2b}\u{fb2c}\u{fb2d}\u{fb49} \u{5ea}\u{fb4a} \u{5f2}\u{fb1f} \
        \u{627}\u{622}\u{623}\u{625} \u{648}\u{624} \u{64a}\u{626} \u{6c1}\u{6c2} \
        \u{6d2}\u{6d3} \u{6d5}\u{6c0} \u{915}\u{958} \u{916}\u{959} \u{917}\u{95a} \
        \u{91c}\u{95b} \u{921}\u{95c} \u{922}\u{95d} \u{928}\u{929} \u{92b}\u{95e} \
        \u{92f}\u{95f} \u{930}\u{931} \u{933}\u{934} \u{9a1}\u{9dc} \u{9a2}\u{9dd} \
        \u{9af}\u{9df} \u{a16}\u{a59} \u{a17}\u{a5a} \u{a1c}\u{a5b} \u{a2b}\u{a5e} \
        \u{a32}\u{a33} \u{a38}\u{a36} \u{b21}\u{b5c} \u{b22}\u{b5d} \u{f40}\u{f69} \
        \u{f42}\u{f43} \u{f4c}\u{f4d} \u{f51}\u{f52} \u{f56}\u{f57} \u{f5b}\u{f5c} \
        \u{1025}\u{1026} \u{3046}\u{3094} \u{304b}\u{304c} \u{304d}\u{304e} \u{304f}\u{3050} \
        \u{3051}\u{3052} \u{3053}\u{3054} \u{3055}\u{3056} \u{3057}\u{3058} \u{3059}\u{305a} \
        \u{305b}\u{305c} \u{305d}\u{305e} \u{305f}\u{3060} \u{3061}\u{3062} \u{3064}\u{3065} \
        \u{3066}\u{3067} \u{3068}\u{3069} \u{306f}\u{3070}\u{3071} \u{3072}\u{3073}\u{3074} \
        \u{3075}\u{3076}\u{3077} \u{3078}\u{3079}\u{307a} \u{307b}\u{307c}\u{307d} \
        \u{309d}\u{309e} \u{30a6}\u{30f4} \u{30ab}\u{30ac} \u{30ad}\u{30ae} \u{30af}\u{30b0} \
        \u{30b1}\u{30b2} \u{30b3}\u{30b4} \u{30b5}\u{30b6} \u{30b7}\u{30b8} \u{30b9}\u{30ba} \
        \u{30bb}\u{30bc} \u{30bd}\u{30be} \u{30bf}\u{30c0} \u{30c1}\u{30c2} \u{30c4}\u{30c5} \
        \u{30c6}\u{30c7} \u{30c8}\u{30c9} \u{30cf}\u{30d0}\u{30d1} \u{30d2}\u{30d3}\u{30d4} \
        \u{30d5}\u{30d6}\u{30d7} \u{30d8}\u{30d9}\u{30da} \u{30db}\u{30dc}\u{30dd} \
        \u{30ef}\u{30f7} \u{30f0}\u{30f8} \u{30f1}\u{30f9} \u{30f2}\u{30fa} \u{30fd}\u{30fe} \
        \u{11099}\u{1109a} \u{1109b}\u{1109c} \u{110a5}\u{110ab}
        """
}
