// Runs in the head, before the first paint: the theme that the reader chose, if it is not that of the system, and whether
// somebody is logged in, who gets no sentence about the site.
try {
  const theme = localStorage.getItem("upvote-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("upvote-session")) document.documentElement.dataset.session = "";
} catch {
  // Storage is blocked: the theme is that of the system.
}
