import { entriesOf, type KubeletLog, type LogEntry } from '../../evidence/log-entries.ts';

/** A line in which the kubelet says that it could not remove something of its working folder. */
export interface Removal {
  readonly containerId: string;
  /** The name that stopped it: all names before it are gone. */
  readonly name: string;
  readonly time?: Date | undefined;
  readonly line: LogEntry;
}

/** In the order of the log. */
export function removalsIn(log: KubeletLog): readonly Removal[] {
  return entriesOf(log, 'remove-relative-log').flatMap((line) => {
    const { containerId, name } = line.fields;
    if (containerId === undefined || name === undefined) return [];
    return [{ containerId, name, time: line.time, line }];
  });
}

/** What such a container causes while it still runs. It proves nothing by itself. */
export function suspicionsIn(log: KubeletLog): readonly LogEntry[] {
  return entriesOf(log, 'log-path-empty', 'logging-disabled', 'nameless-sandbox');
}
