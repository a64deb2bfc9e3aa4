// Elements are made from nodes alone. No text of a message is ever read as markup.
import { listParts } from "./words.js";

/** An element (`p.hint` is one of a class) with attributes, listeners (`onclick`) and children: nodes, texts, or nothing. */
export function h(kind, attributes = {}, ...children) {
  const [name, ...classes] = kind.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  // One that sends a form says so.
  if (name === "button") element.type = "button";
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** What is said beside something. */
export const hint = (...children) => h("p.hint", {}, ...children);

/** The same within a line. */
export const note = (...children) => h("span.hint", {}, ...children);

/** A drawing of 20 by 20 units, one path. */
export function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const line = document.createElementNS(space, "path");
  line.setAttribute("d", path);
  svg.append(line);
  return svg;
}

export const paths = {
  back: "M12 4 6 10l6 6",
  down: "M10 4v12M5 11l5 5 5-5",
  send: "M3 10h13M11 5l5 5-5 5",
  reply: "M8 5 3 10l5 5M3 10h8a6 6 0 0 1 6 6",
  react: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M7 8.2v.1M13 8.2v.1M6.8 11.5a3.6 3.6 0 0 0 6.4 0",
  remove: "M4 6h12M8 6V4h4v2M6 6l1 10h6l1-10",
  close: "M5 5l10 10M15 5 5 15",
  voice: "M10 3a2 2 0 0 0-2 2v4a2 2 0 0 0 4 0V5a2 2 0 0 0-2-2M5 9a5 5 0 0 0 10 0M10 14v3",
  play: "M7 5l8 5-8 5z",
  pause: "M7 5v10M13 5v10",
  stop: "M6 6h8v8H6z",
  more: "M5 10v.1M10 10v.1M15 10v.1",
  people: "M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6M1.5 17c0-3.5 2.5-5.5 5.5-5.5s5.5 2 5.5 5.5M13 3.3a3 3 0 0 1 0 5.4M15 12c2.2.6 3.5 2.4 3.5 5",
  search: "M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11M13 13l4 4",
  add: "M10 4v12M4 10h12",
  clock: "M10 3a7 7 0 1 0 0 14 7 7 0 0 0 0-14M10 6v4l3 2",
  phone: "M6.5 3 4 5c0 6 5 11 11 11l2-2.5-3.5-2-2 1.2C9.5 11.5 8.4 10 7.3 8.5L8.5 6.5z",
  camera: "M3 6h9v8H3zM12 9l5-3v8l-5-3",
};

/** A button that shows an icon and says its name. */
export function iconButton(path, label, onclick, extra = {}) {
  return h("button", { class: "quiet", "aria-label": label, title: label, onclick, ...extra }, icon(path));
}

/** The text of others, whose direction is its own. */
export function foreign(name, attributes, text) {
  return h(name, { dir: "auto", ...attributes }, text);
}

/** The name of somebody, or of something of others, in a line. */
export const bdi = (text) => foreign("bdi", {}, text);

/** A text of others where no element can be, in its own direction. */
export const isolated = (text) => `\u2068${text.replace(/[\u2066-\u2069]/g, "")}\u2069`;

/** Names of others in one line, each in its own direction. */
export const namesOf = (names) => listParts(names).map(({ type, value }) => (type === "element" ? bdi(value) : value));

/** Loads a style sheet of what is opened later; settles once it holds. */
export const loadStyle = (path) => new Promise((resolve) => document.head.append(h("link", { rel: "stylesheet", href: new URL(path, import.meta.url), onload: resolve, onerror: resolve })));

let polite;
/** Says something to who does not see the page. */
export function announce(text) {
  polite ??= document.body.appendChild(h("div.unseen", { role: "status", "aria-live": "polite" }));
  polite.textContent = text;
}

/** Runs `body` once, `wait` milliseconds after the last call. */
export function later(body, wait) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => body(...values), wait);
  };
}
