import { LANGUAGE } from "./words";

const FORMAT = new Intl.NumberFormat(LANGUAGE);

/** "12,345". */
export const withSeparators = (count: number): string => FORMAT.format(count);
