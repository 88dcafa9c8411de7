/** A time as Prometheus sends it, and as Go formats it: patterns are compared with that. */
export interface GivenTime {
  readonly ms: number;
  readonly text: string;
}

// 2021-06-03T08:52:24.5Z, 2021-06-03T16:52:24+08:00
const TIME = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:[.](\d+))?(Z|[+-]\d\d:\d\d)$/;

/** The zero time of Go. */
export const NO_TIME = '0001-01-01T00:00:00Z';
export const NO_TIME_MS = Date.parse(NO_TIME);

/** "2021-06-03 16:52:24.5 +0800 +0800"; UTC has a name. Undefined if it is not a time. */
export function givenTime(text: string): GivenTime | undefined {
  const [, day, clock, fraction = '', zone = ''] = TIME.exec(text) ?? [];
  const ms = Date.parse(text);
  if (day === undefined || Number.isNaN(ms)) return undefined;
  const digits = fraction.slice(0, 9).replace(/0+$/, '');
  const offset = zone === 'Z' ? '+0000' : zone.replace(':', '');
  const name = offset === '+0000' ? 'UTC' : offset;
  const seconds = digits === '' ? clock : `${clock}.${digits}`;
  return { ms, text: `${day} ${seconds} ${offset} ${name}` };
}
