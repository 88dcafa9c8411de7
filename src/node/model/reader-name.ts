/** The process name of a reader; the kernel limits it to fifteen bytes. */
export const READER_NAME = 'kubediag-reader';
