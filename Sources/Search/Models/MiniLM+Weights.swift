extension MiniLM.Weights {
    /// The weights in a folder: `model.safetensors` and `vocab.txt`.
    public init(folder: String, precision: Precision) throws(ModelError) {
        let file = try SafeTensors(folder + "/model.safetensors")
        let width = MiniLM.width
        pieces = try WordPiece(vocabulary: folder + "/vocab.txt")
        words = try file.tensor(
            "embeddings.word_embeddings.weight", [MiniLM.vocabularyCount, width])
        places = try file.tensor(
            "embeddings.position_embeddings.weight", [MiniLM.placeCount, width]
        ).floats()
        let kinds = try file.tensor("embeddings.token_type_embeddings.weight", [2, width]).floats()
        // There is one text, so one kind.
        kind = Array(kinds[..<width])
        scale = try file.tensor("embeddings.LayerNorm.weight", [width]).floats()
        shift = try file.tensor("embeddings.LayerNorm.bias", [width]).floats()
        var layers: [MiniLM.Layer] = []
        for number in 0..<MiniLM.layerCount {
            layers.append(
                try MiniLM.Layer(file, "encoder.layer.\(number).", precision: precision))
        }
        self.layers = layers
    }
}

extension MiniLM.Layer {
    fileprivate init(
        _ file: SafeTensors, _ prefix: String, precision: Precision
    ) throws(ModelError) {
        let width = MiniLM.width, wideWidth = MiniLM.wideWidth
        func linear(
            _ name: String, _ inputs: Int, _ outputs: Int
        ) throws(ModelError) -> Linear {
            let weights = try file.tensor(prefix + name + ".weight", [outputs, inputs]).floats()
            let bias = try file.tensor(prefix + name + ".bias", [outputs]).floats()
            return weights.withUnsafeBufferPointer { weights in
                Linear(
                    inputCount: inputs, outputCount: outputs, bias: bias, precision: precision
                ) { output, input in weights[output * inputs + input] }
            }
        }
        query = try linear("attention.self.query", width, width)
        key = try linear("attention.self.key", width, width)
        value = try linear("attention.self.value", width, width)
        output = try linear("attention.output.dense", width, width)
        wide = try linear("intermediate.dense", width, wideWidth)
        narrow = try linear("output.dense", wideWidth, width)
        scales = [
            try file.tensor(prefix + "attention.output.LayerNorm.weight", [width]).floats(),
            try file.tensor(prefix + "output.LayerNorm.weight", [width]).floats(),
        ]
        shifts = [
            try file.tensor(prefix + "attention.output.LayerNorm.bias", [width]).floats(),
            try file.tensor(prefix + "output.LayerNorm.bias", [width]).floats(),
        ]
    }
}
