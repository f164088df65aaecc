import { LANGUAGE } from "./words";

const FORMAT = new Intl.NumberFormat(LANGUAGE);

/** A number as the language of the page writes it, such as "12,345" in English. */
export const withSeparators = (count: number): string => FORMAT.format(count);
