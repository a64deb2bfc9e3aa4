// How many messages are new, in the icon of the window and of the installed page.
const files = import.meta.url;
let plain = null;
let shown = "";
let drawn = "";

/** The icon with a number in its corner, as an address. */
async function numbered(count) {
  plain ??= await (await fetch(new URL("./icon.svg", files))).text();
  const words = count > 99 ? "99" : `${count}`;
  const corner = `<circle cx="44" cy="44" r="20" fill="#e0a458"/><text x="44" y="53" font-family="sans-serif" font-size="26" font-weight="700" text-anchor="middle" textLength="${words.length * 14}" fill="#1c2420">${words}</text>`;
  return URL.createObjectURL(new Blob([plain.replace("</svg>", `${corner}</svg>`)], { type: "image/svg+xml" }));
}

/** Shows a count of new messages, or that it rings. */
export async function showBadge(count, isRinging) {
  const now = isRinging ? "rings" : `${Math.min(count, 100)}`;
  if (now === shown) return;
  shown = now;
  let address = new URL(isRinging ? "./ringing.svg" : "./icon.svg", files).href;
  if (count && !isRinging) address = await numbered(count).catch(() => address);
  if (now !== shown) return;
  document.querySelector("link[rel=icon]").href = address;
  if (drawn.startsWith("blob:")) URL.revokeObjectURL(drawn);
  drawn = address;
  // It is no page that was installed, or the system has no such thing.
  if (count) navigator.setAppBadge?.(count).catch(() => null);
  else navigator.clearAppBadge?.().catch(() => null);
}
