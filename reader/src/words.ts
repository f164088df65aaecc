import { FluentBundle, FluentResource } from "@fluent/bundle";
import { pause } from "./network";

// The texts of the pages: server/words has them in the format of Fluent, and the server sends those of the page's language.

const root = globalThis.document?.documentElement;

/** The language of the page, such as `de`, and its direction. */
export const LANGUAGE = root?.lang || "en";
const IS_RIGHT_TO_LEFT = root?.dir === "rtl";

/** The values of the variables of a text, by their names. Numbers are written as the language has them. */
export type Given = Record<string, string | number>;

// In a right-to-left language, isolating keeps names and titles in Latin letters from changing the order of a text.
const bundle = new FluentBundle(LANGUAGE, { useIsolating: IS_RIGHT_TO_LEFT });

/** Adds the texts of a file to those of the page. */
export function addTexts(source: string): void {
  bundle.addResource(new FluentResource(source), { allowOverrides: true });
}

/**
 * The text of the page's language with this id, such as `log-in`. A missing text or variable is an error, which the
 * tests find.
 */
export function t(id: string, given?: Given): string {
  const pattern = bundle.getMessage(id)?.value;
  if (!pattern) throw new Error(`there is no text ${id}`);
  return bundle.formatPattern(pattern, given);
}

export const hasText = (id: string): boolean => bundle.hasMessage(id);

/** Loads the texts, before anything is drawn. src/before-paint.js has sent the request. Waits for the network. */
export async function loadWords(): Promise<void> {
  const address = document.querySelector<HTMLMetaElement>("meta[name=upvote-words]")?.content;
  if (address) addTexts(await textOf(address));
  // Vite's development server has a page that names none.
  else if (import.meta.env.DEV) addTexts((await import("../../server/words/en.ftl?raw")).default);
}

async function textOf(address: string): Promise<string> {
  for (let attempts = 0; ; attempts++) {
    try {
      const response = await ((attempts === 0 && window.upvoteWords) || fetch(address));
      if (response.ok) return await response.text();
    } catch {
      // The network is not there.
    }
    await pause(attempts);
  }
}

declare global {
  interface Window {
    /** The texts of the page, on their way. */
    upvoteWords?: Promise<Response>;
  }
}
