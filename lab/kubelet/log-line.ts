/** One line of a kubelet's log without its time: source position and message. */
export interface LogLine {
  readonly level: 'I' | 'W' | 'E';
  /** "kubelet_volumes.go:154" */
  readonly place: string;
  readonly text: string;
}

// E1115 15:12:15.061850     132 kubelet_volumes.go:154] orphaned pod "612f" found, but volume ...
export function klogLine({ level, place, text }: LogLine, now: Date, pid: number): string {
  const [date = '', time = ''] = now.toISOString().split('T');
  const stamp = `${level}${date.slice(5).replace('-', '')} ${time.slice(0, -1)}000`;
  return `${stamp} ${String(pid).padStart(7)} ${place}] ${text}`;
}

/** "msg" key="value": how kubelets since 1.21 write most of their lines. */
export function structured(
  message: string,
  fields: Readonly<Record<string, string | number>>,
): string {
  const args = Object.entries(fields).map(
    ([key, value]) => `${key}=${typeof value === 'number' ? value : JSON.stringify(value)}`,
  );
  return [JSON.stringify(message), ...args].join(' ');
}
