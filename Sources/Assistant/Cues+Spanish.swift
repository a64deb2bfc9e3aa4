extension Cues {
    static let spanish = Cues(
        actions: """
            me 2 me encargo|ocupo ?yo|de
            me 2 lo|la|los|las ?hago|envío|mando|compro|preparo|llevo|reservo|reviso yo
            me 2 ya lo hago
            me 2 ?yo ?me|te|os|le|les|lo|la|se ?lo|la voy a <task>
            me 1 vamos a <task>
            me 1 ?yo te|os|le|les|lo|la|se ?lo|la mando|envío|paso|escribo|llamo|preparo|compro|reservo|reviso|llevo|hago|confirmo|traigo|busco|pido|aviso|arreglo|termino|actualizo
            me 1 yo mando|envío|paso|escribo|llamo|preparo|compro|reservo|reviso|llevo|hago|confirmo|traigo|busco|pido|aviso|arreglo|termino|actualizo
            me 2 enviaré|mandaré|haré|escribiré|revisaré|compraré|llamaré|prepararé|reservaré|terminaré|arreglaré|llevaré|traeré|buscaré|pediré|avisaré|actualizaré|confirmaré|probaré|pasaré|hablaré|subiré
            me 1 ?yo tengo|debo|necesito que <task>
            me 1 ?yo debo|necesito|quiero <task>
            me 1 ?yo puedo <task>
            you 2 ?me puedes|podrías|podéis|podríais|puede|podría ?por ?favor ..2 <task>
            you 2 ?por ?favor tienes|tenéis|debes|deberías que <task>
            you 2 debes|deberías <task>
            you 1 por favor ..2 <task>
            you 2 no olvides|olvidéis|olvide|os|te olvidéis|olvides
            you 2 no olvides|olvidéis|olvide
            you 2 ^recuerda|recordad|acuérdate|acordaos ?de|que
            name 2 <name> se encarga|ocupa
            name 2 <name> envía|manda|hace|prepara|compra|reserva|revisa|lleva|escribe|llama|trae ?el|la|los|las|a|un|una
            name 2 <name> va a <task>
            name 2 <name> tiene|debe que <task>
            name 2 <name> debe <task>
            name 2 <name> puedes|podrías <task>
            nobody 2 alguien tiene|debe|debería|puede|podría|tendría ?que <task>
            nobody 2 ?que alguien <task>
            somebody 2 puede|podría alguien <task>
            nobody 2 ^tarea|tareas|pendiente|pendientes|todo :
            nobody 1 hay|habría que <task>
            nobody 1 tenemos|deberíamos que <task>
            nobody 1 deberíamos|debemos|necesitamos <task>
            nobody 1 falta|faltan|queda|quedan ?por <task>
            """,
        lists: [
            .notActions: """
            si yo
            ya te lo dije
            voy a estar|ser|ver|dormir|comer|salir
            me encargo pero
            gracias por
            ya he
            """,
            .notTasks: "",
            .tasks: """
            abrir aclarar actualizar agregar añadir apuntar arreglar avisar borrar buscar cambiar \
            cancelar comprar comprobar confirmar conseguir contactar coordinar corregir crear \
            dar decidir dejar diseñar documentar elegir encargar enviar escribir firmar hablar \
            hacer imprimir informar instalar investigar invitar llamar llevar mandar montar mover \
            organizar pagar pasar pedir planificar poner preguntar preparar presentar probar publicar quedar \
            recoger redactar renovar reparar repasar reservar resolver responder revisar sacar \
            solucionar subir terminar traducir traer verificar visitar enviarme mandarme pasarme \
            enviarnos mandarnos pasarnos enviarle avisarme avisarnos confirmarme confirmarlo hacerlo revisarlo enviarlo \
            mandarlo comprarlo prepararlo probarlo llamarle llamarla arreglarlo terminarlo envía \
            manda revisa compra llama confirma prepara escribe enviad mandad revisad
            """,
            .fillers: """
            ok vale bueno y pero ah eh oye hola gracias claro perfecto bien \
            además también mira venga
            """,
            .conditions: "si cuando cómo qué porqué donde dónde quién aunque como",
            .decisions: """
            hemos ..2 decidido|acordado|quedado|elegido
            ^decidido|acordado|decisión|acuerdo|conclusión|resumen :
            está ?todo decidido|acordado
            se ?ha ?ha decidido|acordado|cancelado|pospuesto|aplazado
            ?al ?final ?nos quedamos en|con|a|para
            ?pues|entonces quedamos en|con|a|para|el
            quedamos en|a|el|para
            vamos con el|la|los|las
            nos quedamos con
            vamos|optamos a|por usar|dejar|mantener|cambiar|hacerlo|el|la
            decidimos|acordamos ?que|usar|ir|hacer
            entonces|pues usamos|hacemos|dejamos|cambiamos|vamos|elegimos
            queda|quedan|está|están ?oficialmente cancelado|cancelada|aplazado|aplazada|pospuesto|pospuesta|aprobado|aprobada
            se cancela|aplaza|pospone|cambia|aprueba
            la decisión es
            será el|la|a
            """,
            .notDecisions: """
            no hemos|se|está ..3 decidido|acordado
            aún|todavía no
            sin decidir
            si hemos|decidimos|acordamos|quedamos
            a ver
            """,
            .proposals: """
            propongo|sugiero
            qué ?os ?te tal|parece si
            y si
            mi propuesta
            por qué no
            podemos|podríamos
            deberíamos
            """,
            .agreements: """
            ^de acuerdo
            ^trato hecho
            ^hecho|vale|perfecto|genial|acordado|venga|estupendo ?entonces|sí$
            ^me parece bien|perfecto|genial
            ^buena idea
            ^sí ?vale|claro|perfecto$
            ^por mí ?bien|vale|perfecto
            ^estoy de acuerdo
            """,
            .idleQuestions: """
            ^qué tal|pasa ?todos|chicos|todo$
            ^cómo estás|estáis|está|va
            ^no|verdad|sí|eh|vale|en|qué|por|ok ?serio|qué$
            no$
            verdad$
            ^quién sabe$
            ^hay alguien ?ahí|aquí$
            """,
            .settled: """
            ^gracias|solucionado|resuelto|arreglado
            ^ya está|lo ?he ?encontré|encontrado|tengo
            ^ah ?vale|ya|ok
            ^olvídalo
            """,
        ],
        days: DayWords(
            days: ["hoy": 0, "mañana": 1],
            nextDayPhrases: ["pasado mañana"],
            weekdays: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
            months: [
                "enero|ene", "febrero|feb", "marzo|mar", "abril|abr", "mayo", "junio|jun",
                "julio|jul",
                "agosto|ago", "septiembre|setiembre|sep", "octubre|oct", "noviembre|nov",
                "diciembre|dic",
            ],
            past: ["pasado", "desde", "ayer", "último"],
            notBefore: ["la", "esta", "cada", "buena"],
            next: ["próximo", "próxima"], inWords: ["en", "dentro"],
            dayUnits: ["día", "días"], weekUnits: ["semana", "semanas"],
            monthUnits: ["mes", "meses"],
            ends: ["fin", "final", "finales"], endLinks: ["de", "del", "la", "este", "esta"],
            numbers: [
                "un|una|uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve",
                "diez",
            ],
            shortAlone: []))
}
