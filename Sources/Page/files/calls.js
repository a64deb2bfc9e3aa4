// Calls: what rings, what goes on here, and what one does with it. Sound and pictures are those of callmedia.js.
import { rpc } from "./api.js";
import { showOver } from "./callover.js";
import { CallMedia, Ear, Local, soundContext } from "./callmedia.js";
import { askMedia, chooseDevices } from "./lobby.js";
import { announce, bdi, foreign, h, icon, loadStyle, paths } from "./dom.js";
import { conversation, noteFailure, setNotice, store } from "./store.js";
import { button, choices, told, wordsOf } from "./view.js";
import { callTime, listed, t } from "./words.js";

await loadStyle("./calls.css");

const drawings = {
  muted: "M10 3a2 2 0 0 0-2 2v4a2 2 0 0 0 4 0V5a2 2 0 0 0-2-2M5 9a5 5 0 0 0 10 0M10 14v3M3 3l14 14",
  screen: "M3 4h14v9H3zM7 17h6M10 13v4",
  devices: "M4 6h6M14 6h2M12 4v4M4 14h2M10 14h6M8 12v4",
  whole: "M4 8V4h4M16 12v4h-4M12 4h4v4M8 16H4v-4",
};

/** Calls that ring here or go on without this device, by their names, as the node told of them last. */
const known = new Map();
/** The call whose sound and pictures this page has; null where it has none. */
let own = null;
const rings = new Map();

/** What kept something from happening, as a sentence; anything else is a fault of the page. */
function sentence(error) {
  if (noteFailure(error)) return t("view.away");
  if (!error.code) throw error;
  return wordsOf(error);
}

const isOwn = (call) => own && (own.media.id ?? own.call?.call) === call.call;

// MARK: What is heard

/** Takes in a call as it is now. */
export function heard(call) {
  if (call.state === "ended") known.delete(call.call);
  else known.set(call.call, call);
  if (call.state === "ringing") ring(call);
  else stopRinging(call.call);
  if (!own || own.conversation !== call.conversation) return;
  // The name of a call that was begun here is known once it was answered, or by the first order.
  if (own.call === null && !["ringing", "aside", "ended"].includes(call.state)) own.call = call;
  if (!isOwn(call)) return;
  // Both called at once: it goes on with the other's call, of which one hears next.
  if (call.end === "replaced") own.call = null;
  else own.show(call);
}

/** Takes in all calls that there are. */
export function heardAll(calls) {
  for (const id of [...rings.keys()]) if (!calls.some((each) => each.call === id)) stopRinging(id);
  known.clear();
  for (const call of calls) heard(call);
  if (own?.call && !known.has(own.call.call)) own.end();
}

/** Does what the node orders for the call that is here. */
export function order(line) {
  own?.media.order(line);
}

/** The node is away: so is what it connected. */
export function lost() {
  for (const id of [...rings.keys()]) stopRinging(id);
  own?.end(t("call.lost"));
}

// MARK: Ringing

let tone = 0;

/** Two soft notes, again and again, until nothing rings. */
function startTone() {
  const strike = () => {
    const context = soundContext();
    if (context.state !== "running") return;
    for (const [pitch, delay] of [[523, 0], [659, 0.22], [523, 0.9], [659, 1.12]]) {
      const [note, loud, at] = [context.createOscillator(), context.createGain(), context.currentTime + delay];
      note.frequency.value = pitch;
      loud.gain.setValueAtTime(0, at);
      loud.gain.linearRampToValueAtTime(0.12, at + 0.02);
      loud.gain.exponentialRampToValueAtTime(0.001, at + 0.6);
      note.connect(loud).connect(context.destination);
      note.start(at);
      note.stop(at + 0.6);
    }
  };
  if (tone) return;
  strike();
  tone = setInterval(strike, 3000);
}

function stopTone() {
  clearInterval(tone);
  tone = 0;
}

function ring(call) {
  if (rings.has(call.call) || own) return;
  const of = conversation(call.conversation);
  const fault = h("p.fault", { role: "alert", hidden: true });
  const heading = h("h2", { id: `ring-${call.call}` }, told("call.rings", { name: call.caller }));
  const attempt = async (body) => {
    fault.hidden = true;
    stopTone();
    try {
      await body();
    } catch (error) {
      fault.textContent = sentence(error);
      fault.hidden = false;
    }
  };
  const element = h("dialog.ring", { role: "alertdialog", "aria-labelledby": heading.id, "aria-keyshortcuts": "F8", oncancel: (event) => event.preventDefault() },
    heading, of?.kind === "group" && h("p", {}, told("call.ringsIn", { name: call.name })), fault,
    choices(
      h("button", { class: "lead", onclick: () => attempt(() => answer(call, ["microphone"])) }, icon(paths.phone), t("call.answer")),
      h("button", { onclick: () => attempt(() => answer(call, ["microphone", "camera"])) }, icon(paths.camera), t("call.answerVideo")),
      h("button", { class: "strong", onclick: () => attempt(() => rpc("reject", { call: call.call })) }, t("call.decline"))),
    h("p", {}, h("button", { class: "quiet", onclick: () => attempt(() => lobby(call, call.name, false, true)) }, t("call.prepare"))));
  document.body.prepend(element);
  // The keyboard stays where one writes, which `show()` would not leave; but behind a dialog it could not be reached.
  if (document.querySelector("dialog:modal")) element.showModal();
  else element.open = true;
  rings.set(call.call, { element, call });
  if (!of?.isMuted) startTone();
  showNotice();
  announce(`${t("call.rings", { name: call.caller })}. ${t("call.key")}`);
}

function stopRinging(id) {
  const found = rings.get(id);
  if (!found) return;
  rings.delete(id);
  const hadFocus = found.element.contains(document.activeElement);
  found.element.close();
  found.element.remove();
  if (hadFocus) focusField();
  if (!rings.size) stopTone();
  showNotice();
}

/** Where the keyboard is once what had it is gone. */
function focusField() {
  (document.querySelector(".pane .composer textarea") ?? document.querySelector(".conversations a"))?.focus({ preventScroll: true });
}

addEventListener("keydown", (event) => {
  const [first] = rings.values();
  const target = (first?.element ?? own?.element)?.querySelector("button");
  if (event.key !== "F8" || !target) return;
  event.preventDefault();
  target.focus();
});

/** What the title and the icon of the window say. */
function showNotice() {
  const [first] = rings.values();
  setNotice(first ? t("call.rings", { name: first.call.caller }) : own ? t("call.with", { name: own.name }) : "", rings.size > 0);
}

// MARK: Coming in

/** Asks what to send, and calls; or comes into what goes on in a conversation. */
export async function start(of, withCamera) {
  if (own) return own.element.scrollIntoView({ block: "nearest" });
  const going = [...known.values()].find((each) => each.conversation === of.id && (each.state === "ringing" || (each.state === "aside" && each.members.length)));
  lobby(going ?? { conversation: of.id }, of.name, withCamera, Boolean(going));
}

function lobby(call, name, withCamera, isAnswer) {
  askMedia(t(isAnswer ? "call.joinTitle" : "call.title", { name }), t(isAnswer ? "call.join" : "call.start"), withCamera, (local) =>
    enter(call, name, local, isAnswer));
}

async function answer(call, words) {
  const local = new Local();
  try {
    await local.set(words);
  } catch (error) {
    local.close();
    throw error;
  }
  await enter(call, call.name, local, true);
}

async function enter(call, name, local, isAnswer) {
  if (own) return local.close();
  own = new OwnCall(call.conversation, name, local);
  const media = { media: local.words, seat: store.seat };
  try {
    const now = await (isAnswer ? rpc("answer", { call: call.call, ...media }) : rpc("call", { conversation: call.conversation, ...media }));
    // What was heard of it meanwhile is newer than the answer.
    if (!own?.call) heard(now);
  } catch (error) {
    // Where both called at once the other's call is the one, and this device is in already.
    if (error.code === "call-over" && own?.media.id) return;
    own?.close();
    throw error;
  }
}

addEventListener("pagehide", () => {
  // The node notices by itself that nobody is here; so it is told at once.
  if (own?.call) rpc("hangUp", { call: own.call.call }, { keepalive: true }).catch(() => {});
});

// MARK: The call that is here

class OwnCall {
  #tiles = new Map();
  #ears = new Map();
  #timer = 0;
  #count = 0;
  #began = 0;
  call = null;

  constructor(conversation, name, local) {
    Object.assign(this, { conversation, name, local });
    this.media = new CallMedia(local, () => this.#draw());
    local.addEventListener("change", () => this.#draw());
    local.addEventListener("lost", () => this.#tellMedia());
    this.state = h("p.hint", { role: "status" });
    this.time = h("span.hint", { role: "timer" });
    this.fault = h("p.fault", { role: "alert", hidden: true });
    this.tiles = h("div.tiles");
    const control = (path, label, body, extra) => h("button", { class: "round", "aria-label": label, title: label, onclick: body, ...extra }, icon(path));
    this.microphone = control(paths.voice, t("call.microphone"), () => this.#toggle("microphone"));
    this.camera = control(paths.camera, t("call.camera"), () => this.#toggle("camera"));
    this.screen = navigator.mediaDevices.getDisplayMedia ? control(drawings.screen, t("call.screen"), () => this.#toggle("screen")) : null;
    this.element = h("section.call", { "aria-label": t("call.with", { name }) },
      h("header", {}, h("h2", {}, foreign("a", { href: `#/c/${conversation}` }, name)), this.time, this.state),
      this.fault, this.tiles,
      h("div.controls", { role: "group", "aria-label": t("call.controls") }, this.microphone, this.camera, this.screen,
        control(drawings.devices, t("call.devices"), () => chooseDevices(local, () => this.#sinks())),
        control(drawings.whole, t("call.whole"), () => (document.fullscreenElement ? document.exitFullscreen() : this.element.requestFullscreen())),
        h("button", { class: "strong hang-up", onclick: () => this.#hangUp() }, icon(paths.phone), t("call.hangUp"))));
    document.querySelector(".call-over")?.remove();
    document.querySelector("main").before(this.element);
    document.body.classList.add("has-call");
    this.#timer = setInterval(() => this.#tick(), 250);
    this.#draw();
    showNotice();
  }

  /** Takes in how the call is. */
  show(call) {
    this.call = call;
    if (call.state === "ended" || (call.state === "aside" && call.end)) return this.end(call.reason);
    if (call.milliseconds !== undefined && call.milliseconds !== null) this.#began = performance.now() - call.milliseconds;
    this.#draw();
  }

  #words() {
    const { call } = this;
    if (!call || call.state === "calling") return call?.rings.length ? t("call.ringing", { names: listed(call.rings) }) : t("call.calling");
    if (call.state === "joining" || call.state === "connecting") return t("call.connecting");
    const legs = [...this.media.legs.values()];
    if (legs.length && legs.every((leg) => leg.state !== "connected")) return t("call.reconnecting");
    return legs.some((leg) => leg.isBad) ? t("call.bad") : "";
  }

  #draw() {
    const words = this.#words();
    if (this.state.textContent !== words) this.state.textContent = words;
    const others = (this.call?.members ?? []).filter((each) => !each.isThis);
    for (const [device, tile] of this.#tiles) {
      if (device === "own" || others.some((each) => each.device === device)) continue;
      tile.element.remove();
      this.#tiles.delete(device);
      this.#ears.get(device)?.close();
      this.#ears.delete(device);
    }
    for (const each of others) {
      const leg = this.media.legs.get(each.device);
      const state = !leg || leg.state === "new" || leg.state === "connecting" ? t("call.connecting") : leg.state !== "connected" ? t("call.reconnecting") : leg.isBad ? t("call.bad") : "";
      this.#tile(each.device, each.name, leg?.stream, each.media, state);
    }
    this.#tile("own", t("message.you"), this.local.picture, this.local.words, "");
    const { words: sent } = this.local;
    const look = (control, kind, path) => {
      control?.setAttribute("aria-pressed", String(sent.includes(kind)));
      if (path) control.replaceChildren(icon(path));
    };
    look(this.microphone, "microphone", sent.includes("microphone") ? paths.voice : drawings.muted);
    look(this.camera, "camera");
    look(this.screen, "screen");
  }

  #tile(device, name, stream, media, state) {
    let tile = this.#tiles.get(device);
    if (!tile) {
      const isSelf = device === "own";
      const video = h("video", { autoplay: true, playsinline: true, "aria-label": isSelf ? t("call.ownPicture") : t("call.pictureOf", { name }) });
      video.muted = isSelf;
      tile = { video, note: h("span.hint"), level: h("meter", { min: "0", max: "1", "aria-label": t("call.levelOf", { name }) }) };
      tile.element = h("figure", { class: `tile${isSelf ? " is-own" : ""}`, "data-device": device },
        h("span.face", { "aria-hidden": "true" }, [...name][0]?.toLocaleUpperCase() ?? ""), video,
        h("figcaption", {}, bdi(name), tile.note, tile.level));
      this.#tiles.set(device, tile);
      this.tiles.append(tile.element);
      if (!isSelf) setSink(video);
    }
    if (stream && tile.video.srcObject !== stream) tile.video.srcObject = stream;
    // Of who came in a moment ago one is told what they send within ten seconds: until then what comes tells it.
    const [track] = stream?.getVideoTracks() ?? [];
    const hasPicture = media.includes("camera") || media.includes("screen") || (!media.length && track && !track.muted && tile.video.videoWidth > 2);
    const isMuted = !media.includes("microphone") && (media.length > 0 || tile.level.value < 0.02);
    tile.element.classList.toggle("has-picture", Boolean(stream && hasPicture));
    tile.element.classList.toggle("has-screen", media.includes("screen"));
    const notes = [state, isMuted && t("call.muted"), media.includes("screen") && t("call.showsScreen")].filter(Boolean).join(" · ");
    if (tile.note.textContent !== notes) tile.note.textContent = notes;
  }

  /** Levels, the time, and now and then how well things come through. */
  #tick() {
    if (this.#began) this.time.textContent = callTime(performance.now() - this.#began);
    const streams = new Map([...this.media.legs].map(([device, leg]) => [device, leg.stream]));
    if (this.local.audio) streams.set("own", this.#ownSound());
    for (const [device, stream] of streams) {
      const tile = this.#tiles.get(device);
      const [track] = stream.getAudioTracks();
      if (!tile || !track) continue;
      let ear = this.#ears.get(device);
      if (ear?.track !== track) {
        ear?.close();
        ear = Object.assign(new Ear(stream), { track });
        this.#ears.set(device, ear);
      }
      const level = device === "own" && this.local.isMuted ? 0 : ear.level();
      tile.level.value = level;
      tile.element.classList.toggle("speaks", level > 0.06);
    }
    if (++this.#count % 8) return;
    Promise.all([...this.media.legs.values()].map((leg) => leg.measure())).then(() => own === this && this.#draw());
  }

  #ownSound() {
    if (this.heard?.getAudioTracks()[0] !== this.local.audio) this.heard = new MediaStream([this.local.audio]);
    return this.heard;
  }

  async #attempt(body) {
    this.fault.hidden = true;
    try {
      await body();
    } catch (error) {
      this.fault.textContent = sentence(error);
      this.fault.hidden = false;
    }
  }

  #toggle(kind) {
    const now = this.local.words;
    const isOn = now.includes(kind);
    return this.#attempt(async () => {
      await this.local.set(isOn ? now.filter((each) => each !== kind) : [...now, kind]);
      await this.#tellMedia();
      announce(t(`call.${kind}.${isOn ? "off" : "on"}`));
    });
  }

  async #tellMedia() {
    if (this.call) await rpc("setMedia", { call: this.call.call, media: this.local.words }).catch((error) => noteFailure(error) || error.code || Promise.reject(error));
  }

  #sinks() {
    for (const [device, { video }] of this.#tiles) if (device !== "own") setSink(video);
  }

  #hangUp() {
    return this.#attempt(async () => {
      if (this.call) await rpc("hangUp", { call: this.call.call });
      else this.close();
    });
  }

  /** The call is over, and why. */
  end(reason) {
    this.close();
    showOver(reason, [...(this.call?.members ?? []).map((each) => each.name), ...(conversation(this.conversation)?.members ?? [])]);
  }

  close() {
    if (own !== this) return;
    own = null;
    clearInterval(this.#timer);
    this.media.close();
    for (const ear of this.#ears.values()) ear.close();
    const hadFocus = this.element.contains(document.activeElement);
    this.element.remove();
    document.body.classList.remove("has-call");
    if (hadFocus) focusField();
    showNotice();
  }
}

/** Plays through the loudspeaker that was chosen, where a browser can. */
function setSink(video) {
  const id = localStorage.getItem("parley-loudspeaker") ?? "";
  // One that is not there any more leaves it to the browser.
  video.setSinkId?.(id).catch(() => {});
}
