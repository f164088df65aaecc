/**
 * Values by key that outlive a reload; those of sessionStorage are this tab's. Where the browser blocks storage,
 * nothing is kept.
 */
export const storage = {
  read(key: string, area: "localStorage" | "sessionStorage" = "localStorage"): string | null {
    try {
      return window[area].getItem(key);
    } catch {
      return null;
    }
  },

  /** Null removes the value. */
  write(key: string, value: string | null, area: "localStorage" | "sessionStorage" = "localStorage"): void {
    try {
      if (value === null) window[area].removeItem(key);
      else window[area].setItem(key, value);
    } catch {
      // The page works without it.
    }
  },
};
