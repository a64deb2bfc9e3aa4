public import ParleyWire

extension ControlGraph {
    /// Whether any operation admits the device, be it that it does not hold: its word in lane 0 is
    /// then kept, so that everybody holds the same whatever came first.
    public func admits(_ device: DeviceID) -> Bool { true }

    /// What a device that is out may know of the control lane: the past of what put it out, that
    /// itself included. The highest place of each log, ascending.
    public func departure(of device: DeviceID) -> [ControlPlace] { tips().places }
}
