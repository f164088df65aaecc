const FORMAT = new Intl.NumberFormat("en");

/** "12,345". */
export const withSeparators = (count: number): string => FORMAT.format(count);

/** "1 article", "2 articles". */
export const counted = (count: number, one: string): string =>
  `${withSeparators(count)} ${count === 1 ? one : `${one}s`}`;
