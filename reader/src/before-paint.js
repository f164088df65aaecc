// Runs in the head, before the first paint: the theme that the reader chose, if it is not that of the system.
try {
  const theme = localStorage.getItem("upvote-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
} catch {
  // Storage is blocked: the theme is that of the system.
}
