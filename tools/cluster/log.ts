/** Tells the person who waits what is going on. */
export type Log = (line: string) => void;
