// The server has sent the page as HTML. The script draws its own beside it, unseen, and replaces the HTML once that has
// its data. While something in the HTML has the focus or is selected, it waits.

const BESIDE = "beside";

/** Renders into `html`, or beside it if it has a page, until that can be replaced. */
export function replace(html: HTMLElement, render: (place: HTMLElement) => void): void {
  if (!html.hasChildNodes()) return render(html);
  const place = document.createElement("div");
  place.className = BESIDE;
  html.after(place);
  render(place);
  const ended = new AbortController();
  const observer = new MutationObserver(attempt);

  function attempt() {
    if (ended.signal.aborted || !isComplete(place) || isInUse(html)) return;
    ended.abort();
    observer.disconnect();
    swap(html, place);
  }

  observer.observe(place, { childList: true, subtree: true });
  document.addEventListener("selectionchange", attempt, ended);
  document.addEventListener("focusout", () => setTimeout(attempt), ended); // what gets the focus has it only then
}

/** Whether a page has its data, and its texts are rendered. */
function isComplete(place: HTMLElement): boolean {
  return place.querySelector("main h1, main .fault") !== null && !place.querySelector(".loading, .markdown.plain");
}

function isInUse(html: HTMLElement): boolean {
  const selection = getSelection();
  const isSelected = selection !== null && !selection.isCollapsed && selection.containsNode(html, true);
  return isSelected || html.contains(document.activeElement);
}

/** What is at the top of the window stays there. */
function swap(html: HTMLElement, place: HTMLElement): void {
  const [top, anchor] = [window.scrollY, anchorOf(html)];
  place.className = "";
  place.id = html.id;
  html.remove();
  window.scrollTo(0, top);
  const moved = anchor && document.getElementById(anchor.id);
  if (moved) window.scrollBy(0, moved.getBoundingClientRect().top - anchor.top);
}

/** The first comment that is in the window, if one has scrolled there. */
function anchorOf(html: HTMLElement): { id: string; top: number } | null {
  if (window.scrollY === 0) return null;
  const comments = [...html.querySelectorAll(".comment > article[id]")];
  const first = comments.find((comment) => comment.getBoundingClientRect().bottom > 0);
  return first ? { id: first.id, top: first.getBoundingClientRect().top } : null;
}
