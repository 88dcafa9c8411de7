/** Prints progress for the user. */
export type Log = (line: string) => void;
