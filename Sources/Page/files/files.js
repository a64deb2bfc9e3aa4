// The files of a message: what they look like, how far they are, and what may be done with them. What others
// say of a file, its name and kind, only chooses how it is shown: nothing is run or read as a page.
import { load, rpc } from "./api.js";
import { h, icon, note, paths } from "./dom.js";
import { noteFailure, passOver } from "./store.js";
import { soundRow, voiceRow } from "./voice.js";
import { byteSize, listed, percent, t } from "./words.js";

const previewCountMax = 300;
const sideMax = 320;
const pollTime = 1000;
/** Files that so few bytes have are sent without a preview: they are one. */
const smallByteCount = 8 * 1024;
const shownKind = /^image\/(jpeg|png|gif|webp|avif)$/;

/** Opens a file over all of the window. */
export function show(message, file) {
  return load("./viewer.js").then(({ view }) => view(message, file, addressOf), noteFailure);
}

/** Where a file of a message is. */
export const addressOf = (message, file, more = {}) =>
  `/file?${new URLSearchParams({ message: message.id, number: file.number, ...more })}`;

// MARK: Small pictures

const previews = new Map();

/** The address of the small picture in the place of a file, here as long as it is shown of late. */
function previewOf(message, file) {
  const key = `${message.id} ${file.number}`;
  const known = previews.get(key);
  if (known) {
    previews.delete(key);
    previews.set(key, known);
    return known;
  }
  const asked = { address: null, loaded: loadPreview(message, file) };
  asked.loaded.then((address) => (asked.address = address), () => previews.delete(key));
  previews.set(key, asked);
  for (const [old, each] of previews) {
    if (previews.size <= previewCountMax) break;
    previews.delete(old);
    each.loaded.then((address) => URL.revokeObjectURL(address), () => {});
  }
  return asked;
}

async function loadPreview(message, file) {
  const small = !file.hasPreview;
  const response = await fetch(addressOf(message, file, small ? {} : { preview: 1 }), {
    headers: { "Parley-Page": "1" }, credentials: "same-origin", cache: "no-store",
  });
  if (!response.ok) throw new Error(`${response.status}`);
  return URL.createObjectURL(await response.blob());
}

/** How large a picture is shown: by what its sender says, within bounds. */
function measure(file) {
  const [width, height] = [file.width, file.height].map((side) => Math.min(Math.max(side, 0), 65_535));
  if (!width || !height) return null;
  const scale = Math.min(1, sideMax / width, sideMax / height);
  return { width: Math.max(48, Math.round(width * scale)), height: Math.max(48, Math.round(height * scale)) };
}

export function smallPicture(message, file) {
  const picture = h("img", { alt: "", draggable: "false", ...measure(file) });
  picture.addEventListener("error", () => picture.replaceWith(note(t("file.broken"))));
  const asked = previewOf(message, file);
  if (asked.address) picture.src = asked.address;
  else asked.loaded.then((address) => (picture.src = address), () => picture.dispatchEvent(new Event("error")));
  return picture;
}

export const hasPicture = (file) =>
  file.hasPreview || (file.state === "here" && shownKind.test(file.type) && file.size <= smallByteCount);

// MARK: How far a file is

const explanations = new Map();
const waiting = new Set();
let timer = 0;

/** Looks again after a while for what is on its way and in sight. */
function follow(entry) {
  waiting.add(entry);
  timer ||= setTimeout(poll, pollTime);
}

async function poll() {
  const ids = new Set();
  for (const entry of waiting) {
    if (entry.element.isConnected) ids.add(entry.message.id);
    else waiting.delete(entry);
  }
  try {
    for (const id of document.visibilityState === "visible" ? ids : []) {
      const files = await rpc("messageFiles", { message: id });
      for (const entry of waiting) {
        if (entry.message.id === id) entry.show(files.find((each) => each.number === entry.file.number) ?? entry.file);
      }
    }
  } catch (error) {
    passOver(error);
  }
  timer = waiting.size ? setTimeout(poll, pollTime) : 0;
}

/** Why a file is not here, in the words of the node; of what is said to a command line nothing. */
async function explain(message, file) {
  const key = `${message.id} ${file.number} ${file.state}`;
  if (!explanations.has(key)) {
    try {
      const lines = await rpc("explainFile", { message: message.id, number: file.number });
      explanations.set(key, lines.slice(1).map((line) => line.replace(/: `.*$/, ".").replace(/[;,.]? (and )?(by )?`.*$/, ".")));
      setTimeout(() => explanations.delete(key), 5000);
    } catch (error) {
      passOver(error);
      return [];
    }
  }
  return explanations.get(key) ?? [];
}

function elsewhere(file) {
  const all = [];
  if (file.holders?.length) all.push(t("file.holders", { names: listed(file.holders) }));
  if (file.receivers?.length) all.push(t("file.receivers", { names: listed(file.receivers) }));
  if (file.holders && !all.length) all.push(t("file.nobody"));
  return all;
}

/** The line below a file: its size, its state, and what can be done. */
function stateLine(message, file, shown) {
  const words = h("span.hint", { dir: "auto" });
  const bar = h("progress", { max: "1", hidden: true, "aria-label": t("file.fetchingOf", { name: file.name }) });
  const doing = h("span.file-actions");
  const why = h("p.hint", { dir: "auto" });
  const entry = { message, file, element: h("div.file-state", {}, words, bar, doing, why) };
  const get = async () => {
    try {
      await rpc("fetchFiles", { message: message.id });
      follow(entry);
    } catch (error) {
      if (!noteFailure(error)) why.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    }
  };
  entry.show = (now) => {
    const isOther = now.state !== entry.file.state || !doing.childNodes.length;
    entry.file = now;
    const share = now.size ? now.heldByteCount / now.size : 0;
    const state = now.state === "here" ? "" : t(`file.${now.state}`, { percent: percent(share) });
    words.textContent = [byteSize(now.size), state, ...(message.isOwn ? elsewhere(now) : [])].filter(Boolean).join(" · ");
    bar.hidden = now.state !== "fetching";
    bar.value = share;
    if (["fetching", "waiting", "full", "disk-full"].includes(now.state)) follow(entry);
    else waiting.delete(entry);
    if (!isOther) return;
    doing.replaceChildren(now.state === "here"
      ? h("a", { href: addressOf(message, now, { save: 1 }), download: now.name, "aria-label": t("file.saveOf", { name: now.name }) }, t("file.save"))
      : ["fetching", "waiting"].includes(now.state) ? "" : h("button", { class: "link", onclick: get, "aria-label": t("file.fetchOf", { name: now.name }) }, t("file.fetch")));
    why.textContent = "";
    if (!["here", "fetching"].includes(now.state)) explain(message, now).then((lines) => entry.file.state === now.state && (why.textContent = lines.join(" ")));
    shown(now);
  };
  entry.show(file);
  return entry.element;
}

/** How far one is that is on its way to the node. */
function leavingLine(attachment) {
  const bar = h("progress", { max: "1", "aria-label": t("file.sending", { name: attachment.name }) });
  const words = h("span.hint");
  const look = () => {
    words.textContent = `${byteSize(attachment.size)} · ${attachment.state === "sending" ? percent(attachment.fraction) : t("file.leaving")}`;
    if (attachment.state === "sending") bar.value = attachment.fraction;
    else bar.removeAttribute("value");
  };
  attachment.addEventListener("change", look);
  look();
  return h("div.file-state", {}, words, bar);
}

// MARK: One file

/** A name of which the ending stays in sight. */
export function nameOf(file) {
  const dot = file.name.lastIndexOf(".");
  const cut = dot > 0 && file.name.length - dot <= 12 ? dot : file.name.length;
  return h("bdi", { dir: "auto", class: "file-name", title: file.name },
    h("span.stem", {}, file.name.slice(0, cut)), h("span", {}, file.name.slice(cut)));
}

export const isMoving = (file) => file.type.startsWith("video/");

function pictureOf(message, file) {
  const open = h("button", {
    class: "picture", "aria-label": t(isMoving(file) ? "file.playOf" : "file.openOf", { name: file.name }),
    onclick: () => show(message, open.file),
  }, smallPicture(message, file), isMoving(file) && h("span.play", {}, icon(paths.play)));
  open.file = file;
  return open;
}

function fileElement(message, file) {
  if (file.attachment) {
    return h("div.file", { role: "group", "aria-label": file.name },
      file.attachment.picture && h("img", { src: file.attachment.picture, alt: "", class: "leaving" }),
      file.isVoice ? h("p", {}, t("voice.name")) : nameOf(file), leavingLine(file.attachment));
  }
  const look = h("div.look");
  const shown = (now) => {
    if (now.isVoice) look.replaceChildren(voiceRow(message, now, addressOf));
    else if (hasPicture(now)) look.replaceChildren(pictureOf(message, now));
    else if (now.state === "here" && now.type.startsWith("audio/")) look.replaceChildren(soundRow(message, now, addressOf));
    else if (now.state === "here" && (isMoving(now) || shownKind.test(now.type))) {
      look.replaceChildren(h("button", {
        "aria-label": t(isMoving(now) ? "file.playOf" : "file.openOf", { name: now.name }),
        onclick: () => show(message, now),
      }, t(isMoving(now) ? "file.play" : "file.open")));
    } else look.replaceChildren();
    look.hidden = !look.firstChild;
  };
  const line = stateLine(message, file, shown);
  return h("div", { class: `file${file.isVoice || file.type.startsWith("audio/") ? " is-voice" : ""}`, role: "group", "aria-label": file.isVoice ? t("voice.name") : file.name },
    look, !file.isVoice && nameOf(file), line,
    file.transcript && h("p.hint", { dir: "auto" }, t("voice.transcript", { text: file.transcript })));
}

/** All files of a message, or nothing. */
export function filesOf(message) {
  const { files } = message;
  return files?.length ? h("div.files", {}, files.map((each) => fileElement(message, each))) : null;
}
