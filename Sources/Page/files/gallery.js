// All files of a conversation, the newest first: what each is, and the way to its message.
import { bdi, h, hint, icon, note, paths } from "./dom.js";
import { hasPicture, isMoving, nameOf, show, smallPicture } from "./files.js";
import { isSaidByOneself } from "./message.js";
import { View, addView, button, choices, rpc } from "./view.js";
import { byteSize, momentTime, playTime, t } from "./words.js";

const pageSize = 50;
const sheet = "M5 3h7l3 3v11H5zM12 3v3h3";

/** What a file is, as its sender says. */
function kindOf(file) {
  if (file.isVoice) return "voice";
  const [kind] = file.type.split("/");
  return { image: "picture", video: "video", audio: "sound" }[kind] ?? "other";
}

/** What it looks like: a picture opens over all of the window, of the rest there is a sign. */
function look(message, file) {
  if (!hasPicture(file)) return h("span.sign", {}, icon(file.isVoice ? paths.voice : isMoving(file) || kindOf(file) === "sound" ? paths.play : sheet));
  return h("button", {
    class: "picture", "data-key": `open ${message.id} ${file.number}`,
    "aria-label": t(isMoving(file) ? "file.playOf" : "file.openOf", { name: file.name }), onclick: () => show(message, file),
  }, smallPicture(message, file), isMoving(file) && h("span.play", {}, icon(paths.play)));
}

function row(message, file) {
  const length = file.duration > 0 ? playTime(file.duration / 1000) : "";
  const state = file.state === "here" ? "" : t(file.state === "fetching" ? "file.waiting" : `file.${file.state}`);
  return h("li", { "data-kind": kindOf(file) }, look(message, file),
    h("a", { href: `#/c/${message.conversation}/${message.id}`, "data-key": `${message.id} ${file.number}` },
      file.isVoice ? h("span.file-name", {}, t("voice.name")) : nameOf(file),
      note([file.isVoice ? "" : t(`gallery.${kindOf(file)}`), length, byteSize(file.size), state].filter(Boolean).join(" · ")),
      note(isSaidByOneself(message) ? t("message.you") : bdi(message.author), " · ", momentTime(message.time))));
}

/** So many messages with files, or all where there are fewer. */
async function read(conversation, wanted) {
  const all = { entries: [] };
  do {
    const page = await rpc("files", { conversation, limit: pageSize, ...(all.next && { from: all.next }) });
    all.entries.push(...page.entries);
    all.next = page.next;
  } while (all.next && all.entries.length < wanted);
  return all;
}

addView(/^#\/files\/([0-9a-f]{64})$/, (id) => {
  const view = new View(t("gallery.title"), `#/c/${id}`);
  let wanted = pageSize;
  let kind = "all";
  const narrow = () => {
    const rows = [...part.querySelectorAll("li")];
    for (const each of rows) each.hidden = kind !== "all" && each.dataset.kind !== kind;
    // What is chosen and not there any more would hide all there is.
    const kinds = new Set(rows.map((each) => each.dataset.kind));
    for (const each of which.children) each.hidden = each.value !== "all" && each.value !== kind && !kinds.has(each.value);
    which.hidden = kinds.size < 2;
  };
  const which = h("select.filter", { "aria-label": t("gallery.which"), onchange: () => ((kind = which.value), narrow()) },
    ["all", "picture", "video", "voice", "sound", "other"].map((each) => h("option", { value: each }, t(each === "voice" ? "voice.name" : `gallery.${each}`))));
  view.add(which);
  const part = view.part(() => read(id, wanted), ({ entries, next }) => {
    setTimeout(narrow);
    return [
      entries.length ? h("ul.gallery", {}, entries.flatMap(({ message }) => message.files.map((file) => row(message, file)))) : hint(t("gallery.none")),
      next !== undefined && choices(button(t("menu.more"), () => ((wanted += pageSize), view.reread()))),
    ];
  }, "message", "refolded", "receipts", "conversation");
  return view;
});
