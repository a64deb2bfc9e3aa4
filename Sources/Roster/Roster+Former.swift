public import ParleyWire

/// The present and former members: former members' operations are still theirs.
extension Roster {
    /// Whose a device is that is in the space, or ever was admitted to it; nil for any other.
    public func person(of device: DeviceID) -> PersonID? {
        standings.persons[device] ?? standings.former[device]?.person
    }

    /// Whether the device was in the space and is no longer.
    public func isFormer(_ device: DeviceID) -> Bool { standings.former[device] != nil }

    /// At and below which places a device was given nothing, while it is in or, later, ever.
    public func horizon(of device: DeviceID) -> Horizon {
        self.device(device)?.horizon ?? standings.former[device]?.horizon ?? Horizon()
    }

    /// The devices of a person that are in the space, or, for a former member, that were.
    public func devicesEver(of person: PersonID) -> [DeviceID] {
        member(person)?.devices.map(\.device)
            ?? standings.former.filter { $0.value.person == person }.map(\.key).sorted()
    }

    /// Every device of a person that is in the space or was, ascending.
    public func everyDevice(of person: PersonID) -> [DeviceID] {
        everyDevice.filter { self.person(of: $0) == person }
    }

    /// Devices of a person that are out only by their identity log, ascending: nothing that holds
    /// says how much of their operations counts, so everything does.
    public func uncutDevices(of person: PersonID) -> [DeviceID] {
        standings.former.filter {
            $0.value.person == person && $0.value.limits.allSatisfy { $0 == .all }
        }.map(\.key).sorted()
    }

    /// Whether a readable genesis began it, even if everybody has left since.
    public var isBegun: Bool { !members.isEmpty || !everyDevice.isEmpty }

    /// Every device that is in the space or was, ascending.
    public var everyDevice: [DeviceID] {
        (Array(standings.persons.keys) + standings.former.keys).sorted()
    }
}
