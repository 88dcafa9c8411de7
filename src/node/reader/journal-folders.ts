/** Where systemd stores the journal of a node: on its disk, or else only until the next boot. */
export const JOURNAL_FOLDER = '/var/log/journal';
export const VOLATILE_JOURNAL_FOLDER = '/run/log/journal';
