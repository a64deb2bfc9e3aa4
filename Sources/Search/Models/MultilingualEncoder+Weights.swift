extension MultilingualEncoder.Weights {
    /// The weights in a folder: `sp.model`, and one `.npy` for each array.
    public init(folder: String) throws(ModelError) {
        func floats(_ name: String, _ shape: [Int]) throws(ModelError) -> [Float] {
            let path = folder + "/" + name + ".npy"
            let tensor = try NumPyFile.tensor(path, type: "<f4")
            guard tensor.shape == shape else { throw .damaged(path) }
            return tensor.floats()
        }
        func linear(
            _ names: [String], _ inputs: Int, _ width: Int, bias: [String] = []
        ) throws(ModelError) -> Linear {
            var parts: [[Float]] = [], biases: [Float] = []
            for name in names { parts.append(try floats(name, [inputs, width])) }
            for name in bias { biases += try floats(name, [width]) }
            return Linear(
                inputCount: inputs, outputCount: width * names.count, bias: biases,
                precision: .full
            ) { output, input in parts[output / width][input * width + output % width] }
        }
        typealias Model = MultilingualEncoder
        let (width, window, middle) = (Model.width, Model.windowWidth, Model.middle)
        pieces = try Unigram(model: folder + "/sp.model")
        var tables: [Tensor] = []
        for number in 1...Model.tableCount {
            let path = folder + "/q\(number).npy"
            let table = try NumPyFile.tensor(path, type: "|u1")
            guard table.shape == [Model.tableRowCount, width] else { throw .damaged(path) }
            tables.append(table)
        }
        self.tables = tables
        scale = try floats("scale", [Model.tableCount])
        low = try floats("lo", [Model.tableCount])
        let orders = Model.windows.map(\.count)
        entry = try linear(
            orders.map { "proj\($0)" }, width, window, bias: orders.map { "proj_b\($0)" })
        var scales: [Float] = [], shifts: [Float] = []
        var first: [Linear] = [], second: [Linear] = []
        for order in orders {
            scales += try floats("ln_g\(order)", [window])
            shifts += try floats("ln_b\(order)", [window])
            first.append(
                try linear(["w1_\(order)"], order * window, window, bias: ["b1_\(order)"]))
            second.append(
                try linear(["w2_\(order)"], order * window, window, bias: ["b2_\(order)"]))
        }
        (entryScale, entryShift, self.first, self.second) = (scales, shifts, first, second)
        scale2 = try floats("ln_g", [Model.featureCount])
        shift2 = try floats("ln_b", [Model.featureCount])
        exit = try linear(["cnn_W"], Model.featureCount, width)
        exitBias = try floats("cnn_b", [width])
        d0 = try linear(["d0"], width, middle)
        d1 = try linear(["d1"], middle, middle)
        p1 = try linear(["p1"], width, middle)
        d2 = try linear(["d2"], middle, width)
        p3 = try linear(["p3"], middle, width)
        d3 = try linear(["d3"], width, width)
    }
}
