import { jsonText } from '../../../lib/std/json.ts';
import { EXIT, type Terminal } from '../../../lib/terminal/terminal.ts';
import { labelledText, wrapText } from '../../../lib/terminal/wrap.ts';
import { ownOperationSets, processors } from '../../../pipeline/operations/catalogue.ts';

export interface OperationsOptions {
  readonly output?: 'json';
}

export function operations({ output }: OperationsOptions, terminal: Terminal): number {
  const { out, style, width } = terminal;
  if (output === 'json') {
    const list = processors.map(({ run: _run, mayRead = [], ...each }) => ({ ...each, mayRead }));
    out(`${jsonText(list, 2)}\n`);
    return EXIT.clear;
  }
  for (const { operation, path, does, repairs, mayRead = [], ...keys } of processors) {
    const part = (label: string, text: string) => labelledText(label, text, width, { columns: 9 });
    const lines = [
      style('bold', operation),
      ...part('does', repairs ? `${does}; asks before` : does),
      ...part('path', path),
      ...part('reads', keys.reads.join(' ') || 'nothing'),
      ...(keys.readsElse ? part('or else', keys.readsElse.join(' ')) : []),
      ...(mayRead.length > 0 ? part('may read', mayRead.join(' ')) : []),
      ...part('writes', keys.writes.join(' ')),
    ];
    out(`${lines.join('\n')}\n\n`);
  }
  const names = ownOperationSets.map(({ name }) => name).join(', ');
  const sets = `Built-in OperationSets, each finds and repairs one fault: ${names}`;
  out(`${wrapText(sets, width).join('\n')}\n`);
  return EXIT.clear;
}
