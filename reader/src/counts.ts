/** "1 article", "2 articles". */
export const counted = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;
