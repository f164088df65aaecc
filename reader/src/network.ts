const LONGEST_PAUSE = 30_000; // milliseconds between two attempts

/**
 * Waits before another attempt, or until the network is back or the page becomes visible: the longer, the more attempts
 * there have been.
 */
export function pause(attempts: number): Promise<void> {
  const longest = Math.min(1_000 * 2 ** attempts, LONGEST_PAUSE);
  return new Promise((resolve) => {
    const ended = new AbortController();
    const end = () => {
      ended.abort();
      resolve();
    };
    const endIfVisible = () => document.visibilityState === "visible" && end();
    setTimeout(end, longest * (0.5 + Math.random() / 2)); // so that not all pages of a site come at once
    window.addEventListener("online", end, ended);
    document.addEventListener("visibilitychange", endIfVisible, ended);
  });
}

/** Whether the server answers: without it, a reload would lose what is shown. */
export async function isReachable(): Promise<boolean> {
  try {
    await fetch(location.href, { method: "HEAD" });
    return true;
  } catch {
    return false;
  }
}
