extension Cues {
    static let english = Cues(
        actions: """
            me 2 i'll ?also|then|just|probably|definitely|try ?to <do>
            me 2 i'll be ..1 doing|writing|sending|working|preparing|fixing|reviewing
            me 2 ill ?also|then|just|try ?to <task>
            me 2 i will ?also|then|just|probably|definitely|try ?to <do>
            me 2 i shall ?also|then <do>
            me 2 i'm|im ?just|also going to ?be ?trying ?to <do>
            me 2 i am ?just|also going to ?be ?trying ?to <do>
            me 2 i'm|im gonna <do>
            me 2 i'm|im ?also planning to <do>
            me 2 i plan|intend|promise to <do>
            me 1 i ?still|also need|have to <do>
            me 1 i've|ive got to <do>
            me 1 i gotta|must|should <do>
            me 0 i want to <do>
            me 1 i can <task>
            me 0 i could <task>
            me 0 let me <task>
            me 2 i volunteer
            me 2 i'm|im on it$
            me 2 leave|leaving that|this|it to me
            me 2 it's|its|that's|is on my todo|list|plate
            me 2 action me to
            me 2 give me ?an|the action
            me 1 ^will ?also|then|try|finish|continue ?to|up <task>
            me 1 i'm|im finishing|finalizing|finalising|preparing|writing
            you 1 please ?do ?also <task>
            you 1 please ?do ?also <do>
            you 2 can|could|would|will you ?please|maybe|also|guys|quickly <task>
            you 1 can|could|would|will you ?please|maybe|also <do>
            you -1 you ?still|also need|have|ought to <task>
            you 1 ?you don't|dont forget to <do>
            you 2 ^remember to <do>
            you 1 ^make sure ?that|to|you <do>
            you -1 you should <task>
            you -1 you'll need to <task>
            name 2 ^<name> to <do>
            name 2 <name> will ?also|then <do>
            name 2 <name> needs|has|ought to <do>
            name 2 <name> should ?also|then <task>
            name 2 <name> can|could you ?please <do>
            name 2 <name> ?you is|are going to <do>
            somebody 2 can|could|would someone|somebody|anyone|anybody ?please <task>
            nobody 2 someone|somebody needs|has|should|must|ought ?to <do>
            nobody 2 somebody|someone could|might <task>
            nobody 2 ^todo|action|ai|task|tasks|actions ?item|items :
            nobody 2 ^to do :
            nobody 2 need an|one ..1 action|item|volunteer|work
            nobody 1 ?probably we|we'll ?also|still|just|really|all need|have to <task>
            nobody 1 we must|should|gotta <task>
            nobody 1 has|have|needs|need to be <task>
            nobody 0 let's|lets <task>
            nobody 0 ^<task>
            """,
        lists: [
            .notActions: """
            if i were
            i would have
            should have
            i'll|will never
            i will not
            i'll not
            i'll be back|there|here|late|around|right|away|offline
            i'll see|bet|admit|say|pass
            let me know
            let me see|guess|think|explain
            please wait|standby|note
            thank|thanks for
            in my opinion
            used to
            take ..2 offline
            discuss|talk ..3 later
            """,
            .notTasks: """
            a an the i it you he she they we be been being see bet say admit know think need have guess \
            never not always miss wait stay stick live pass come sleep believe love hate wonder hope \
            assume remain become die agree like want feel regret still no better worse go you're survive manage \
            understand remember forget mind show hear disagree get that this only even all to able \
            ask confirm depend elaborate explain tell repeat paste laugh cry eat drink probably rather
            """,
            .tasks: """
            add approve arrange ask assign attend bring book build buy call cancel chair change check choose clean collect \
            commit compile complete contact convert coordinate copy create decide define delete deploy \
            describe design discuss document draft drop email file finalise finalize find finish \
            fix follow forward gather handle implement import install invite investigate \
            integrate land mail make measure merge migrate modify move notify order organise organize patch pay \
            pick ping plan post prepare process propose provide publicize publish push put raise \
            rebase refactor release remind remove rename repair replace reply report research \
            reserve resolve restart retry return revert review rewrite rework rotate schedule send set setup \
            share ship sign sort start submit summarise summarize supervise switch sync talk take test \
            track translate triage try update upgrade upload verify visit wire write work renew \
            added approved arranged booked changed checked cleaned completed converted created \
            defined deleted deployed documented done fixed filed finished handled implemented \
            merged moved paid posted prepared published removed renamed repaired replaced \
            resolved reverted reviewed rewritten scheduled sent shared shipped signed submitted \
            tested translated updated upgraded uploaded verified written
            """,
            .fillers: """
            ok okay so well and but yes yeah yep yup then also anyway oh ah hmm hm right sure btw fyi \
            cool great alright now actually perhaps maybe um uh hey hi hello thanks good
            """,
            .conditions:
                "if when unless would how what why where whether did do does as until once that which way",
            .decisions: """
            we ?have|all ?just|now|finally|already decided|agreed|chose|chosen|settled|resolved ?to|on|that <do>
            we ?have|all ?just|now|finally|already decided|agreed|settled on|that|to
            we've ?all|just|now|finally|already decided|agreed|chosen|settled|resolved
            ^decided|decision|agreed|resolved|resolution|conclusion :
            ^decided|agreed to|that|on
            it's|is|its ?now|all|been decided|settled|agreed
            it was|has ?been decided|agreed
            let's|lets go|stick|stay with|for
            let's|lets ?just use|keep|adopt|ship|postpone|cancel|meet|skip|drop
            we're|were|are ?now|just going|sticking with
            we're|we ?are ?now|just|going|gonna ?to slip|use|drop|keep|switch|move|postpone|cancel|ship
            we're ?now|just using|keeping|dropping|switching|moving|postponing|cancelling|slipping
            we'll|we will|shall ?just|now|all|then go|stick|stay with|for
            we'll|we ?will|shall ?just|now|all|then use|keep|drop|switch|postpone|cancel|adopt|remove|merge|ship|meet
            is|are ?now|hereby|officially cancelled|canceled|postponed|approved|rejected
            is|are moving to
            has|have been ?officially postponed|cancelled|canceled
            carry|defer|postpone this|that|the ?discussion to|until
            no more ..2 in
            the ?final plan|decision|answer|consensus is|was
            ^final decision|answer
            <noun> it is$
            """,
            .notDecisions: """
            if|when|until|once|unless|whether we
            haven't|havent|hasn't|not|never ?yet ?been decided|agreed|settled|chosen
            let's|lets see|hope|wait|say|face|not|assume|imagine|pretend
            yet to
            could|might|would be
            what|whatever|where|how|yes|yeah|no|sure|indeed|course|why it is
            move|moving on$
            take ..2 offline
            discuss|talk|decide ..3 later|offline
            """,
            .proposals: """
            i|i'd ?would ?also suggest|propose|recommend|vote
            my proposal|suggestion
            let's|lets <do>
            shall|should we
            how|what about
            why don't|not we|just
            maybe|perhaps we ?should|could
            i think|guess we should|can|could
            i'm|im for
            ok|okay so as announced
            """,
            .agreements: """
            ^agreed|deal|settled
            ^i agree
            ^sounds|looks good|great|fine|perfect
            ^works|fine for|with|by me
            ^let's|lets do it|that|this
            ^good|great|perfect idea|plan
            ^ack|+1|aye
            ^yes|yeah|yep|ok|okay let's|lets
            ^ok|okay|yes|yeah|yep|sure|perfect|fine|great ?then|good$
            ^i'm|im ?all in|fine|ok|okay|for
            """,
            .idleQuestions: """
            ^how are|is you|things|everyone|life|it ?going|doing
            ^how's|hows it|life|things
            ^what's|whats|sup up ?with|guys|everyone
            ^right|really|ok|okay|no|yes|huh|eh|what|hm|hmm|wha|why|pardon|sorry|seriously|so|and ?so|not|way$
            you know$
            isn't it$
            ^anyone|anybody ?here|there|around|home|alive$
            ^who cares|knows
            ^why not$
            ^see
            ^what is the point
            """,
            .settled: """
            ^never|nvm|nevermind mind
            ^nvm|nevermind|solved|fixed
            ^got|found|solved|fixed|figured it
            ^thanks|thank|thx|ty|cheers
            that|it worked|works|helped|helps|did
            ^ah|oh ?ok|okay|yes ?i see|got
            """,
        ],
        days: DayWords(
            days: ["today": 0, "tonight": 0, "tomorrow": 1, "tmrw": 1, "tmr": 1],
            nextDayPhrases: ["the day after tomorrow", "day after tomorrow"],
            weekdays: [
                "monday|mon", "tuesday|tue|tues", "wednesday|wed", "thursday|thu|thurs",
                "friday|fri",
                "saturday|sat", "sunday|sun",
            ],
            months: [
                "january|jan", "february|feb", "march|mar", "april|apr", "may", "june|jun",
                "july|jul",
                "august|aug", "september|sep|sept", "october|oct", "november|nov", "december|dec",
            ],
            past: ["last", "since", "from", "yesterday", "previous", "until's", "past"],
            notBefore: ["good"], next: ["next"], inWords: ["in", "within"],
            dayUnits: ["day", "days"], weekUnits: ["week", "weeks"],
            monthUnits: ["month", "months"],
            ends: ["end"], endLinks: ["of", "the", "this"],
            numbers: ["a", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
            shortAlone: []))
}
