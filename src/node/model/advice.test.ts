import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isSentence } from './advice.ts';

const FAULTS = join(import.meta.dirname, '..', 'faults');
const PROGRAMS = [
  ...['conntrack', 'crictl', 'df', 'find', 'free', 'journalctl', 'kill', 'kubectl'],
  ...['resolvectl', 'sysctl', 'systemctl'],
];

const messages = readdirSync(FAULTS, { recursive: true, encoding: 'utf8' })
  .filter((path) => /^[\w-]+\/fixtures\/messages[.]txt$/.test(path))
  .map((path) => readFileSync(join(FAULTS, path), 'utf8'));

test('every advice of a fault is a known program, or opens as a sentence does', () => {
  // alternatives: kubectl -n default delete pod web-0
  const advice = messages.flatMap((text) => [...text.matchAll(/^alternatives: (.+)$/gm)]);
  const lines = new Set(advice.map(([, line = '']) => line));
  expect(lines.size).toBeGreaterThan(20);
  const isProgram = (line: string) => PROGRAMS.includes(line.split(' ')[0] ?? '');
  expect([...lines].filter((line) => isSentence(line) === isProgram(line))).toEqual([]);
});
