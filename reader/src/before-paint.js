// Runs in the head, before the first paint. It sets the theme that the user chose, if one was chosen, and
// whether somebody is logged in: then the page does not show its welcome. It also begins to load the pages' texts.
try {
  const theme = localStorage.getItem("upvote-theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("upvote-session")) document.documentElement.dataset.session = "";
} catch {
  // Storage is blocked: the theme is that of the system.
}

const words = document.querySelector("meta[name=upvote-words]");
if (words) {
  window.upvoteWords = fetch(words.content);
  window.upvoteWords.catch(() => {}); // src/words.ts asks again
}
