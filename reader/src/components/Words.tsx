import { createElement, Fragment, type ReactNode } from "react";
import { t, type Given } from "../words";

/** An element in place of `<name/>` in a text, or one around what stands between `<name>` and `</name>`. */
type Element = ReactNode | ((text: ReactNode) => ReactNode);

interface WordsProps {
  id: string;
  [name: string]: Element;
}

const TAG = /<(\/?)([a-z]+)(\/?)>/; // a slash if it ends an element, the name, a slash if it is empty
const LESS = "\ue000"; // stands for < in the values of variables, so that they are not taken for elements

/** The translated text with this id, with elements in it. Props that are texts or numbers fill its variables. */
export function Words({ id, ...given }: WordsProps) {
  const variables: Given = {};
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "number") variables[name] = value;
    else if (typeof value === "string") variables[name] = value.replaceAll("<", LESS);
  }
  return assembled(t(id, variables).split(TAG), given);
}

/** `parts` are what `TAG` splits a text into: a text, then for each tag its slashes and name, and the text after it. */
function assembled(parts: readonly string[], given: Readonly<Record<string, Element>>): ReactNode {
  // The contents of the elements that are open, the innermost last; the first is the whole text.
  const open: ReactNode[][] = [[text(parts[0])]];
  for (let place = 1; place < parts.length; place += 4) {
    const [end, name = "", isEmpty, rest] = parts.slice(place, place + 4);
    const element = given[name];
    if (isEmpty) open.at(-1)?.push(typeof element === "function" ? element(null) : element);
    else if (end) {
      const within = fragment(open.pop() ?? []);
      open.at(-1)?.push(typeof element === "function" ? element(within) : within);
    } else open.push([]);
    open.at(-1)?.push(text(rest));
  }
  return fragment(open[0] ?? []);
}

const text = (part = ""): string => part.replaceAll(LESS, "<");

const fragment = (children: readonly ReactNode[]): ReactNode => createElement(Fragment, null, ...children);
