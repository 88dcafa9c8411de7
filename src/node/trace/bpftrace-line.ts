import { jsonValue, numberAt, textAt } from '../../lib/std/json.ts';
import { bytesOf, textOf } from '../../lib/std/text-codec.ts';

/** What a line says that comes from the tracer: of bpftrace, or of the tracer itself. */
export type TracerLine =
  | { readonly says: 'printed'; readonly text: string }
  | { readonly says: 'lost'; readonly events: number }
  | ({ readonly says: 'failure' } & TracerStop)
  | { readonly says: 'note'; readonly note: string }
  | { readonly says: 'nothing' };

/** Why nothing can be watched. */
export interface TracerStop {
  readonly failure: TracerFailure;
  readonly detail: string;
}

export type TracerFailure =
  | 'no-bpftrace'
  | 'no-tracefs'
  | 'no-tracepoints'
  | 'bpftrace-failed'
  | 'tracer-failed';

export function readTracerLine(bytes: Uint8Array): TracerLine {
  // Not an object: an empty line, or a warning between the lines.
  const value = jsonValue(repaired(textOf(bytes)))?.value;
  const type = textAt(value, 'type');
  switch (type) {
    case 'printf':
      return { says: 'printed', text: textOf(bytesOf(textAt(value, 'data') ?? '')) };
    case 'lost_events':
      return { says: 'lost', events: numberAt(value, 'data', 'events') ?? 1 };
    case 'tracer-failure':
      return {
        says: 'failure',
        failure: (textAt(value, 'failure') ?? 'tracer-failed') as TracerFailure,
        detail: textAt(value, 'detail') ?? '',
      };
    case 'tracer-note':
      return { says: 'note', note: textAt(value, 'note') ?? '' };
    default:
      return { says: 'nothing' };
  }
}

/**
 * bpftrace writes a byte beyond ASCII as a negative number: {"data": "N 1 2 ab\uffffffffcd"} is ab,
 * the byte ff, cd. It becomes the lone surrogate that stands for the byte.
 */
function repaired(line: string): string {
  if (!line.includes('\\uffffff')) return line;
  return line.replace(/\\(?:uffffff([89a-f][0-9a-f])|.)/g, (whole, byte?: string) =>
    byte === undefined ? whole : `\\udc${byte}`,
  );
}
