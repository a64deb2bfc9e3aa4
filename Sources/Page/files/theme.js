// Runs before anything is painted, so that nothing flashes in the other theme; hence no module.
try {
  const theme = localStorage.getItem("theme");
  if (theme) document.documentElement.dataset.theme = theme;
} catch {
  // A browser that keeps nothing looks as the system does.
}
