/** Goroutine dumps made up for tests, from the functions of a stack, in both of Go's formats. */

export interface SyntheticGoroutine {
  /** The innermost call first. */
  readonly functions: readonly string[];
  readonly state?: string;
  readonly minutes?: number;
  readonly id?: number;
  readonly count?: number;
}

/** As `?debug=2` prints it. */
export function eachDump(goroutines: readonly SyntheticGoroutine[]): string {
  return goroutines
    .flatMap((goroutine, index) => {
      const { count = 1, id = 100 * (index + 1) } = goroutine;
      return Array.from({ length: count }, (_, at) => eachStack(goroutine, id + at));
    })
    .join('\n');
}

function eachStack(
  { functions, state = 'select', minutes = 0 }: SyntheticGoroutine,
  id: number,
): string {
  const time = minutes > 0 ? `, ${minutes} minutes` : '';
  const calls = functions.map(
    (name, index) => `${name}(0xc000${(id + index).toString(16)}, 0x1?)\n\t${fileOf(name)} +0x1d\n`,
  );
  return `goroutine ${id} [${state}${time}]:\n${calls.join('')}created by main.start in goroutine 1\n\t/src/main.go:12 +0x5\n`;
}

/** As `?debug=1` prints it. */
export function countedDump(goroutines: readonly SyntheticGoroutine[]): string {
  const total = goroutines.reduce((sum, { count = 1 }) => sum + count, 0);
  const stacks = goroutines.map(({ functions, count = 1 }, at) => {
    const addresses = functions.map((_, index) => `0x${(4096 * (at + 1) + index).toString(16)}`);
    const lines = functions.map(
      (name, index) => `#\t${addresses[index]}\t${name}+0x1c\t\t${fileOf(name)}\n`,
    );
    return `${count} @ ${addresses.join(' ')}\n${lines.join('')}\n`;
  });
  return `goroutine profile: total ${total}\n${stacks.join('')}`;
}

function fileOf(name: string): string {
  const [path = ''] = name.split('.(');
  return `/build/go/src/${path.replace(/[^\w./-]/g, '')}/file.go:${name.length}`;
}

/** What journald makes of it: something in front of every line, no tabs, no empty lines. */
export function journalOf(dump: string): string {
  return dump
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => `Nov 15 14:12:01 node1 kubelet[812]: ${line.replace(/^\t/, '')}\n`)
    .join('');
}
