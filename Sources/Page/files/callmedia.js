// Sound and pictures of a call: what this device sends, and a connection to each of the others, as the node
// orders. Source: Protocol/12-media.md.
import { rpc } from "./api.js";
import { noteFailure, store } from "./store.js";
import { t } from "./words.js";

const kinds = ["microphone", "camera", "screen"];

// MARK: Levels

let sound = null;

/** What sounds are made and measured with; a browser may hold it up until its person has pressed something. */
export function soundContext() {
  sound ??= new AudioContext();
  if (sound.state === "suspended") sound.resume();
  return sound;
}

/** How loud the sound of a stream is. */
export class Ear {
  constructor(stream) {
    const context = soundContext();
    this.node = context.createAnalyser();
    this.node.fftSize = 1024;
    this.samples = new Float32Array(this.node.fftSize);
    this.source = context.createMediaStreamSource(stream);
    this.source.connect(this.node);
  }

  /** From 0 to 1, just now. */
  level() {
    this.node.getFloatTimeDomainData(this.samples);
    return Math.min(1, 3 * Math.sqrt(this.samples.reduce((sum, each) => sum + each * each, 0) / this.samples.length));
  }

  close() {
    this.source.disconnect();
  }
}

// MARK: What this device sends

const place = "parley-devices";

/** The devices that were chosen last, by what they are for. */
export function chosenDevices() {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? {};
  } catch {
    // What cannot be read was never chosen.
    return {};
  }
}

export function chooseDevice(kind, id) {
  localStorage.setItem(place, JSON.stringify({ ...chosenDevices(), [kind]: id }));
}

async function opened(kind) {
  const id = chosenDevices()[kind];
  // One that was taken out since is no reason to have none.
  const device = id ? { deviceId: { ideal: id } } : {};
  try {
    if (kind === "screen") return (await navigator.mediaDevices.getDisplayMedia({ video: true })).getTracks()[0];
    const asked = kind === "camera" ? { video: { ...device, width: { ideal: 1280 }, height: { ideal: 720 } } } : { audio: { ...device, echoCancellation: true, noiseSuppression: true } };
    return (await navigator.mediaDevices.getUserMedia(asked)).getTracks()[0];
  } catch (error) {
    const why = { NotAllowedError: "refused", NotFoundError: "none", OverconstrainedError: "none" }[error.name] ?? "broken";
    throw { code: "no-device", message: t(`device.${why}.${kind}`) };
  }
}

/** The microphone, the camera and the screen, as far as they are on. */
export class Local extends EventTarget {
  #tracks = {};
  isMuted = false;
  isClosed = false;
  /** What one sees of oneself. */
  picture = new MediaStream();

  /** What is sent, as the node names it. */
  get words() {
    return kinds.filter((kind) => this.#tracks[kind] && !(kind === "microphone" && this.isMuted));
  }

  get audio() {
    return this.#tracks.microphone ?? null;
  }

  /** One picture is sent: the screen stands in the camera's place. */
  get video() {
    return this.#tracks.screen ?? this.#tracks.camera ?? null;
  }

  get isScreen() {
    return this.#tracks.screen !== undefined;
  }

  /** Turns on and off what is to be sent. Throws why something cannot be; all else is done then. */
  async set(words) {
    let failure = null;
    for (const kind of kinds) {
      const isWanted = words.includes(kind);
      if (kind === "microphone" && this.#tracks.microphone) this.isMuted = !isWanted;
      else if (isWanted && !this.#tracks[kind]) {
        try {
          await this.#open(kind);
          if (kind === "microphone") this.isMuted = false;
        } catch (error) {
          if (!error.code) throw error;
          failure = error;
        }
      } else if (!isWanted) this.#stop(kind);
    }
    this.#changed();
    if (failure) throw failure;
  }

  /** Takes another microphone or camera. */
  async reopen(kind) {
    if (!this.#tracks[kind]) return;
    // Some cameras can be open once.
    this.#stop(kind);
    try {
      await this.#open(kind);
    } finally {
      this.#changed();
    }
  }

  async #open(kind) {
    const track = await opened(kind);
    if (this.isClosed) return track.stop();
    this.#tracks[kind] = track;
    // Unplugged, or the browser's own button was pressed.
    track.addEventListener("ended", () => {
      if (this.#tracks[kind] !== track) return;
      delete this.#tracks[kind];
      this.#changed();
      this.dispatchEvent(new Event("lost"));
    });
  }

  #stop(kind) {
    this.#tracks[kind]?.stop();
    delete this.#tracks[kind];
  }

  #changed() {
    if (this.audio) this.audio.enabled = !this.isMuted;
    for (const track of this.picture.getTracks()) if (track !== this.video) this.picture.removeTrack(track);
    if (this.video) this.picture.addTrack(this.video);
    this.dispatchEvent(new Event("change"));
  }

  close() {
    this.isClosed = true;
    for (const kind of kinds) this.#stop(kind);
    this.#changed();
  }
}

// MARK: Connections

/** How a camera's picture is sent, by the number of those it is sent to: each costs the same. */
const one = { scaleResolutionDownBy: 1, maxFramerate: 30, maxBitrate: 1_500_000 };
const cameras = [one, one, { scaleResolutionDownBy: 2, maxFramerate: 20, maxBitrate: 600_000 }, { scaleResolutionDownBy: 3, maxFramerate: 15, maxBitrate: 300_000 }];
/** What is read on a screen stays sharp. */
const ofScreen = { ...one, maxFramerate: 10 };

async function shape(sender, wanted) {
  const parameters = sender.getParameters();
  const [now] = parameters.encodings;
  if (!now || now.maxFramerate === wanted.maxFramerate) return;
  Object.assign(now, wanted);
  await sender.setParameters(parameters);
}

const fingerprint = (description) => description?.sdp?.match(/^a=fingerprint:.*$/m)?.[0];

class Leg {
  #peer = null;
  #work = Promise.resolve();
  #mustRebuild = false;
  #lost = [0, 0];
  /** What comes from there. */
  stream = new MediaStream();
  /** Whether much of what is sent does not arrive. */
  isBad = false;

  constructor(name, call) {
    Object.assign(this, { name, call });
  }

  get state() {
    return this.#peer?.connectionState ?? "new";
  }

  /** Orders are carried out one after the other. */
  order(line) {
    this.#work = this.#work.then(() => this.#does(line)).catch((error) => {
      if (this.call.isClosed) return;
      console.warn(`call: ${line.order}: ${error.message}`);
      // The node asks for an offer that starts anew, and what stands in its way goes.
      this.#mustRebuild = true;
      this.#tell("failed");
    });
  }

  async #does({ order, anew, description, candidate, part, index }) {
    if (this.call.isClosed) return;
    if (order === "offer") await this.#offer(anew);
    else if (order === "answer") await this.#answer({ type: "offer", sdp: description });
    else if (order === "take") {
      await this.#peer?.setRemoteDescription({ type: "answer", sdp: description });
      this.#tellStanding();
    } else if (order === "candidate") await this.#peer?.addIceCandidate({ candidate, sdpMid: part || null, sdpMLineIndex: index });
  }

  async #offer(anew) {
    if (!this.#peer || this.#mustRebuild) this.#make();
    if (!this.#peer.getTransceivers().length) for (const kind of ["audio", "video"]) this.#peer.addTransceiver(kind);
    await this.send();
    await this.#peer.setLocalDescription(await this.#peer.createOffer({ iceRestart: anew === true }));
    this.#tell("offer", { description: this.#peer.localDescription.sdp });
  }

  async #answer(offer) {
    // Whoever begins again from nothing has other keys, and is another peer.
    const isOther = this.#peer?.remoteDescription && fingerprint(this.#peer.remoteDescription) !== fingerprint(offer);
    if (!this.#peer || isOther || this.#mustRebuild) this.#make();
    await this.#peer.setRemoteDescription(offer);
    for (const each of this.#peer.getTransceivers()) if (!each.stopped) each.direction = "sendrecv";
    await this.send();
    await this.#peer.setLocalDescription(await this.#peer.createAnswer());
    this.#tell("answer", { description: this.#peer.localDescription.sdp });
    this.#tellStanding();
  }

  #make() {
    this.#peer?.close();
    this.#mustRebuild = false;
    for (const track of this.stream.getTracks()) this.stream.removeTrack(track);
    const peer = (this.#peer = new RTCPeerConnection({ iceServers: this.call.servers, bundlePolicy: "max-bundle" }));
    peer.addEventListener("track", ({ track }) => {
      this.stream.addTrack(track);
      this.call.changed();
    });
    peer.addEventListener("icecandidate", ({ candidate }) => {
      if (peer !== this.#peer) return;
      this.#tell("candidate", candidate?.candidate ? { candidate: candidate.candidate, part: candidate.sdpMid ?? "0", index: candidate.sdpMLineIndex ?? 0 } : { candidate: "", part: "0", index: 0 });
    });
    peer.addEventListener("connectionstatechange", () => {
      if (peer !== this.#peer) return;
      if (["connected", "disconnected", "failed"].includes(peer.connectionState)) this.#tell(peer.connectionState);
      this.call.changed();
    });
  }

  /** A connection that stood all the while says nothing by itself. */
  #tellStanding() {
    if (this.#peer?.connectionState === "connected") this.#tell("connected");
  }

  /** Sends what this device sends now. */
  async send() {
    const { local } = this.call;
    for (const kind of ["audio", "video"]) {
      const found = this.#peer?.getTransceivers().find((each) => each.receiver.track.kind === kind && !each.stopped);
      if (found && found.sender.track !== local[kind]) await found.sender.replaceTrack(local[kind]);
      if (found && kind === "video" && local.video) await shape(found.sender, local.isScreen ? ofScreen : cameras[this.call.legs.size] ?? cameras.at(-1));
    }
  }

  /** The same, behind the orders that came before. */
  renew() {
    this.#work = this.#work.then(() => this.send()).catch((error) => this.call.isClosed || console.warn(`call: ${error.message}`));
  }

  #tell(news, more = {}) {
    this.call.tell(news, { leg: this.name, ...more });
  }

  /** Notes how well things come through. */
  async measure() {
    if (this.state !== "connected") return;
    let [lost, received, isBad] = [0, 0, false];
    for (const each of (await this.#peer.getStats()).values()) {
      if (each.type === "inbound-rtp") (lost += each.packetsLost), (received += each.packetsReceived);
      if (each.type === "remote-inbound-rtp") isBad ||= each.fractionLost > 0.08 || each.roundTripTime > 0.6;
    }
    const [lostSince, receivedSince] = [lost - this.#lost[0], received - this.#lost[1]];
    this.#lost = [lost, received];
    this.isBad = isBad || (receivedSince > 20 && lostSince > 0.08 * (lostSince + receivedSince));
  }

  close() {
    this.#peer?.close();
  }
}

/** The part of the program for sound and pictures, for one call. */
export class CallMedia {
  #said = Promise.resolve();
  legs = new Map();
  servers = [];
  isClosed = false;
  id = null;

  /** @param changed is called when a connection is otherwise */
  constructor(local, changed) {
    Object.assign(this, { local, changed });
    local.addEventListener("change", () => this.#send());
  }

  #send() {
    this.legs.forEach((leg) => leg.renew());
  }

  /** Does what the node orders. */
  order(line) {
    if (line.order === "begin") {
      // A call that replaces the one before begins again.
      for (const name of [...this.legs.keys()]) this.#close(name);
      [this.id, this.servers] = [line.call, line.servers ?? []];
    } else if (line.order === "media") {
      this.local.set(line.media).catch((error) => error.code || Promise.reject(error));
    } else if (line.order === "end") this.close();
    else if (line.order === "close") this.#close(line.leg);
    else if (line.leg) {
      if (!this.legs.has(line.leg)) {
        this.legs.set(line.leg, new Leg(line.leg, this));
        this.#send();
      }
      this.legs.get(line.leg).order(line);
    }
  }

  #close(name) {
    this.legs.get(name)?.close();
    this.legs.delete(name);
    this.#send();
    this.changed();
  }

  /** Tells the node; what is told first arrives first. */
  tell(news, more) {
    const said = { seat: store.seat, call: this.id, news, ...more };
    this.#said = this.#said.then(() => this.isClosed || rpc("tellCallMedia", said)).catch((error) => {
      // A call that ended meanwhile has nothing more to hear.
      if (!noteFailure(error) && error.code !== "not-yours") throw error;
    });
  }

  close() {
    this.isClosed = true;
    for (const leg of this.legs.values()) leg.close();
    this.legs.clear();
    this.local.close();
  }
}
