// Runs in the head, before the first paint: the theme that the reader chose, if it is not that of the system, and whether
// somebody is logged in, who gets no sentence about the site. It also asks for the texts of the pages, beside the scripts.
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
