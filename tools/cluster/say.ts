/** Tells the person who waits what is going on. */
export type Say = (line: string) => void;
