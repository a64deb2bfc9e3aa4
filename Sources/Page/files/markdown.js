// A small set of Markdown, as nodes: **strong**, *emphasis*, ~~struck~~, `code`, blocks of it, quotes, lists,
// and addresses. Whatever is none of these is text. It takes time in proportion to the text.
import { h } from "./dom.js";
import { leaf } from "./mentions.js";

const spans = /(`[^`\n]+`)|(\*\*[^\s*](?:[^*\n]*[^\s*])?\*\*)|(~~[^\s~](?:[^~\n]*[^\s~])?~~)|(\*[^\s*](?:[^*\n]*[^\s*])?\*)|(https?:\/\/[^\s<>"'`\ufdd0-\ufdd2]{1,2000})/g;

function link(text) {
  let length = text.length;
  while (length && ".,;:!?)]".includes(text[length - 1])) length--;
  const [address, end] = [text.slice(0, length), text.slice(length)];
  let url;
  try {
    url = new URL(address);
  } catch {
    return [text];
  }
  // What is shown is where it leads: a host that looks like another one is shown in ASCII.
  const shown = url.host === address.split("/")[2]?.toLowerCase() ? address : url.href;
  return [h("a", { href: url.href, rel: "noopener noreferrer", target: "_blank", dir: "ltr" }, shown), end];
}

function inline(text) {
  const nodes = [];
  let place = 0;
  for (const found of text.matchAll(spans)) {
    if (found.index > place) nodes.push(...leaf(text.slice(place, found.index)));
    const [all, code, strong, struck, emphasis] = found;
    const within = (name, edge) => nodes.push(h(name, {}, leaf(all.slice(edge, -edge))));
    if (code) within("code", 1);
    else if (strong) within("strong", 2);
    else if (struck) within("s", 2);
    else if (emphasis) within("em", 1);
    else nodes.push(...link(all));
    place = found.index + all.length;
  }
  if (place < text.length) nodes.push(...leaf(text.slice(place)));
  return nodes;
}

function lines(texts) {
  return texts.flatMap((text, place) => (place ? [h("br"), ...inline(text)] : inline(text)));
}

const kinds = [
  ["quote", /^> ?(.*)$/, (texts) => h("blockquote", { dir: "auto" }, lines(texts))],
  ["list", /^[-*] +(.*)$/, (texts) => h("ul", {}, texts.map((text) => h("li", { dir: "auto" }, inline(text))))],
];

/** The nodes of a text. */
export function rendered(text) {
  const nodes = [];
  let group = [];
  let kind = null;
  const end = () => {
    if (group.length && kind) nodes.push(kind[2](group));
    else if (group.length) nodes.push(h("p", { dir: "auto" }, lines(group)));
    group = [];
  };
  const all = text.split("\n");
  // Whether a block may end yet: that is looked for no more once nothing ends one.
  let mayEnd = true;
  for (let place = 0; place < all.length; place++) {
    const line = all[place];
    if (mayEnd && line.startsWith("```")) {
      const close = all.indexOf("```", place + 1);
      mayEnd = close > 0;
      if (mayEnd) {
        end();
        nodes.push(h("pre", { dir: "ltr", tabindex: "0" }, h("code", {}, leaf(all.slice(place + 1, close).join("\n")))));
        place = close;
        continue;
      }
    }
    const found = kinds.find((each) => each[1].test(line)) ?? null;
    if (found !== kind || !line) end();
    kind = found;
    if (line) group.push(found ? line.match(found[1])[1] : line);
  }
  end();
  return nodes;
}
