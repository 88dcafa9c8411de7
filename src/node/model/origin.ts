/** Where something was read. Code uses the fields; a person reads `originText`. */
export type Origin =
  | FileOrigin
  /** A page of the kubelet. */
  | { readonly url: string }
  | { readonly criCall: string; readonly id?: string }
  | { readonly command: string }
  /** Anything else: "the kubelet's settings". */
  | { readonly source: string }
  | { readonly all: readonly Origin[] };

/** A path of the node, or a submitted file. */
export interface FileOrigin {
  readonly file: string;
  readonly line?: number;
  /** Set if the beginning of a log was skipped: lines are counted from there. */
  readonly lastBytes?: number;
}

const MIB = 1024 * 1024;

/** "/proc/812/mountinfo:4", "GET http://127.0.0.1:10255/pods", "CRI ListContainers", "journalctl --dmesg" */
export function originText(origin: Origin): string {
  if ('url' in origin) return `GET ${origin.url}`;
  if ('criCall' in origin) {
    return origin.id === undefined ? `CRI ${origin.criCall}` : `CRI ${origin.criCall} ${origin.id}`;
  }
  if ('command' in origin) return origin.command;
  if ('source' in origin) return origin.source;
  if ('all' in origin) return origin.all.map(originText).join(', ');
  const { file, line, lastBytes } = origin;
  if (line === undefined) return file;
  if (lastBytes === undefined) return `${file}:${line}`;
  return `${file}, line ${line} of its last ${Math.round(lastBytes / MIB)} MiB`;
}
