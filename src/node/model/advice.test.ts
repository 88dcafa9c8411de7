import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSentence } from './advice.ts';

const FAULTS = join(import.meta.dirname, '..', 'faults');
const PROGRAMS = ['crictl', 'df', 'find', 'free', 'journalctl', 'kill', 'kubectl', 'systemctl'];

const goldens = readdirSync(FAULTS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[\w-]+\/fixtures\/[^/]+\.json$/.test(path))
  .map((path) => readFileSync(join(FAULTS, path), 'utf8'));

const advice = goldens.flatMap((text) => [
  ...text.matchAll(/"alternatives": (\[(?:\s*"(?:[^"\\]|\\.)*",?)*\s*\])/g),
]);

test('every advice of a recorded node is a known program, or opens as a sentence does', () => {
  const lines = new Set(advice.flatMap(([, list = '[]']) => JSON.parse(list) as string[]));
  expect(lines.size).toBeGreaterThan(20);
  const isProgram = (line: string) => PROGRAMS.includes(line.split(' ')[0] ?? '');
  expect([...lines].filter((line) => isSentence(line) === isProgram(line))).toEqual([]);
});
