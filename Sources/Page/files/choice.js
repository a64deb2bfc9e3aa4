// What its person chose for this browser alone: no secret, and nothing of what anybody wrote.

/** What was chosen under a name; null where nothing was, or the browser keeps nothing. */
export function choice(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Chooses something from now on; null takes it back. */
export function choose(name, value) {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // A browser that keeps nothing forgets it with the window.
  }
}
