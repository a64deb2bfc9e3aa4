// What was spoken: played with its waveform, one at a time.
import { h, icon, paths } from "./dom.js";
import { playTime, t } from "./words.js";

const speeds = [1, 1.5, 2];
const barCount = 48;

// MARK: Playing

/** The one sound that plays: a row that is drawn anew goes on with it. */
const player = new Audio();
player.preload = "none";
const playing = { key: null, row: null, speed: 1 };
const tick = () => playing.row?.isConnected && playing.row.look();
for (const kind of ["timeupdate", "play", "pause", "ended", "durationchange", "error"]) player.addEventListener(kind, tick);

/** Bars of a waveform, a path of 4 units each, 24 high. */
function bars(waveform) {
  const all = waveform.length ? waveform : Array(barCount).fill(16);
  const count = Math.min(barCount, all.length);
  return Array.from({ length: count }, (_, bar) => {
    const part = all.slice(Math.floor((bar * all.length) / count), Math.max(Math.floor(((bar + 1) * all.length) / count), 1));
    const half = 1 + (Math.max(...part, 0) / 255) * 10;
    return `M${bar * 4 + 2} ${12 - half}v${2 * half}`;
  }).join("");
}

function wave(waveform) {
  const drawing = icon(bars(waveform));
  drawing.setAttribute("viewBox", `0 0 ${4 * barCount} 24`);
  drawing.setAttribute("preserveAspectRatio", "none");
  return drawing;
}

/** A sound with a button, a waveform to move in, a time and a speed. */
export function voiceRow(message, file, addressOf) {
  const key = `${message.id} ${file.number}`;
  const seconds = file.duration / 1000;
  const played = h("span.played", {}, wave(file.waveform));
  const place = h("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": t("voice.place"), oninput: () => seek() });
  const time = h("span.hint");
  const speed = h("button", { class: "quiet speed", "aria-label": t("voice.speed"), onclick: () => faster() });
  const button = h("button", { class: "round", onclick: () => toggle() });
  const row = h("div.voice", {}, button, h("span.wave", {}, wave(file.waveform), played, place), time, speed);
  const isMine = () => playing.key === key;
  const begin = () => {
    if (isMine()) return;
    player.src = addressOf(message, file);
    playing.key = key;
    player.playbackRate = player.defaultPlaybackRate = playing.speed;
  };
  const whole = () => (isMine() && Number.isFinite(player.duration) ? player.duration : seconds);
  const toggle = () => {
    begin();
    playing.row = row;
    if (player.paused) player.play().catch(() => row.look());
    else player.pause();
  };
  const seek = () => {
    begin();
    playing.row = row;
    player.currentTime = (place.value / 1000) * whole();
    row.look();
  };
  const faster = () => {
    playing.speed = speeds[(speeds.indexOf(playing.speed) + 1) % speeds.length];
    player.playbackRate = player.defaultPlaybackRate = playing.speed;
    row.look();
  };
  let was;
  row.look = () => {
    const at = isMine() ? player.currentTime : 0;
    const share = whole() ? Math.min(1, at / whole()) : 0;
    const is = isMine() && !player.paused;
    played.style.clipPath = `inset(0 ${100 - share * 100}% 0 0)`;
    if (document.activeElement !== place || is) place.value = Math.round(share * 1000);
    place.setAttribute("aria-valuetext", playTime(at));
    time.textContent = isMine() && player.error ? t("file.broken") : playTime(at || whole());
    speed.textContent = `${playing.speed}×`;
    if (was === is) return;
    was = is;
    button.replaceChildren(icon(is ? paths.pause : paths.play));
    button.setAttribute("aria-label", t(is ? "voice.pause" : "voice.play"));
  };
  if (file.state !== "here") button.disabled = place.disabled = speed.disabled = true;
  if (isMine()) playing.row = row;
  row.look();
  return row;
}

/** A sound that was not spoken for its message. */
export const soundRow = (message, file, addressOf) => voiceRow(message, { ...file, waveform: [] }, addressOf);

// MARK: Recording

const forms = ["audio/ogg;codecs=opus", "audio/webm;codecs=opus", "audio/mp4"];
/** In which form the browser records; nothing where it cannot. */
export const form = () => globalThis.MediaRecorder && navigator.mediaDevices && forms.find((each) => MediaRecorder.isTypeSupported(each));
