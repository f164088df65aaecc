// The server has sent the page as HTML. The script draws its own page beside it, unseen, and replaces the HTML as soon as
// that page has its data. The focus moves from an element to its equal, the same link or button in the script's page.
// The replacement waits while something is pressed, while a text is selected or typed or a menu is open, and while what
// has the focus has no equal.

const BESIDE = "beside"; // the class of the page that the script draws, until it replaces the HTML
const STAYING = "input, details[open] *"; // what keeps the focus: a user types, or chooses from a menu
const RELEASES = ["pointerup", "pointercancel", "contextmenu"]; // the events after which nothing is pressed

/**
 * Renders into `html` if it is empty, and calls `onReplaced`. If it has a page, renders beside it, replaces the page as
 * soon as it can, and calls `onReplaced` then.
 */
export function replaceHtml(html: HTMLElement, render: (place: HTMLElement) => void, onReplaced: () => void): void {
  if (!html.hasChildNodes()) {
    render(html);
    return onReplaced();
  }
  const place = document.createElement("div");
  place.className = BESIDE;
  html.after(place);
  render(place);
  const ended = new AbortController();
  const { signal } = ended;
  const observer = new MutationObserver(attempt);
  const attemptLater = () => setTimeout(attempt); // the focus has moved by then, and a released button has its click
  let isPressed = false;

  function attempt() {
    if (signal.aborted || isPressed || !isComplete(place) || isSelected(html)) return;
    const focused = html.contains(document.activeElement) ? document.activeElement : null;
    const equal = focused && equalOf(focused, html, place);
    if (focused && !equal) return;
    ended.abort();
    observer.disconnect();
    swap(html, place);
    onReplaced();
    equal?.focus({ preventScroll: true });
  }

  function press({ target }: PointerEvent) {
    isPressed = true;
    if (target instanceof Element && html.contains(target) && target.closest(":disabled")) leaveAll();
  }

  function release() {
    isPressed = false;
    attemptLater();
  }

  /** A user who goes on by keys needs the selection no longer. */
  function onFocus() {
    if (isComplete(place) && isSelected(html)) getSelection()?.removeAllRanges();
    attemptLater();
  }

  observer.observe(place, { childList: true, subtree: true });
  document.addEventListener("selectionchange", attempt, { signal });
  document.addEventListener("focusin", onFocus, { signal });
  document.addEventListener("focusout", attemptLater, { signal });
  document.addEventListener("pointerdown", press, { signal });
  for (const each of RELEASES) document.addEventListener(each, release, { signal });
}

/** Whether a page has its data, and its texts are rendered. */
function isComplete(place: HTMLElement): boolean {
  return place.querySelector("main h1, main .fault") !== null && !place.querySelector(".loading, .markdown.plain");
}

function isSelected(html: HTMLElement): boolean {
  const selection = getSelection();
  return selection !== null && !selection.isCollapsed && selection.containsNode(html, true);
}

/** Does what a press beside a button does: browsers do nothing for one on a button that is disabled. */
function leaveAll(): void {
  getSelection()?.removeAllRanges();
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
}

/**
 * The element that takes the place of this one in the other page: the same link, or the one at the same place among the
 * elements with its tag. Null if the pages have different numbers of them, and for an element that keeps the focus.
 */
function equalOf(element: Element, html: HTMLElement, place: HTMLElement): HTMLElement | null {
  const [ones, others] = [alike(element, html), alike(element, place)];
  if (element.matches(STAYING) || ones.length !== others.length) return null;
  return others[ones.findIndex((one) => one === element)] ?? null;
}

const alike = (element: Element, within: HTMLElement): HTMLElement[] =>
  [...within.querySelectorAll<HTMLElement>(element.localName)].filter(
    (each) => !(each instanceof HTMLAnchorElement) || each.href === (element as HTMLAnchorElement).href,
  );

/** What is at the top of the window stays there, and so do the words in the box of the search. */
function swap(html: HTMLElement, place: HTMLElement): void {
  const [top, anchor] = [window.scrollY, anchorOf(html)];
  const [box, other] = [html, place].map((each) => each.querySelector<HTMLInputElement>("header input"));
  if (box && other) other.value = box.value;
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
