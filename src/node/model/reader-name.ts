/** What the kernel shows as the name of a reader: as long as it keeps one, fifteen bytes. */
export const READER_NAME = 'kubediag-reader';
