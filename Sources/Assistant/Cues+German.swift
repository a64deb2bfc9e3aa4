extension Cues {
    static let german = Cues(
        actions: """
            me 2 ich werde ..6 <task>
            me 2 werde ich ..6 <task>
            me 2 ich kümmere|kümmer mich
            me 2 kümmere|kümmer ich mich
            me 2 kümmere|kümmer mich ?drum|darum
            me 2 ich übernehme|erledige|organisiere|besorge|verschicke|reserviere
            me 2 übernehme|erledige|organisiere|besorge|verschicke|reserviere ich
            me 1 ich schicke|schick|sende|schreibe|schreib|prüfe|teste|buche|kaufe|bereite|mache|mach|frage|frag|rufe|ruf|bringe|bring|hole|hol|melde|gebe|geb|lade|stelle|ändere|lösche|bezahle|plane|backe|suche|korrigiere|aktualisiere|baue|nehme
            me 1 schicke|sende|schreibe|prüfe|teste|buche|kaufe|bereite|mache|frage|rufe|bringe|hole|melde|gebe|lade|stelle|ändere|lösche|bezahle|plane|suche|korrigiere|aktualisiere|baue|nehme ich
            me 1 ich muss|soll|sollte|möchte|will ..7 <task>
            me 1 ich kann|könnte ..6 <task>
            me 1 muss|kann ich ..6 <task>
            me 2 das mache|mach|übernehme ich
            me 2 mach|mache ich$
            me 2 ich bin dran$
            me 1 ich habe|hab vor
            you 2 kannst|könntest|würdest|magst du ..7 <task>
            you 2 könnt|könntet|würdet ihr ..7 <task>
            you 2 können|könnten|würden sie ..7 <task>
            you 1 bitte ..6 <task>
            you 2 du musst|sollst|solltest ..7 <task>
            you 2 vergiss|vergesst|vergessen ?sie nicht
            you 2 ^denk|denkt|denke bitte|daran|dran|an
            name 2 <name> schickt|schreibt|macht|übernimmt|erledigt|prüft|bucht|kauft|kümmert|organisiert|besorgt|testet|bereitet|ruft|bringt|holt
            name 2 <name> muss|soll|sollte|wird ..7 <task>
            name 2 <name> kannst|könntest du ..7 <task>
            nobody 2 jemand|wer muss|sollte|müsste ..7 <task>
            somebody 2 kann|könnte jemand|wer|irgendwer ..7 <task>
            nobody 2 ^todo|aufgabe|aufgaben|offen :
            nobody 2 ^zu tun|erledigen :
            nobody 1 wir müssen|sollten|müssten ..7 <task>
            nobody 1 müssen|sollten wir ..7 <task>
            nobody 1 muss|müssen noch ..4 <task>
            nobody 1 zu erledigen|klären|prüfen
            """,
        lists: [
            .notActions: """
            ich wäre
            wenn ich
            ich habe|hab gestern|schon|bereits
            hätte ich
            ich mache|mach mir sorgen
            ich mache|mach pause|feierabend
            mich melde ich
            danke für|fürs|dass
            ich frage|frag mich
            ich schreibe|schreib gerade
            """,
            .notTasks: "",
            .tasks: """
            abgeben abholen abklären abschicken absagen aktualisieren anfragen anlegen anrufen ansehen anschauen \
            aufräumen aufschreiben aufsetzen ausfüllen austauschen backen bauen bearbeiten beantragen \
            beantworten beheben bereitstellen besorgen bestellen bezahlen bringen buchen \
            dokumentieren einkaufen einladen einplanen einreichen einrichten entscheiden \
            entwerfen erledigen erneuern ersetzen erstellen fertigstellen fertigmachen fragen \
            freigeben herausfinden hochladen holen informieren installieren kaufen klären \
            kontaktieren korrigieren kümmern löschen machen mailen melden mitbringen mitteilen \
            nachsehen nachschauen organisieren packen planen posten prüfen überprüfen reden \
            reparieren reservieren schicken schreiben senden sprechen starten stellen \
            suchen teilen testen übernehmen übersetzen umbuchen umstellen unterschreiben \
            veröffentlichen verschicken verschieben verteilen vorbereiten weiterleiten zahlen \
            zusammenfassen zusammenstellen zuschicken ändern abgeschickt aktualisiert behoben \
            bezahlt erledigt ersetzt geklärt gemacht geprüft geschickt geschrieben getestet \
            überarbeiten vereinbaren erneuert schick schreib prüf prüfe ruf
            """,
            .fillers: """
            ok okay ja nein gut und aber ach hm na klar übrigens achtung alles genau \
            super prima hallo hi moin danke doch
            """,
            .conditions: "wenn falls ob wie was warum wieso wo als bevor sobald",
            .decisions: """
            wir ?haben ..4 beschlossen|entschieden|geeinigt|vereinbart|abgemacht
            haben wir ..4 beschlossen|entschieden|geeinigt|vereinbart
            ^beschlossen|beschluss|entschieden|entscheidung|vereinbart|fazit|ergebnis :
            es ist|bleibt beschlossen|entschieden|dabei|abgemacht
            ist beschlossen|entschieden|abgemacht
            ^abgemacht
            dann|also nehmen|machen|treffen|bleiben|fahren|verschieben|gehen wir
            wir nehmen|bleiben|einigen|entscheiden|treffen|verschieben ?uns ..4 bei|auf|für|um|den|die|das|am
            wir machen|nehmen|verwenden|benutzen|behalten|streichen ?jetzt|dann|also|es|das den|die|das|es|so
            wird|werden ?auf|leider ..6 verschoben|abgesagt|gestrichen
            ist|sind ?leider abgesagt|gestrichen|verschoben|genehmigt|angenommen|abgelehnt
            es wird ?also ?der|die|das
            lass|lasst uns ..6 nehmen|machen|treffen|verschieben|bleiben|verwenden
            """,
            .notDecisions: """
            noch nicht|nichts ?entschieden|beschlossen
            nicht entschieden|beschlossen|geeinigt
            wenn|falls|ob wir
            mal sehen|schauen
            machen wir uns
            """,
            .proposals: """
            ich schlage|würde ?vor
            mein vorschlag
            wie wäre
            wollen|sollen|sollten wir
            vielleicht sollten|können|könnten wir
            lass|lasst uns
            was haltet|hältst
            ich bin dafür
            """,
            .agreements: """
            ^einverstanden|abgemacht|gebongt|passt|gerne
            ^bin|ich ?bin dafür|dabei|einverstanden
            ^klingt|hört|finde gut|ich|sich ?gut
            ^gute|gut idee
            ^so machen
            ^ja ?gut|gern|gerne|bitte|klar|ok|okay$
            ^ok|okay|klar|super|perfekt|prima|+1 ?dann$
            """,
            .idleQuestions: """
            ^wie geht ?es
            ^wie geht's|gehts
            ^oder|echt|wirklich|ja|nein|was|hä|ok|okay|und|gell|warum|wieso$
            nicht wahr$
            ^alles klar|gut
            ^ist jemand|wer ?noch da
            ^wer weiß|weiss$
            """,
            .settled: """
            ^danke|merci
            ^hat sich erledigt
            ^erledigt|gefunden|geklappt
            ^ah|ach ?ok|so|ja
            hat geklappt|funktioniert|geholfen
            """,
        ],
        days: DayWords(
            days: ["heute": 0, "morgen": 1, "übermorgen": 2],
            nextDayPhrases: [],
            weekdays: [
                "montag|mo", "dienstag|di", "mittwoch|mi", "donnerstag|do", "freitag|fr",
                "samstag|sonnabend|sa",
                "sonntag|so",
            ],
            months: [
                "januar|jan|jänner", "februar|feb", "märz", "april|apr", "mai", "juni|jun",
                "juli|jul",
                "august|aug", "september|sep|sept", "oktober|okt", "november|nov", "dezember|dez",
            ],
            past: ["letzten", "letzte", "letzter", "vom", "seit", "von", "gestern", "vergangenen"],
            notBefore: ["guten", "gute", "am", "jeden", "den", "dem"],
            next: ["nächsten", "nächste", "nächster", "nächstes", "kommenden", "kommende"],
            inWords: ["in", "binnen", "innerhalb"],
            dayUnits: ["tag", "tage", "tagen"], weekUnits: ["woche", "wochen"],
            monthUnits: ["monat", "monats", "monate", "monaten"],
            ends: ["ende", "monatsende", "wochenende"],
            endLinks: ["des", "der", "diesen", "dieser"],
            numbers: [
                "ein|eine|einem|einer|einen", "zwei", "drei", "vier", "fünf", "sechs", "sieben",
                "acht",
                "neun", "zehn",
            ],
            shortAlone: ["mo", "di", "mi", "do", "fr", "sa", "so"]))
}
