import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/dumps');
const DIFFERENT_STACKS = 400;

/**
 * A dump as a kubelet of so many goroutines would print it: real stacks of real kubelets, in some
 * hundred variants, each goroutine with its own id and its own words of memory. One is a blocked loop.
 */
export async function writeDump(path: string, goroutines: number): Promise<number> {
  const [loop = '', ...others] = ['blocked-loop-each.txt', 'healthy-loop-1.36.txt']
    .flatMap((name) => readFileSync(join(FIXTURES, name), 'utf8').trimEnd().split('\n\n'))
    .filter((stack) => !stack.includes('syncLoopIteration') || stack.includes('HandlePodCleanups'))
    .toSorted((left, right) => Number(isLoop(right)) - Number(isLoop(left)));
  const long = others.filter((stack) => stack.length > 700);
  const file = createWriteStream(path);
  let bytes = 0;
  for (let at = 0; at < goroutines; at += 1) {
    const stack = at === goroutines >> 1 ? loop : varied(long[at % long.length] ?? '', at);
    const text = `${at === 0 ? '' : '\n'}${stack}\n`;
    bytes += text.length;
    if (!file.write(text)) await once(file, 'drain');
  }
  file.end();
  await finished(file);
  return bytes;
}

function isLoop(stack: string): boolean {
  return stack.includes('syncLoop(');
}

function varied(stack: string, at: number): string {
  return stack
    .replace(/^goroutine \d+ /, `goroutine ${at + 1000} `)
    .replace(/0xc[0-9a-f]{9}/g, `0xc${(at * 64).toString(16).padStart(9, '0')}`)
    .replace(/[.]go:\d+/, `.go:${at % DIFFERENT_STACKS}`);
}
