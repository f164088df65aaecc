import { pause } from "./network";
import { Observable } from "./observable";

// The files of the built script that are loaded only when they are needed, such as pages. A file that cannot be loaded
// is asked for again until it is there.

interface LazyFile<Module> {
  /** Loads it, once. It does not fail: it waits for the network. */
  load: () => Promise<Module>;
  /** What is in it; null until it is there. */
  get: () => Module | null;
}

/** How many attempts to load a file have failed in a row; 0 once a file is loaded. */
export const failures = new Observable(0);

/** A file of the script, such as `() => import("./Help")`, which is not loaded yet. */
export function lazyFile<Module>(load: () => Promise<Module>): LazyFile<Module> {
  let loading: Promise<Module> | undefined;
  let loaded: Module | null = null;
  return {
    load: () => (loading ??= untilLoaded(load).then((module) => (loaded = module))),
    get: () => loaded,
  };
}

async function untilLoaded<Module>(load: () => Promise<Module>): Promise<Module> {
  for (let attempts = 0; ; attempts++) {
    try {
      const module = await load();
      failures.set(0);
      return module;
    } catch {
      failures.set(attempts + 1);
      await pause(attempts);
    }
  }
}

/** The file that renders the Markdown of users. */
export const markdownRenderer = lazyFile(() => import("./components/RenderedMarkdown"));
