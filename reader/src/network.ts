const LONGEST_PAUSE = 30_000; // milliseconds between two attempts

/**
 * Waits before another attempt: the more attempts there have been, the longer. The wait ends at once when the network
 * is back or the page becomes visible.
 */
export function pause(attempts: number): Promise<void> {
  const longest = Math.min(1_000 * 2 ** attempts, LONGEST_PAUSE);
  return new Promise((resolve) => {
    const ended = new AbortController();
    const { signal } = ended;
    const end = () => {
      ended.abort();
      resolve();
    };
    const endIfVisible = () => document.visibilityState === "visible" && end();
    setTimeout(end, longest * (0.5 + Math.random() / 2)); // random, so that not all pages of a site come at once
    window.addEventListener("online", end, { signal });
    document.addEventListener("visibilitychange", endIfVisible, { signal });
  });
}

/** Whether the server answers. If it does not, a reload would lose what is shown. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch(location.href, { method: "HEAD" });
    return true;
  } catch {
    return false;
  }
}
